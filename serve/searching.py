"""Search: the index proposes, the record store decides.

What the index answers is read back from the record store by tenant, collection and status, and
judged there once more: it can miss, it can neither leak, resurrect nor show stale text.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from actors.records import Records
from pipeline.entries import Entry
from pipeline.ids import EntryId, MessageId
from pipeline.messages import Message, Scope, TenantId
from pipeline.ports import Vectors
from pipeline.recall.filters import Origin, asks_sources, holds
from pipeline.recall.lexical import sparse_query
from pipeline.recall.periods import version_at
from pipeline.recall.question import Question, check_question
from pipeline.recall.rank import Ranked, fuse
from pipeline.settings import RecallSettings
from pipeline.state import IndexHits, IndexQuery, SparseVector
from serve.index import AsyncIndex
from serve.queries import QueryVectors

MOST_PROPOSED = 6_400
"""Entries of one list that are looked at when a filter refuses most of them."""
_WIDER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A found entry with its collection, its source messages and what explains its rank."""

    scope: Scope
    entry: Entry
    ranked: Ranked
    sources: tuple[Message, ...] = ()


class Searching:
    """Answers questions from the collections of one tenant per call."""

    def __init__(
        self, *, records: Records, index: AsyncIndex, queries: QueryVectors, recall: RecallSettings
    ) -> None:
        self._records = records
        self._index = index
        self._queries = queries
        self._recall = recall

    async def search(
        self, tenant: TenantId, collections: Sequence[str], question: Question
    ) -> list[Hit]:
        """The best entries, best first.

        Raises:
            InputError: the question contradicts itself.
            NotFound: one of the collections is none of the tenant's.
        """
        check_question(question)
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
        )
        proposed = max(question.limit, self._recall.prefetch)
        while True:
            (found,) = await self._index.search([asked.of(proposed)])
            ranked = fuse(found, rrf_k=self._recall.rrf_k)
            hits = await asyncio.to_thread(self._decided, asked, ranked)
            if len(hits) >= question.limit or not _has_more(found, asked, proposed):
                return hits
            proposed = min(MOST_PROPOSED, _WIDER * proposed)

    def _decided(self, asked: "_Asked", ranked: Sequence[Ranked]) -> list[Hit]:
        """What the record store lets through, at most the limit; no more is read than needed."""
        question, hits = asked.question, list[Hit]()
        for start in range(0, len(ranked), 2 * question.limit):
            for hit in self._read_back(asked, ranked[start : start + 2 * question.limit]):
                hits.append(hit)
                if len(hits) == question.limit:
                    return hits
        return hits

    def _read_back(self, asked: "_Asked", ranked: Sequence[Ranked]) -> Iterator[Hit]:
        there = self._entries(asked, [each.entry for each in ranked])
        present = [(each, *there[each.entry]) for each in ranked if each.entry in there]
        sources = self._sources([(scope, entry) for _, scope, entry in present])
        for each, scope, entry in present:
            mine = tuple(sources[one] for one in entry.sources if one in sources)
            if _passes(asked.question, entry, mine):
                yield Hit(scope=scope, entry=entry, ranked=each, sources=mine)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A question with what the index needs of it."""

    tenant: TenantId
    names: tuple[str, ...]
    question: Question
    dense: Vectors
    lexical: SparseVector

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
    if question.where is None:
        return True
    origins = [Origin.of(one) for one in sources] if asks_sources(question.where) else []
    return holds(question.where, entry, origins)


def _has_more(found: IndexHits, asked: _Asked, proposed: int) -> bool:
    """Whether longer lists could hold entries that a filter, judged on the entry, lets through."""
    is_cut = max(len(found.dense), len(found.lexical)) >= proposed
    return asked.question.where is not None and is_cut and proposed < MOST_PROPOSED
