import pytest

from pipeline.messages import Role
from pipeline.recall.forms import STRETCHES, Form, form_of, spread
from pipeline.recall.placement import Placement, placed
from pipeline.recall.shown import Context


@pytest.mark.parametrize(
    "question",
    [
        "In what order did I visit the harbours?",
        "Give me a timeline of the move.",
        "Which repair happened first?",
        "How did the plan for the boat evolve?",
        "我先后去过哪些港口？",
        "请按时间顺序列出搬家的经过。",
    ],
)
def test_a_question_about_order_asks_for_a_timeline(question: str) -> None:
    assert form_of(question) is Form.TIMELINE


@pytest.mark.parametrize(
    "question",
    [
        "Summarise what we said about the boat.",
        "An overview, in order of time?",
        "总结一下这次搬家。",
    ],
)
def test_a_question_about_the_whole_asks_for_a_summary(question: str) -> None:
    assert form_of(question) is Form.SUMMARY


@pytest.mark.parametrize(
    "question", ["Where does Mara live?", "What did I order in the café?", "她住在哪里？"]
)
def test_any_other_question_is_plain(question: str) -> None:
    assert form_of(question) is Form.PLAIN


def test_every_stretch_of_time_comes_before_any_second_one() -> None:
    ranked = [7, 8, 9, *range(10, 47), 0, 1, 2, 3, 4, 5, 6, 47, 48, 49]

    found = spread(ranked, place=lambda one: one)

    assert sorted(found) == list(range(50))
    assert sorted(one // 5 for one in found[:STRETCHES]) == list(range(STRETCHES))
    assert found[1] == 7


def test_few_keep_their_place_and_none_are_none() -> None:
    assert spread([3, 1], place=lambda one: one) == [1, 3]
    assert spread([], place=lambda one: 0) == []


CONTEXT = Context(text="## 记忆\n[1] 安娜养鹭。", tokens=9)
EMPTY = Context(text="", tokens=0)


def test_a_context_stands_where_it_is_asked_for_word_by_word() -> None:
    system = placed(CONTEXT, "谁养鹭？", Placement.SYSTEM)
    user = placed(CONTEXT, "Who?", Placement.USER)

    assert [(one.role, one.content) for one in system] == [
        (Role.SYSTEM, CONTEXT.text),
        (Role.USER, "谁养鹭？"),
    ]
    assert [(one.role, one.content) for one in user] == [(Role.USER, f"{CONTEXT.text}\n\nWho?")]
    assert placed(CONTEXT, "Who?", None) == []


@pytest.mark.parametrize("placement", list(Placement))
def test_without_a_context_the_question_stands_alone(placement: Placement) -> None:
    assert [(one.role, one.content) for one in placed(EMPTY, "Who?", placement)] == [
        (Role.USER, "Who?")
    ]
