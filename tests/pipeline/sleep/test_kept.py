import pytest

from pipeline.sleep.kept import invented, lost, names, negations, numbers


def test_a_paraphrase_with_all_names_numbers_and_negations_loses_nothing() -> None:
    sources = ["Ida rents 2 boats in Bergen.", "Ida does not sail on Mondays."]

    assert lost("In Bergen, Ida rents two boats and does not sail on Mondays.", sources) == []


def test_a_dropped_name_number_or_negation_is_listed() -> None:
    missing = lost("Ida rents boats and sails.", ["Ida rents 2 boats in Bergen and does not sail."])

    assert missing == ["amount 2", "bergen", "not sail"]


def test_a_chinese_text_must_keep_places_numbers_and_negations() -> None:
    sources = ["用户住在杭州，有两只猫。", "用户不喝咖啡。"]

    assert lost("用户住在杭州，有2只猫，不喝咖啡。", sources) == []
    assert lost("用户有猫，喝咖啡。", sources) == ["amount 2", "not 喝咖", "杭州"]


def test_pronouns_and_the_word_user_are_no_names() -> None:
    assert names("The User said I met Ida.") == {"ida"}


def test_titles_and_mixed_identifiers_are_names() -> None:
    assert {"b2", "活着"} <= names("用户用 B2 教材读《活着》。")


def test_contracted_negations_count() -> None:
    assert negations("Ida doesn’t drive.") == {"drive"}


def test_numbers_of_both_languages_have_one_notation() -> None:
    assert numbers("at 9 am") == numbers("上午九点")


@pytest.mark.parametrize(
    ("text", "sources", "made_up"),
    [
        ("Ida sails Petrel.", ["Ida sails.", "Her boat is Petrel."], []),
        ("Both sail. Together they go to Oslo.", ["They sail to Oslo."], []),
        ("Ida sails with Rolf.", ["Ida sails."], ["rolf"]),
        ("Ida's boat is 9 m long.", ["Ida's boat is long."], ["amount 9"]),
        ("林夏在杭州住了3年。", ["林夏住在杭州。"], ["amount 3"]),
        ("林夏住在杭州。", ["林夏住在杭州。"], []),
    ],
)
def test_what_no_source_has_is_invented(text: str, sources: list[str], made_up: list[str]) -> None:
    assert [each.split(":")[0] for each in invented(text, sources)] == made_up
