from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pipeline.entries import Entry, Kind, OrderKey, Status, Writer
from pipeline.ids import EntryId, MessageId
from pipeline.recall.rank import Ranked, Weights
from pipeline.recall.repeats import is_contained
from pipeline.recall.weigh import Fading, relevance, score

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)
FADING = Fading(strength_days={Kind.FACT: 10.0, Kind.EVENT: None}, recency_days=30.0)
RANKED = Ranked(entry=EntryId("e"), version=1, score=0.5, dense_rank=1, dense_score=0.8)


def entry(text: str = "Mara likes tea.", **changes: object) -> Entry:
    made = Entry(
        id=EntryId("e"),
        version=1,
        text=text,
        kind=Kind.FACT,
        status=Status.ACTIVE,
        speaker="Mara",
        said_at=NOON,
        zone="UTC",
        language="en",
        order=OrderKey(said_at=NOON, sequence=1, ordinal=0),
        valid_from=NOON,
        sources=(MessageId("m1"),),
        written_by=Writer.INGEST,
        written_at=NOON,
        strength=5.0,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_without_weights_the_score_is_the_match() -> None:
    found = score(RANKED, entry(), weights=Weights(), fading=FADING, now=NOON)

    assert (found.total, found.match) == (0.5, 0.5)


def test_strength_and_newness_halve_with_time() -> None:
    later = NOON + timedelta(days=30)
    weights = Weights(strength=1.0, recency=2.0)

    found = score(RANKED, entry(), weights=weights, fading=FADING, now=later)

    assert (found.strength, found.recency) == (0.125, 0.5)
    assert found.total == pytest.approx((0.5 + 0.125 + 2 * 0.5) / 4)


def test_a_kind_that_never_fades_keeps_its_strength_and_the_future_is_now() -> None:
    event = entry(kind=Kind.EVENT, said_at=NOON + timedelta(days=1))

    found = score(RANKED, event, weights=Weights(), fading=FADING, now=NOON)

    assert (found.strength, found.recency) == (1.0, 1.0)


def test_relevance_is_the_cosine_until_a_reranker_has_judged() -> None:
    found = score(RANKED, entry(), weights=Weights(), fading=FADING, now=NOON)

    assert relevance(RANKED, found) == 0.8
    assert relevance(replace(RANKED, dense_score=None), found) is None
    assert relevance(RANKED, replace(found, rerank=0.2)) == 0.2


@pytest.mark.parametrize(
    ("text", "better", "is_said"),
    [
        ("Mara likes tea.", "Mara likes tea and lives in Lisbon.", True),
        ("王芳喜欢茶。", "王芳喜欢茶，也喜欢咖啡。", True),
        ("Mara likes tea.", "Mara never likes tea.", False),
        ("Mara likes tea and coffee.", "Mara likes tea.", False),
        ("王芳喜欢咖啡。", "王芳喜欢茶。", False),
    ],
)
def test_a_hit_that_a_better_one_says_whole_is_contained(
    text: str, better: str, is_said: bool
) -> None:
    assert is_contained(entry(text), [entry("Something else."), entry(better)]) is is_said


def test_what_somebody_else_says_or_as_another_kind_is_not_contained() -> None:
    assert not is_contained(entry(), [entry(speaker="Ben"), entry(kind=Kind.EVENT)])
