"""What a recall leaves behind: who asked what, what came back, and what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pipeline.entries import Entry
from pipeline.ids import EntryId, RecallId, digest
from pipeline.messages import Message, TenantId

KEPT_DAYS = 30
"""How long recalls are kept where a tenant says nothing."""


class RecallKind(StrEnum):
    """What was asked for."""

    SEARCH = "search"
    CONTEXT = "context"


class KeptQuery(StrEnum):
    """What is kept of a question."""

    HASH = "hash"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallKeeping:
    """What a tenant keeps of its recalls, and for how many days."""

    query: KeptQuery = KeptQuery.HASH
    days: int = KEPT_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledEntry:
    """An entry that a recall returned, in which version; a score in 0..1 where it was ranked."""

    collection: str
    entry: EntryId
    version: int
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """A recall: ``query`` is None where only its digest is kept; ``seconds`` until the reply.

    ``tokens`` are those of the context, or of the texts that a search returned.
    """

    id: RecallId
    kind: RecallKind
    collections: tuple[str, ...]
    query: str | None
    query_hash: str
    entries: tuple[RecalledEntry, ...]
    tokens: int
    seconds: float
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a recall returned an entry: its text then, the entry and its messages as they are now.

    What was erased since is None, or missing among the messages.
    """

    recalled: RecalledEntry
    text: str | None
    now: Entry | None
    messages: tuple[Message, ...]


def query_hash(tenant: TenantId, query: str) -> str:
    """A digest that equal questions of one tenant share."""
    return digest("query", tenant, query)


def part_id(recall: RecallId, place: int) -> str:
    """The id of the row of the ``place``-th collection of a recall, from 0."""
    return recall if place == 0 else f"{recall}.{place + 1}"


def recall_of(part: str) -> RecallId:
    """The recall that a row belongs to."""
    return RecallId(part.partition(".")[0])


def times_used(entries: Sequence[EntryId]) -> list[list[EntryId]]:
    """The entries in rounds, each entry once a round and in as many as it is named.

    >>> times_used([EntryId("a"), EntryId("b"), EntryId("a")])
    [['a', 'b'], ['a']]
    """
    rounds: list[list[EntryId]] = []
    seen: dict[EntryId, int] = {}
    for entry in entries:
        place = seen[entry] = seen.get(entry, -1) + 1
        if place == len(rounds):
            rounds.append([])
        rounds[place].append(entry)
    return rounds
