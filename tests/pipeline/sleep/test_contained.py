import pytest

from pipeline.sleep.contained import contains

BOAT = "Ida has a boat, Petrel, which has no engine and is 9 m long."


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (BOAT, "Ida has a boat, Petrel."),
        (BOAT, "Ida's boat has no engine."),
        ("Ida drinks tea and prefers sencha in the morning.", "Ida prefers sencha."),
        ("林夏喜欢喝茶，早上喝龙井。", "林夏早上喝龙井。"),
        ("林夏喜欢喝茶，不喝咖啡。", "林夏不喝咖啡。"),
    ],
)
def test_what_is_said_in_the_same_order_is_contained(text: str, part: str) -> None:
    assert contains(text, part)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (BOAT, "Ida's boat is red."),
        (BOAT, "Ida's boat is 12 m long."),
        (BOAT, "Ida's boat has an engine."),
        ("Bob likes Ann.", "Ann likes Bob."),
        ("Ida is a nurse.", "Ida was a nurse."),
        ("Ida never drinks milk.", "Ida drinks milk."),
        ("林夏不喝咖啡。", "林夏喝咖啡。"),
        ("林夏喜欢喝茶。", "林夏喜欢喝龙井茶。"),
        ("林夏喜欢喝茶。", "Lin likes tea."),
        ("小王喜欢小李。", "小李喜欢小王。"),
    ],
)
def test_what_is_denied_turned_round_or_more_is_not(text: str, part: str) -> None:
    assert not contains(text, part)
