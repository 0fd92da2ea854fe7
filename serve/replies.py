"""The API's replies as the client and the CLI read them; times are RFC 3339 in UTC."""

from typing import TypedDict

from pydantic import JsonValue


class Accepted(TypedDict):
    """One accepted message: Slowwave's id, the caller's, and its place."""

    id: str
    message_id: str | None
    sequence: int


class Accept(TypedDict):
    """What was accepted; ``searchable`` is set when the caller waited."""

    sequences: list[int]
    messages: list[Accepted]
    searchable: bool | None


class Flush(TypedDict):
    """The sequence up to which everything is asked to be extracted."""

    through: int
    searchable: bool | None


class End(TypedDict):
    """A conversation that ended, and the sequence of its last message."""

    conversation: str
    through: int


class Collection(TypedDict):
    """How far a collection is; ``index_lag`` counts index changes still to be made."""

    collection: str
    messages: int
    pending: int
    entries: int
    quarantined: int
    index_lag: int


class Segment(TypedDict):
    """Consecutive turns of one conversation on one topic."""

    id: str
    conversation: str
    topic: str
    first_sequence: int
    last_sequence: int
    messages: int


class Source(TypedDict):
    """A message that an entry came from; only ``id`` is there when the message is gone."""

    id: str
    conversation: str | None
    message_id: str | None
    sequence: int | None
    section: str | None


class Message(TypedDict):
    """A message with its place and how far it has walked in."""

    id: str
    sequence: int
    conversation: str
    message_id: str | None
    role: str
    speaker: str
    content: str
    compressed: str | None
    said_at: str
    zone: str
    state: str
    redacted_at: str | None


class Entry(TypedDict):
    """An entry in one version."""

    id: str
    collection: str
    version: int
    text: str
    kind: str
    status: str
    speaker: str
    said_at: str
    zone: str
    language: str
    valid_from: str
    valid_to: str | None
    superseded_by: str | None
    sources: list[Source]
    attributes: dict[str, str] | None
    entities: list[str]
    topic: str
    task_state: str | None
    metadata: dict[str, JsonValue]
    strength: float
    written_by: str
    written_at: str


class Entries(TypedDict):
    """A page of entries, oldest first, and the cursor of the next page."""

    entries: list[Entry]
    cursor: str | None


class Hit(TypedDict):
    """A found entry, its score in 0..1, and the neighbouring turns where they were asked for."""

    entry: Entry
    score: float
    explain: dict[str, float | None] | None
    around: list[Message]


class Line(TypedDict):
    """One line of a context: the tag it carries there, and what it rests on."""

    tag: int
    text: str
    entries: list[str]
    sources: list[Source]


class Evidence(TypedDict):
    """One side of a conflict; ``said_at`` is null for what the question itself asks for."""

    text: str
    layer: str
    said_at: str | None
    entries: list[str]
    sources: list[Source]


class Conflict(TypedDict):
    """Two that disagree, or one that is unsure (``against`` is null), and what to ask."""

    reason: str
    question: str
    stands: Evidence
    against: Evidence | None


class PromptMessage(TypedDict):
    """A message for a chat model."""

    role: str
    content: str


class Context(TypedDict):
    """What a model should read, its lines by section, what they cite, and the recall's id."""

    recall: str
    text: str
    tokens: int
    language: str
    parts: dict[str, list[Line]]
    entries: list[str]
    messages: list[str]
    conflicts: list[Conflict]
    form: str
    prompt: list[PromptMessage]


class RecalledEntry(TypedDict):
    """An entry that a recall returned, its version then, and its score where it was ranked."""

    entry: str
    collection: str
    version: int
    score: float | None


class Recall(TypedDict):
    """A recall; ``query`` is None where only its digest is kept."""

    id: str
    kind: str
    created_at: str
    collections: list[str]
    query: str | None
    query_hash: str
    entries: list[RecalledEntry]
    tokens: int
    seconds: float


class Reason(TypedDict):
    """Why an entry was returned: its text then; it and its messages now, as far as they are."""

    recalled: RecalledEntry
    text: str | None
    now: Entry | None
    messages: list[Message]


class Why(TypedDict):
    """A recall and what each of its entries rests on."""

    recall: Recall
    reasons: list[Reason]


class RecallKeeping(TypedDict):
    """What is kept of a question (hash or text), and for how many days."""

    query: str
    days: int


class Found(TypedDict):
    """Found entries, best first, and the id of the recall that this was."""

    recall: str
    hits: list[Hit]


class Version(TypedDict):
    """One version of an entry, why it was written, and the sleep run that wrote it."""

    entry: Entry
    why: str
    run: str | None


class Run(TypedDict):
    """A sleep run and how it stands."""

    id: str
    status: str
    dry_run: bool
    window_start: str
    started_at: str
    finished_at: str | None
    totals: dict[str, int]
    error: str | None
    undone: bool
    trigger: str
    deadline: str | None
    max_tokens: int | None
    tokens: int
    attempt: int
    stop: str | None


class Candidate(TypedDict):
    """A newer entry that the decider saw, with its text then."""

    entry: str
    version: int
    similarity: float
    text: str | None


class Decision(TypedDict):
    """One row of the ledger of a run."""

    collection: str
    target: str
    action: str
    reason: str
    state: str
    note: str | None
    text_before: str
    text_after: str | None
    candidates: list[Candidate]
    absorbed: list[str]
    decider: str


class UndoItem(TypedDict):
    """What undo or redo did with one entry; ``refused`` says why it did not.

    ``kind`` is decision, archive, merge or item; of an item ``entry`` is the item's id.
    """

    kind: str
    entry: str
    done: bool
    refused: str | None
