import pytest

from pipeline.awake.extract_voice import needs_speaker


@pytest.mark.parametrize(
    "said",
    [
        "Under 40 euros a rope please, and no tar smell.",
        "Paint job is finished!",
        "Check the varnish in the shed before it dries out.",
        "From 3 to 9 May, more or less.",
    ],
)
def test_a_fragment_or_an_imperative_needs_its_speaker(said: str) -> None:
    assert needs_speaker(said, said, ["Mara", "Ivo"], is_chinese=False)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("My canoe leaks.", "Mara's canoe leaks."),
        ("Your canoe leaks.", "Ivo's canoe leaks."),
        ("The harbour closes at nine every evening.", "The harbour closes at nine every evening."),
    ],
)
def test_a_sentence_with_a_subject_needs_none(said: str, told: str) -> None:
    assert not needs_speaker(said, told, ["Mara", "Ivo"], is_chinese=False)


def test_chinese_without_a_subject_needs_its_speaker() -> None:
    assert needs_speaker(
        "买了一条新船，花了三千。", "买了一条新船，花了三千。", ["周梅"], is_chinese=True
    )
    assert not needs_speaker(
        "港口每天晚上九点关门。", "港口每天晚上九点关门。", ["周梅"], is_chinese=True
    )
