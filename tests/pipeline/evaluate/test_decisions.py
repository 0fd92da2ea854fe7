import pytest

from pipeline.entries import Decision, Delete, Ignore, Update
from pipeline.evaluate.decisions import (
    FAILED,
    Judged,
    action,
    claims,
    document,
    judge,
    report,
    unbarred,
)
from pipeline.ids import EntryId

UPDATE = Update(text="Ida's boat Petrel leaks.", used=(EntryId("c"),), reason="adds")
DELETE = Delete(superseded_by=EntryId("c"), reason="newer")
IGNORE = Ignore(reason="unsure")


@pytest.mark.parametrize(
    ("decision", "name"), [(UPDATE, "update"), (DELETE, "delete"), (IGNORE, "ignore")]
)
def test_a_decision_has_a_name(decision: Decision, name: str) -> None:
    assert action(decision) == name


def test_an_update_that_keeps_what_it_must_is_right() -> None:
    judged = judge(UPDATE, language="en", expected="update", must_keep=["petrel"])

    assert judged.is_right
    assert not judged.is_destructive_error


def test_an_update_that_drops_what_it_must_keep_is_wrong_and_destructive() -> None:
    judged = judge(UPDATE, language="en", expected="update", must_keep=["Bergen"])

    assert not judged.is_right
    assert judged.is_destructive_error


@pytest.mark.parametrize("expected", ["update", "ignore"])
def test_an_unexpected_delete_is_destructive(expected: str) -> None:
    assert judge(DELETE, language="en", expected=expected).is_destructive_error


def test_an_unexpected_ignore_is_wrong_but_harmless() -> None:
    judged = judge(IGNORE, language="en", expected="delete")

    assert not judged.is_right
    assert not judged.is_destructive_error


def test_a_report_counts_by_action_and_by_language() -> None:
    figures = report(
        [
            Judged(language="en", expected="delete", got="delete"),
            Judged(language="en", expected="ignore", got="delete"),
            Judged(language="zh", expected="ignore", got="ignore"),
            Judged(language="zh", expected="update", got="ignore"),
        ]
    )

    assert (figures.n, figures.accuracy, figures.destructive_errors) == (4, 0.5, 1)
    assert figures.always_ignore == 0.5
    assert figures.by_action["ignore"].accuracy == 0.5
    assert figures.by_language["zh"].right == 1
    assert figures.always_ignore_by_language == {"en": 0.5, "zh": 0.5}


def test_a_report_on_nothing_is_all_zeros() -> None:
    figures = report([])

    assert (figures.n, figures.accuracy, figures.always_ignore) == (0, 0.0, 0.0)


def test_a_case_without_a_decision_is_wrong_but_harmless() -> None:
    judged = judge(None, language="en", expected="ignore")

    assert (judged.got, judged.is_right, judged.is_destructive_error) == (FAILED, False, False)
    assert report([judged]).failed == 1


def test_the_claims_miss_where_a_delete_is_wrong_or_too_little_is_right() -> None:
    figures = report(
        [
            Judged(language="en", expected="ignore", got="delete"),
            Judged(language="zh", expected="ignore", got="ignore"),
            Judged(language="zh", expected="delete", got="delete"),
        ]
    )

    assert [(claim.claim, claim.holds) for claim in claims(figures)] == [
        ("wrong deletes", False),
        ("accuracy in en", False),
        ("above always-ignore in en", False),
        ("accuracy in zh", True),
        ("above always-ignore in zh", True),
    ]
    assert {claim.holds for claim in unbarred(claims(figures))} == {None}


def test_the_document_tells_what_never_acting_would_reach() -> None:
    told = document(report([Judged(language="en", expected="ignore", got="delete")]))

    assert (told["n"], told["wrong_deletes"], told["destructive_errors"]) == (1, 1, 1)
    assert told["by_language"] == {
        "en": {"n": 1, "right": 0, "accuracy": 0.0, "always_ignore": 1.0}
    }
