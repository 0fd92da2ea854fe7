"""Search: the index proposes, the record store decides.

What the index answers is read back from the record store by tenant, collection and status, and
judged there once more: it can miss, it can neither leak, resurrect nor show stale text.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from actors.records import Records
from pipeline.entries import Entry, Kind
from pipeline.errors import InputError
from pipeline.ids import EntryId, MessageId
from pipeline.messages import Message, Scope, TenantId
from pipeline.ports import Clock, Vectors
from pipeline.recall.around import MESSAGES_PER_TURN, around
from pipeline.recall.filters import Origin, asks_sources, holds
from pipeline.recall.lexical import sparse_query
from pipeline.recall.periods import version_at
from pipeline.recall.question import Question, check_question
from pipeline.recall.rank import Ranked, Weights, fuse
from pipeline.recall.repeats import is_contained
from pipeline.recall.text import index_text_of
from pipeline.recall.weigh import Fading, Score, relevance, score
from pipeline.settings import RecallSettings
from pipeline.sleep.forgetting import HALF_LIFE_DAYS
from pipeline.state import IndexHits, IndexQuery, SparseVector
from serve.index import AsyncIndex
from serve.models import AsyncReranker
from serve.queries import QueryVectors

MOST_PROPOSED = 6_400
"""Entries of one list that are looked at when a filter or a floor refuses most of them."""
_WIDER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A found entry with its collection, its source messages and what explains its rank.

    ``around`` are the messages of the neighbouring turns, where they were asked for.
    """

    scope: Scope
    entry: Entry
    ranked: Ranked
    score: Score
    sources: tuple[Message, ...] = ()
    around: tuple[Message, ...] = ()


class Searching:
    """Answers questions from the collections of one tenant per call."""

    def __init__(
        self,
        *,
        records: Records,
        index: AsyncIndex,
        queries: QueryVectors,
        recall: RecallSettings,
        clock: Clock,
        reranker: AsyncReranker | None = None,
        half_life_days: Mapping[Kind, float | None] = HALF_LIFE_DAYS,
    ) -> None:
        self._records = records
        self._index = index
        self._queries = queries
        self._recall = recall
        self._clock = clock
        self._reranker = reranker
        self._fading = Fading(
            strength_days=half_life_days, recency_days=recall.recency_half_life_days
        )
        self.weights = Weights(
            dense=recall.dense_weight,
            lexical=recall.lexical_weight,
            strength=recall.strength_weight,
            recency=recall.recency_weight,
        )

    async def search(
        self, tenant: TenantId, collections: Sequence[str], question: Question
    ) -> list[Hit]:
        """The best entries, best first.

        Raises:
            InputError: the question contradicts itself, or asks for a reranker that is not there.
            NotFound: one of the collections is none of the tenant's.
        """
        check_question(question)
        reranker = self._asked_reranker(question)
        names = tuple(dict.fromkeys(collections))
        _, dense = await asyncio.gather(
            asyncio.to_thread(self._records.messages.must_exist, tenant, names),
            self._queries.of(question.text, owner=tenant),
        )
        asked = _Asked(
            tenant=tenant,
            names=names,
            question=question,
            dense=dense,
            lexical=sparse_query(question.text),
            weights=question.weights or self.weights,
            min_score=self._recall.min_score if question.min_score is None else question.min_score,
            now=question.as_of or self._clock.now(),
            most=question.limit if reranker is None else max(question.limit, self._recall.reranked),
            is_reranked=reranker is not None,
        )
        hits = await self._proposed(asked)
        if reranker is not None and hits:
            hits = await _reranked(reranker, asked, hits, most=self._recall.reranked)
        if question.neighbours and hits:
            hits = await asyncio.to_thread(self._with_neighbours, hits, question.neighbours)
        return hits

    def _asked_reranker(self, question: Question) -> AsyncReranker | None:
        """The reranker, unless the question wants none."""
        if question.rerank and self._reranker is None:
            raise InputError(
                "expected a service with a reranker (setting models.reranker), got one without",
                field="rerank",
            )
        return None if question.rerank is False else self._reranker

    async def _proposed(self, asked: "_Asked") -> list[Hit]:
        """The best of what the index proposes and the record store lets through."""
        proposed = max(asked.most, self._recall.prefetch)
        while True:
            (found,) = await self._index.search([asked.of(proposed)])
            ranked = fuse(found, rrf_k=self._recall.rrf_k, weights=asked.weights)
            hits = await asyncio.to_thread(self._decided, asked, ranked)
            if len(hits) >= asked.most or not _has_more(found, asked, proposed):
                return hits
            proposed = min(MOST_PROPOSED, _WIDER * proposed)

    def _decided(self, asked: "_Asked", ranked: Sequence[Ranked]) -> list[Hit]:
        """At most as many as asked; no more is read than the order depends on."""
        if not (asked.weights.strength or asked.weights.recency):
            return _selected(asked, self._read_back(asked, ranked, step=2 * asked.most))
        hits = list(self._read_back(asked, ranked, step=len(ranked) or 1))
        return _selected(asked, sorted(hits, key=_place))

    def _read_back(self, asked: "_Asked", ranked: Sequence[Ranked], *, step: int) -> Iterator[Hit]:
        for start in range(0, len(ranked), step):
            some = ranked[start : start + step]
            there = self._entries(asked, [each.entry for each in some])
            present = [(each, *there[each.entry]) for each in some if each.entry in there]
            sources = self._sources([(scope, entry) for _, scope, entry in present])
            for each, scope, entry in present:
                mine = tuple(sources[one] for one in entry.sources if one in sources)
                if _passes(asked.question, entry, mine):
                    scored = score(
                        each, entry, weights=asked.weights, fading=self._fading, now=asked.now
                    )
                    yield Hit(scope=scope, entry=entry, ranked=each, score=scored, sources=mine)

    def _entries(
        self, asked: "_Asked", ids: Sequence[EntryId]
    ) -> dict[EntryId, tuple[Scope, Entry]]:
        """The entries as they are, or in the versions that held at the instant asked for."""
        store, question = self._records.entries, asked.question
        if question.as_of is None:
            return store.read_back(asked.tenant, asked.names, ids, statuses=question.wanted)
        past = store.versions(asked.tenant, asked.names, ids)
        held = {
            id_: (scope, version_at(some, question.as_of)) for id_, (scope, some) in past.items()
        }
        return {id_: (scope, entry) for id_, (scope, entry) in held.items() if entry is not None}

    def _sources(self, present: Sequence[tuple[Scope, Entry]]) -> dict[MessageId, Message]:
        by_scope: dict[Scope, set[MessageId]] = {}
        for scope, entry in present:
            by_scope.setdefault(scope, set()).update(entry.sources)
        found: dict[MessageId, Message] = {}
        for scope, ids in by_scope.items():
            found |= self._records.messages.messages_by_id(scope, sorted(ids))
        return found

    def _with_neighbours(self, hits: Sequence[Hit], turns: int) -> list[Hit]:
        return [replace(hit, around=self._around(hit, turns)) for hit in hits]

    def _around(self, hit: Hit, turns: int) -> tuple[Message, ...]:
        """The turns around each source, by sequence, each message once."""
        found: dict[int, Message] = {}
        for source in hit.sources:
            near = self._records.messages.around(
                hit.scope,
                source.conversation,
                source.sequence,
                most=MESSAGES_PER_TURN * (turns + 1),
            )
            shown = around(near, source.sequence, turns_each_side=turns)
            found |= {message.sequence: message for message in shown}
        return tuple(found[sequence] for sequence in sorted(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A question with what the index and the record store need of it.

    ``most`` is how many hits are wanted before a reranker chooses among them; then the floor is
    held against its judgement.
    """

    tenant: TenantId
    names: tuple[str, ...]
    question: Question
    dense: Vectors
    lexical: SparseVector
    weights: Weights
    min_score: float | None
    now: datetime
    most: int
    is_reranked: bool

    def of(self, proposed: int) -> IndexQuery:
        """The query for lists of this length."""
        return IndexQuery(
            tenant=self.tenant,
            collections=self.names,
            dense=self.dense,
            lexical=self.lexical,
            limit=proposed,
            statuses=self.question.wanted,
            kinds=self.question.kinds,
            where=self.question.where,
            as_of=self.question.as_of,
        )


def _passes(question: Question, entry: Entry, sources: Sequence[Message]) -> bool:
    """Whether the entry, as it was read, is what was asked for."""
    if question.kinds and entry.kind not in question.kinds:
        return False
    if not question.lets_in(entry):
        return False
    if question.where is None:
        return True
    origins = [Origin.of(one) for one in sources] if asks_sources(question.where) else []
    return holds(question.where, entry, origins)


def _selected(asked: _Asked, hits: Iterable[Hit]) -> list[Hit]:
    """The first hits that are relevant enough and say what no better one says."""
    found: list[Hit] = []
    for hit in hits:
        if _is_too_far(asked, hit) or is_contained(hit.entry, [one.entry for one in found]):
            continue
        found.append(hit)
        if len(found) == asked.most:
            break
    return found


def _is_too_far(asked: _Asked, hit: Hit) -> bool:
    if asked.min_score is None or (asked.is_reranked and hit.score.rerank is None):
        return False
    near = relevance(hit.ranked, hit.score)
    return near is None or near < asked.min_score


async def _reranked(
    reranker: AsyncReranker, asked: _Asked, hits: Sequence[Hit], *, most: int
) -> list[Hit]:
    """The hits by the reranker's judgement, at most the limit of the question.

    Those beyond ``most`` follow unjudged, unless there is a floor to hold against a judgement.
    """
    texts = [index_text_of(hit.entry) for hit in hits[:most]]
    judged = await reranker.scores(asked.question.text, texts, owner=asked.tenant)
    anew = [
        replace(hit, score=replace(hit.score, total=value, rerank=value))
        for hit, value in zip(hits[:most], judged, strict=True)
    ]
    least = min(judged)
    rest = [
        replace(hit, score=replace(hit.score, total=min(least, hit.score.total)))
        for hit in (hits[most:] if asked.min_score is None else ())
    ]
    return _selected(asked, [*sorted(anew, key=_place), *rest])[: asked.question.limit]


def _place(hit: Hit) -> tuple[float, EntryId]:
    return -hit.score.total, hit.entry.id


def _has_more(found: IndexHits, asked: _Asked, proposed: int) -> bool:
    """Whether longer lists could hold more entries that a filter or a floor lets through."""
    is_cut = max(len(found.dense), len(found.lexical)) >= proposed
    if not is_cut or proposed >= MOST_PROPOSED:
        return False
    return asked.question.where is not None or _is_floor_below(found, asked)


def _is_floor_below(found: IndexHits, asked: _Asked) -> bool:
    """Whether entries beyond the dense list may still be near enough."""
    if asked.min_score is None or asked.is_reranked or not found.dense:
        return False
    return found.dense[-1].score >= asked.min_score
