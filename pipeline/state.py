"""The values that pass between the domain and the stores."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from pipeline.chat import Spent
from pipeline.entries import Entry, Kind, Statement, Status
from pipeline.ids import EntryId, MessageId, SegmentId
from pipeline.messages import Json, Message, Scope, Segment, TenantId
from pipeline.recall.filters import Filter, Origin
from pipeline.recall.periods import Period
from pipeline.scratchpad import DEFAULT_SLOTS, slot_of_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """A text after compression; ``fallback`` says why it is still the original, else None."""

    text: str
    fallback: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionInfo:
    """How far a collection is: ``pending`` counts messages accepted and not yet extracted.

    ``messages`` counts those that are there, without those of erased conversations. ``flushed`` is
    the sequence up to which every flush asked for is met.
    """

    scope: Scope
    last_sequence: int
    messages: int
    pending: int
    entries: int
    quarantined: int
    created_at: datetime
    flushed: int = 0
    index_lag: int = 0
    settings: Mapping[str, Json] = field(default_factory=dict)


# Awake ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to work on a collection until someone takes a higher ``epoch``.

    ``waiting`` counts the messages in no window yet when it was taken, or those in windows and
    buffers where all are.
    """

    scope: Scope
    worker: str
    epoch: int
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AwakeState:
    """Where a collection stands before a step; ``step`` counts the commits so far.

    ``windows`` holds per conversation the messages not yet cut into segments, compressed (only
    those that the accepted ones enter, unless all may have to leave or one is to be doubted);
    ``buffered`` the segments not yet extracted, in order; ``flush`` asks that all of it leaves,
    ``is_partial`` that these windows leave first, since there are more than fit one step;
    ``is_buffer_full`` that ``buffered`` holds the first of so many segments that these leave now,
    whatever the settings say. ``attempts`` counts how often the extraction of a buffered message
    failed, where it did. ``ended`` are conversations that are over, each up to a sequence.
    ``is_careful`` says that an earlier worker died or failed on one of these messages, ``failure``
    what it said, if it could.
    """

    step: int
    accepted: tuple[Message, ...]
    windows: Mapping[str, tuple[Message, ...]]
    buffered: tuple[Segment, ...]
    flush: bool
    flush_through: int
    settings: Mapping[str, Json] = field(default_factory=dict)
    attempts: Mapping[MessageId, int] = field(default_factory=dict)
    ended: Mapping[str, int] = field(default_factory=dict)
    is_partial: bool = False
    is_buffer_full: bool = False
    is_careful: bool = False
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStatement:
    """A statement with its vector ``(dim,)`` and the id it gets if it is new."""

    id: EntryId
    statement: Statement
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class AwakeCommit:
    """What one step changes.

    ``compressed`` are the accepted messages that entered a window; ``segments`` were cut in this
    step; ``extracted`` are segments (old or new) whose statements are in ``statements``;
    ``quarantined`` gives messages a reason; ``flushed_through`` is the sequence up to which a
    flush is met, ``ended`` are conversations whose end, at that sequence, is; ``survived`` are
    claimed messages that did no harm, whose attempts start anew; ``unused`` are accepted messages
    of roles that are not extracted: they are done.
    ``raws`` gives quarantined messages the reply that could not be used. ``usage`` and ``refused``
    (by reason) are what its model calls took and what of their replies was not. ``failed`` are
    messages whose extraction is to be tried again: the collection waits ``retry_after_s`` for it,
    because of ``failure``. ``arrivals`` says in which slot of the scratchpad new entries of a kind
    become items.
    """

    start_step: int
    compressed: Mapping[MessageId, Compressed] = field(default_factory=dict)
    segments: tuple[Segment, ...] = ()
    extracted: tuple[SegmentId, ...] = ()
    statements: tuple[StoredStatement, ...] = ()
    quarantined: Mapping[MessageId, str] = field(default_factory=dict)
    flushed_through: int | None = None
    ended: Mapping[str, int] = field(default_factory=dict)
    survived: tuple[MessageId, ...] = ()
    unused: tuple[MessageId, ...] = ()
    model: str = ""
    raws: Mapping[MessageId, str] = field(default_factory=dict)
    usage: tuple[Spent, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[MessageId, ...] = ()
    retry_after_s: float | None = None
    failure: str | None = None
    arrivals: Mapping[Kind, str] = field(default_factory=lambda: slot_of_kind(DEFAULT_SLOTS))

    @property
    def moves_on(self) -> bool:
        """Whether any message is further than before."""
        moved = (self.compressed, self.segments, self.extracted, self.quarantined, self.unused)
        return any(moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some entries and the cursor of the next page, None at the end."""

    entries: tuple[Entry, ...]
    cursor: str | None


# Index ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseVector:
    """Lexical weights: ``indices`` strictly increasing, as many positive ``values``."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPoint:
    """One entry version in the index; ``current`` marks the entry's newest version.

    ``period`` is when it held, None where it never did; ``labels`` are words for its metadata.
    """

    id: str
    scope: Scope
    entry: EntryId
    version: int
    current: bool
    status: Status
    kind: Kind
    speaker: str
    said_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    dense: NDArray[np.float32]
    lexical: SparseVector
    written_at: datetime | None = None
    language: str = ""
    conversations: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    period: Period | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPoint:
    """A point as it lies in the index; a field that it lacks is empty, 0 or false."""

    id: str
    scope: Scope
    entry: EntryId
    version: int
    current: bool
    status: str
    kind: str
    valid_to: str
    dense: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that does not agree; ``repaired`` says that it does now.

    ``subject`` names what it is about, by table or point and id; never by a text.
    """

    kind: str
    scope: Scope
    subject: str
    detail: str
    repaired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexQuery:
    """What to look for in collections of one tenant: newest versions in ``statuses``.

    With ``as_of`` it is the versions that held at that instant, whatever became of them.
    ``where`` narrows it; an index may let through what only the record store can judge.
    """

    tenant: TenantId
    collections: tuple[str, ...]
    dense: NDArray[np.float32]
    lexical: SparseVector
    limit: int
    statuses: tuple[Status, ...]
    kinds: tuple[Kind, ...] = ()
    where: Filter | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHit:
    """An entry version with its score: a cosine (dense) or a BM25 sum (lexical)."""

    entry: EntryId
    version: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHits:
    """Both lists for one query, best first."""

    dense: tuple[IndexHit, ...]
    lexical: tuple[IndexHit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxItem:
    """An entry that changed: ``ids`` are its outbox rows.

    ``versions`` are all versions with their vectors, oldest first, the last one current; empty
    when the entry was erased, then ``removed`` holds the ids of the points that must go.
    """

    ids: tuple[int, ...]
    scope: Scope
    entry: EntryId
    versions: tuple[tuple[Entry, NDArray[np.float32]], ...]
    removed: tuple[str, ...] = ()
    sources: Mapping[MessageId, Origin] = field(default_factory=dict)
