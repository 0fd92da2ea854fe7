"""One order out of the dense and the lexical list: reciprocal rank fusion, explained per hit.

Source: Cormack, Clarke and Buettcher 2009, "Reciprocal rank fusion outperforms Condorcet and
individual rank learning methods", with a weight per list. Knows nothing of texts or vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.entries import Entry
from pipeline.ids import EntryId, MessageId
from pipeline.state import IndexHit, IndexHits


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each list counts, and beside the match of both an entry's strength and newness."""

    dense: float = 1.0
    lexical: float = 1.0
    strength: float = 0.0
    recency: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A hit in the fused order and why it stands there; ranks from 1, None where not listed.

    ``score`` is in 0..1: the share of what the first of every list that found anything would get.
    """

    entry: EntryId
    version: int
    score: float
    dense_rank: int | None = None
    dense_score: float | None = None
    lexical_rank: int | None = None
    lexical_score: float | None = None


def fuse(hits: IndexHits, *, rrf_k: int, weights: Weights | None = None) -> list[Ranked]:
    """The entries of both lists, best first, ties by entry id.

    Args:
        hits: each list best first.
        rrf_k: the constant of the fusion; the larger, the less the first ranks stand out.
        weights: one each where None.
    """
    weights = weights or Weights()
    dense, lexical = _placed(hits.dense), _placed(hits.lexical)
    listed = (weights.dense if dense else 0.0) + (weights.lexical if lexical else 0.0)
    best = listed / (rrf_k + 1) or 1.0
    ranked = [
        _ranked(dense.get(entry), lexical.get(entry), rrf_k=rrf_k, weights=weights, best=best)
        for entry in dense.keys() | lexical.keys()
    ]
    return sorted(ranked, key=lambda one: (-one.score, one.entry))


def rank_sources(entries: Sequence[Entry]) -> list[MessageId]:
    """The source messages of entries, best entry first, each message once."""
    return list(dict.fromkeys(source for entry in entries for source in entry.sources))


def _placed(hits: Sequence[IndexHit]) -> dict[EntryId, tuple[int, IndexHit]]:
    """Entry to its first place in the list, from 1."""
    placed: dict[EntryId, tuple[int, IndexHit]] = {}
    for hit in hits:
        placed.setdefault(hit.entry, (len(placed) + 1, hit))
    return placed


def _ranked(
    dense: tuple[int, IndexHit] | None,
    lexical: tuple[int, IndexHit] | None,
    *,
    rrf_k: int,
    weights: Weights,
    best: float,
) -> Ranked:
    listed = [place for place in (dense, lexical) if place is not None]
    score = 0.0
    if dense is not None:
        score += weights.dense / (rrf_k + dense[0])
    if lexical is not None:
        score += weights.lexical / (rrf_k + lexical[0])
    return Ranked(
        entry=listed[0][1].entry,
        version=max(hit.version for _, hit in listed),
        score=score / best,
        dense_rank=dense[0] if dense else None,
        dense_score=dense[1].score if dense else None,
        lexical_rank=lexical[0] if lexical else None,
        lexical_score=lexical[1].score if lexical else None,
    )
