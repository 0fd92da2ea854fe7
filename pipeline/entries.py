"""What is remembered: statements, entries, their versions, and the decisions of sleep."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pipeline.ids import EntryId, MessageId, RunId
from pipeline.messages import Json


class Kind(StrEnum):
    """What sort of statement an entry is."""

    FACT = "fact"
    OPINION = "opinion"
    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    EVENT = "event"
    TASK = "task"
    RELATION = "relation"
    SUMMARY = "summary"


class Status(StrEnum):
    """Whether an entry still holds."""

    ACTIVE = "active"
    OUTDATED = "outdated"
    CONTRADICTED = "contradicted"
    TENTATIVE = "tentative"
    ARCHIVED = "archived"


CURRENT = (Status.ACTIVE, Status.TENTATIVE)
"""The statuses that search returns when no instant is asked for."""


class Writer(StrEnum):
    """Who wrote a version; what ingestion and users write is due for sleep, the rest is not."""

    INGEST = "ingest"
    USER = "user"
    SLEEP = "sleep"
    UNDO = "undo"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class OrderKey:
    """The total order of a collection's entries: of two, exactly one is older."""

    said_at: datetime
    sequence: int
    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """What a statement says of whom: ``subject`` has ``value`` for ``key``."""

    subject: str
    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One standalone sentence taken from messages; not stored yet.

    ``sources`` are the ids of the messages it was said in, the decisive one first;
    ``said_at`` (UTC), ``zone``, ``speaker`` and ``sequence`` are those of the first source.
    ``ordinal`` is its place, from 0, among the statements with that first source.
    """

    text: str
    kind: Kind
    speaker: str
    said_at: datetime
    zone: str
    language: str
    sources: tuple[MessageId, ...]
    sequence: int
    ordinal: int
    status: Status = Status.ACTIVE
    attributes: Attributes | None = None
    entities: tuple[str, ...] = ()
    topic: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One remembered statement in its present version.

    ``valid_from`` is when it began to hold and survives updates; ``valid_to`` and
    ``superseded_by`` are set when it stops. Strength and last use change no version.
    """

    id: EntryId
    version: int
    text: str
    kind: Kind
    status: Status
    speaker: str
    said_at: datetime
    zone: str
    language: str
    order: OrderKey
    valid_from: datetime
    sources: tuple[MessageId, ...]
    written_by: Writer
    written_at: datetime
    valid_to: datetime | None = None
    superseded_by: EntryId | None = None
    attributes: Attributes | None = None
    entities: tuple[str, ...] = ()
    topic: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    strength: float = 1.0
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryVersion:
    """A version as it was written: the entry then, by whom and why."""

    entry: Entry
    why: str
    run: RunId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChange:
    """What a user corrects; None leaves a field as it is."""

    text: str | None = None
    status: Status | None = None
    metadata: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A newer entry that bears on a target; ``similarity`` is a cosine in -1..1."""

    entry: Entry
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A target and the newer entries that bear on it, most similar first; never empty."""

    target: Entry
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """The target's text becomes ``text``, the union with what ``used`` add or refine."""

    text: str
    used: tuple[EntryId, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """The target no longer holds because of ``superseded_by``, one of the candidates."""

    superseded_by: EntryId
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignore:
    """Unrelated or unsure: nothing changes."""

    reason: str


Decision = Update | Delete | Ignore
"""What sleep does with a target (arXiv 2510.18866, section 3.3)."""
