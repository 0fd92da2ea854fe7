"""What wording says about topics, in English and Chinese."""

import pytest

from pipeline.awake.cues import leanings

NEXT = "Los Angeles, please."


@pytest.mark.parametrize(
    "question",
    [
        "What is your favourite season?",
        "What is your favourite season ? Mine is winter !",
        "I like winter. Do you?\nTell me.",
        "你最喜欢哪个季节？",
        "你去过北京吗",
        "我喜欢冬天。你呢",
    ],
)
def test_the_turn_after_a_question_stays(question: str) -> None:
    assert leanings([question, NEXT])[1] < 0


@pytest.mark.parametrize(
    "said",
    [
        "I like winter.",
        "Why winter? I asked myself. Then snow fell. I understood.",
        "Your table is booked. Is there anything else I can help you with?",
        "已经订好了。还有什么可以帮您？",
        "好的。您还需要其他帮助吗？",
        "",
    ],
)
def test_after_no_question_or_one_for_another_topic_nothing_leans(said: str) -> None:
    assert leanings([said, "I need a train."])[1] == 0


@pytest.mark.parametrize("closing", ["Great, thank you!", "Have a nice day.", "谢谢你", "再见"])
def test_a_closing_leans_to_a_new_topic_unless_it_is_closed_in_turn(closing: str) -> None:
    opened, closed = leanings([closing, "I need a train."])[1], leanings([closing, closing])[1]

    assert closed < 0 < opened


@pytest.mark.parametrize(
    "turn",
    [
        "I loved it as a child.",
        "Those are my favourite.",
        "My sister has one too.",
        "那是我最爱的。",
    ],
)
def test_a_turn_that_points_back_stays(turn: str) -> None:
    assert leanings(["My bicycle is red.", turn])[1] < 0


@pytest.mark.parametrize("turn", ["My sister plays chess.", "也许明天下雨。", "这周我去上海。"])
def test_a_turn_that_stands_alone_leans_nowhere(turn: str) -> None:
    assert leanings(["My bicycle is red.", turn])[1] == 0


def test_no_turns_lean_nowhere() -> None:
    assert leanings([]) == ()
    assert leanings(["What is that?"]) == (0.0,)
