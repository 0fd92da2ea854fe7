import pytest

from pipeline.evaluate.evidence import Question, mean_recall
from pipeline.evaluate.losses import Step, Trail, losses, step_of

TRAIL = Trail(
    extracted="abcde",
    current="abcd",
    candidates="abc",
    ranked="ab",
    shown="a",
)


@pytest.mark.parametrize(
    ("message", "step"),
    [
        ("a", Step.FOUND),
        ("b", Step.BUDGET),
        ("c", Step.RANKING),
        ("d", Step.NOT_A_CANDIDATE),
        ("e", Step.NOT_CURRENT),
        ("f", Step.NOT_EXTRACTED),
    ],
)
def test_a_message_is_lost_at_the_first_step_that_no_longer_had_it(
    message: str, step: Step
) -> None:
    assert step_of(message, TRAIL) is step


def test_the_shares_of_all_steps_add_up_and_found_is_the_recall() -> None:
    questions = [
        Question(text="who?", gold=frozenset("ab")),
        Question(text="谁？", gold=frozenset("f")),
    ]

    shares = losses([TRAIL, TRAIL], questions)

    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares[Step.FOUND] == mean_recall(["a", "a"], questions) == 0.25
    assert (shares[Step.BUDGET], shares[Step.NOT_EXTRACTED]) == (0.25, 0.5)
    assert set(losses([], []).values()) == {0.0}
