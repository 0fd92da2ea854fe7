from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from statements import compared, statement

from pipeline.entries import (
    Case,
    Decision,
    Delete,
    Entry,
    Ignore,
    Kind,
    Status,
    Update,
    Writer,
)
from pipeline.ids import EntryId
from pipeline.sleep.decide import case_key, validate

SAID_AT = datetime(2024, 3, 1, 8, tzinfo=UTC)


def _entry(name: str, text: str, day: int = 0) -> Entry:
    return statement(name, text, start=SAID_AT, day=day)


def _case(target: str, *newer: str) -> Case:
    return compared(
        _entry("t", target), *(_entry(f"c{n}", text, n) for n, text in enumerate(newer, 1))
    )


BOAT = _case("Ida has a boat.", "Ida's boat Petrel has no engine.", "Ida's boat is 9 m long.")


def _update(text: str, *used: str) -> Update:
    return Update(text=text, used=tuple(EntryId(each) for each in used), reason="same boat")


def _reason(decision: Decision) -> str:
    assert isinstance(decision, Ignore)
    return decision.reason


def test_an_update_that_keeps_everything_it_uses_stands() -> None:
    decision = _update("Ida has a boat, Petrel, which has no engine.", "c1")

    assert validate(BOAT, decision) is decision


def test_an_update_that_loses_a_name_is_refused_by_it() -> None:
    assert "petrel" in _reason(validate(BOAT, _update("Ida has a boat with no engine.", "c1")))


def test_an_update_that_loses_a_negation_is_refused_by_it() -> None:
    assert "not engin" in _reason(validate(BOAT, _update("Ida's Petrel has an engine.", "c1")))


def test_an_update_that_loses_a_number_is_refused_by_it() -> None:
    assert "amount 9" in _reason(validate(BOAT, _update("Ida has a long boat.", "c2")))


def test_what_an_unused_candidate_says_need_not_be_kept() -> None:
    decision = _update("Ida has a boat that is 9 m long.", "c2")

    assert validate(BOAT, decision) is decision


def test_an_empty_text_is_refused() -> None:
    assert "empty" in _reason(validate(BOAT, _update("  ", "c1")))


def test_an_update_must_use_candidates_of_the_case() -> None:
    assert "candidates" in _reason(validate(BOAT, _update("Ida has a boat.")))
    assert "candidates" in _reason(validate(BOAT, _update("Ida has a boat.", "c1", "c9")))
    assert "candidates" in _reason(validate(BOAT, _update("Ida has a boat.", "t")))


def test_a_delete_must_name_a_candidate() -> None:
    known = Delete(superseded_by=EntryId("c2"), reason="newer")

    assert validate(BOAT, known) is known
    assert "no candidate" in _reason(validate(BOAT, replace(known, superseded_by=EntryId("c9"))))


def test_an_ignore_stands() -> None:
    decision = Ignore(reason="unsure")

    assert validate(BOAT, decision) is decision


def test_a_refusal_is_in_the_language_of_the_target() -> None:
    case = _case("用户住在杭州。", "用户在杭州养猫。")

    assert "丢失" in _reason(validate(case, _update("用户养猫。", "c1")))


def test_the_key_is_the_same_for_the_same_case_and_decider() -> None:
    again = _case("Ida has a boat.", "Ida's boat Petrel has no engine.", "Ida's boat is 9 m long.")

    assert case_key(BOAT, "a/1") == case_key(again, "a/1")


def test_the_key_differs_with_decider_order_and_all_that_is_shown() -> None:
    target = BOAT.target
    changed = [
        replace(target, text="Ida has a kayak."),
        replace(target, said_at=SAID_AT + timedelta(hours=1)),
        replace(target, kind=Kind.EVENT),
        replace(target, speaker="Ole"),
        replace(target, zone="Asia/Shanghai"),
        replace(target, status=Status.TENTATIVE),
        replace(target, id=EntryId("of-another-collection")),
    ]
    keys = {case_key(replace(BOAT, target=each), "a/1") for each in changed}
    keys |= {case_key(BOAT, "a/1"), case_key(BOAT, "b/1")}
    keys.add(case_key(replace(BOAT, candidates=BOAT.candidates[::-1]), "a/1"))

    assert len(keys) == 10


def test_the_key_ignores_versions_and_similarities() -> None:
    target = replace(BOAT.target, version=7, strength=3.0)
    candidates = tuple(replace(each, similarity=0.1) for each in BOAT.candidates)

    assert case_key(Case(target=target, candidates=candidates), "a/1") == case_key(BOAT, "a/1")


@pytest.mark.parametrize(
    ("target", "newer"),
    [
        ("Ida has a boat.", "Ida sold her boat."),
        ("依达有一艘船。", "依达把船卖了。"),
    ],
)
def test_a_users_correction_gives_way_only_to_what_was_stored_after_it(
    target: str, newer: str
) -> None:
    case = _case(target, newer)
    decisions = (
        Delete(superseded_by=EntryId("c1"), reason="sold"),
        _update(f"{target} {newer}", "c1"),
    )

    def corrected(after_days: int) -> Case:
        at = SAID_AT + timedelta(days=after_days)
        return replace(case, target=replace(case.target, written_by=Writer.USER, written_at=at))

    for decision in decisions:
        assert isinstance(validate(corrected(2), decision), Ignore)
        assert validate(corrected(0), decision) == decision
        assert validate(case, decision) == decision
