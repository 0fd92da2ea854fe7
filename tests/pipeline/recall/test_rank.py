from datetime import UTC, datetime

import pytest

from pipeline.entries import Entry, Kind, OrderKey, Status, Writer
from pipeline.ids import EntryId, MessageId
from pipeline.recall.rank import Weights, fuse, rank_sources
from pipeline.state import IndexHit, IndexHits


def entry(
    name: str,
    text: str = "Anna likes tea.",
    *,
    sources: tuple[str, ...] = ("m1",),
    day: int = 1,
    zone: str = "UTC",
    speaker: str = "Anna",
    kind: Kind = Kind.FACT,
    status: Status = Status.ACTIVE,
) -> Entry:
    said_at = datetime(2024, 5, day, 20, tzinfo=UTC)
    return Entry(
        id=EntryId(name),
        version=1,
        text=text,
        kind=kind,
        status=status,
        speaker=speaker,
        said_at=said_at,
        zone=zone,
        language="en",
        order=OrderKey(said_at=said_at, sequence=day, ordinal=0),
        valid_from=said_at,
        sources=tuple(MessageId(source) for source in sources),
        written_by=Writer.INGEST,
        written_at=said_at,
    )


def hit(entry: str, score: float, version: int = 1) -> IndexHit:
    return IndexHit(entry=EntryId(entry), version=version, score=score)


def test_an_entry_in_both_lists_comes_before_one_in_a_single_list() -> None:
    hits = IndexHits(dense=(hit("a", 0.9), hit("b", 0.8)), lexical=(hit("b", 3.0), hit("c", 1.0)))

    ranked = fuse(hits, rrf_k=60)

    assert [one.entry for one in ranked] == ["b", "a", "c"]


def test_a_hit_explains_its_place() -> None:
    hits = IndexHits(dense=(hit("a", 0.9), hit("b", 0.8)), lexical=(hit("b", 3.0, version=2),))

    first, second = fuse(hits, rrf_k=60)

    assert (first.dense_rank, first.dense_score) == (2, 0.8)
    assert (first.lexical_rank, first.lexical_score) == (1, 3.0)
    assert first.score == pytest.approx((1 / 62 + 1 / 61) / (2 / 61))
    assert first.version == 2
    assert (second.dense_rank, second.lexical_rank, second.lexical_score) == (1, None, None)


def test_ties_are_broken_by_entry_id() -> None:
    hits = IndexHits(dense=(hit("b", 0.9),), lexical=(hit("a", 3.0),))

    assert [one.entry for one in fuse(hits, rrf_k=60)] == ["a", "b"]


def test_a_heavier_list_decides() -> None:
    hits = IndexHits(dense=(hit("b", 0.9),), lexical=(hit("a", 3.0),))

    ranked = fuse(hits, rrf_k=60, weights=Weights(dense=2.0))

    assert [one.entry for one in ranked] == ["b", "a"]


def test_nothing_found_is_an_empty_order() -> None:
    assert fuse(IndexHits(dense=(), lexical=()), rrf_k=60) == []


def test_sources_follow_their_entries_each_once() -> None:
    entries = [entry("x", sources=("m2", "m1")), entry("y", sources=("m1", "m3"))]

    assert rank_sources(entries) == ["m2", "m1", "m3"]


def test_the_first_of_every_list_that_found_something_scores_one() -> None:
    both = IndexHits(dense=(hit("a", 0.9), hit("b", 0.8)), lexical=(hit("a", 3.0),))
    one = IndexHits(dense=(hit("a", 0.9),), lexical=())

    assert [ranked.score for ranked in fuse(both, rrf_k=20)] == [1.0, pytest.approx(21 / 44)]
    assert fuse(one, rrf_k=20)[0].score == 1.0
    assert fuse(one, rrf_k=20, weights=Weights(dense=0.0))[0].score == 0.0
