import pytest

from pipeline.awake.extract_units import UnitKind, is_small_talk, units


@pytest.mark.parametrize(
    "said",
    [
        "Hey Ivo!",
        "Thanks so much!",
        "How are you?",
        "That's awesome, Mara!",
        "Talk to you soon!",
        "好的",
        "收到！",
        "谢谢你！",
        "大家早",
        "Morning all.",
        "Big news from me too.",
        "Three questions first.",
        "That must have been amazing!",
        "各位早上好！",
        "先说一件事。",
        "好消息！",
        "👍",
    ],
)
def test_small_talk_says_nothing(said: str) -> None:
    assert is_small_talk(said)
    assert units(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "The kettle is blue.",
        "Good rope lasts.",
        "Mornings are cold.",
        "Size 9",
        "水壶是蓝的。",
        "先做草图",
    ],
)
def test_what_has_content_is_no_small_talk(said: str) -> None:
    assert not is_small_talk(said)


def test_greetings_in_front_fall_away() -> None:
    assert [unit.text for unit in units("Hey Ivo! Wow, the boat sank.")] == ["The boat sank."]
    assert [unit.text for unit in units("Good news everyone! I sold the boat.")] == [
        "I sold the boat."
    ]
    assert [unit.text for unit in units("好的，我明天去。")] == ["我明天去。"]
    assert [unit.text for unit in units("先说一条：我明天去。")] == ["我明天去。"]


def test_a_sentence_that_leans_on_the_one_before_joins_it() -> None:
    found = units("I bought a red canoe. It leaks at the stern. My brother sells rope in town.")

    assert [unit.text for unit in found] == [
        "I bought a red canoe. It leaks at the stern.",
        "My brother sells rope in town.",
    ]


def test_a_fragment_joins_its_neighbour() -> None:
    found = units("At low tide. I finally sold the old canoe.")

    assert [unit.text for unit in found] == ["At low tide. I finally sold the old canoe."]


def test_a_request_after_a_statement_stands_alone() -> None:
    found = units("I'm moving to Lyon in May, can you find me a school?")

    assert [(unit.text, unit.kind) for unit in found] == [
        ("I'm moving to Lyon in May.", UnitKind.SAID),
        ("Can you find me a school?", UnitKind.ASKED),
    ]
    assert [unit.text for unit in units("我五月搬到宁波，请帮我找学校。")] == [
        "我五月搬到宁波。",
        "请帮我找学校。",
    ]


def test_table_rows_are_told_with_their_columns() -> None:
    found = units("| city | day |\n|---|---|\n| Lyon | 3 May |\n| Brest | |")

    assert [(unit.text, unit.kind) for unit in found] == [
        ("city: Lyon; day: 3 May", UnitKind.ROW),
        ("city: Brest", UnitKind.ROW),
    ]


def test_list_items_complete_the_sentence_that_leads_to_them() -> None:
    found = units("I still need:\n- rope\n- two oars\n")

    assert [unit.text for unit in found] == ["I still need: rope; two oars."]


def test_code_is_one_piece() -> None:
    found = units("See this.\n```python\nx = 1\ny = 2\n```")

    assert found[-1].kind is UnitKind.CODE
    assert found[-1].text == "```python\nx = 1\ny = 2\n```"
