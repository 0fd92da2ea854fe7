"""What requests may hold: checked for shape here, for meaning in the domain."""

from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
)

from pipeline.entries import Kind, Status
from pipeline.names import MOST_CHARS, check_name
from pipeline.recall.forms import Form
from pipeline.recall.placement import Placement
from pipeline.storable import check_json, check_text

HIGHEST_SEQUENCE = 2**63 - 1
"""The highest sequence that there can be."""


def _clean(text: str) -> str:
    check_text(text)
    return text


def _in_paths(name: str) -> str:
    check_name(name)
    return name


def _time(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (str, int, float, type(None))):
        raise ValueError(f"expected a time as text or number, got {type(value).__name__}")
    return value


def _clean_metadata(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    check_json(value)
    return value


Time = Annotated[str | int | float | None, BeforeValidator(_time)]
Text = Annotated[str, AfterValidator(_clean)]
Name = Annotated[Text, Field(min_length=1, max_length=MOST_CHARS)]
PathName = Annotated[Name, AfterValidator(_in_paths)]
Id = Annotated[Text, Field(max_length=MOST_CHARS)]
Metadata = Annotated[dict[str, JsonValue], AfterValidator(_clean_metadata)]


FILTERS: list[JsonValue] = [
    {"kind": {"in": ["event", "fact"]}, "said_at": {"gte": "2025-03-01", "lt": "2025-04-01"}},
    {"or": [{"speaker": "Mara"}, {"metadata.project": "atlas"}], "not": {"language": "zh"}},
]
"""What a filter looks like."""


class Body(BaseModel):
    """A request body; unknown fields are refused by name."""

    model_config = ConfigDict(extra="forbid")


class ImageIn(Body):
    """An image of a message: its ``https:`` or ``data:`` address, and its caption if there is one.

    Only the caption is kept, behind the message's words.
    """

    url: Annotated[Text, Field(min_length=1)]
    caption: Annotated[Text, Field(min_length=1, max_length=5_000)] | None = None


class MessageIn(Body):
    """One message as a caller sends it; ``said_at`` takes the forms of the user guide.

    An image enters by its ``caption``; then ``content`` may be empty.
    """

    role: str
    content: str
    caption: Text | None = None
    speaker: Annotated[Text, Field(max_length=MOST_CHARS)] | None = None
    said_at: Time = None
    zone: Annotated[Text, Field(max_length=64)] | None = None
    message_id: Name | None = None
    metadata: Metadata = Field(default_factory=dict)
    images: Annotated[list[ImageIn], Field(max_length=8)] = Field(default_factory=list)


class MessagesIn(Body):
    """Messages of one conversation, accepted all or none."""

    conversation: PathName = "default"
    zone: Annotated[Text, Field(max_length=64)] | None = None
    messages: Annotated[list[MessageIn], Field(min_length=1)]
    wait: bool = False


class FlushIn(Body):
    """Extract what is still open, now."""

    wait: bool = False


Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class WeightsIn(Body):
    """How much the dense and the lexical list, strength and newness count; as set where null."""

    dense: Weight | None = None
    lexical: Weight | None = None
    strength: Weight | None = None
    recency: Weight | None = None


class AskIn(Body):
    """A question to entries; ``filter`` and ``as_of`` take the forms of the user guide."""

    query: Annotated[Text, Field(min_length=1, max_length=10_000)]
    kinds: list[Kind] = Field(default_factory=list)
    filter: Annotated[Metadata | None, Field(examples=FILTERS)] = None
    as_of: Annotated[Time, Field(examples=["2025-03-05", "2025-03-05T14:30:00+08:00"])] = None
    weights: WeightsIn = WeightsIn()
    min_score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    rerank: bool | None = None


class SearchIn(AskIn):
    """A question to the entries of one collection."""

    limit: Annotated[int, Field(ge=1, le=200)] = 10
    statuses: list[Status] = Field(default_factory=list)
    neighbours: Annotated[int, Field(ge=0, le=5)] = 0
    explain: bool = False


class SearchManyIn(SearchIn):
    """A question to the entries of several collections of the tenant."""

    collections: Annotated[list[Name], Field(min_length=1, max_length=100)]


LayerTokens = Annotated[int, Field(ge=0, le=200_000)]


class ContextIn(AskIn):
    """A question and the room its answer's context may take, as a whole and by layer."""

    budget_tokens: Annotated[int, Field(ge=50, le=200_000)] | None = None
    working_memory_tokens: LayerTokens | None = None
    episodic_tokens: LayerTokens | None = None
    instruction_tokens: LayerTokens | None = None
    scratchpad_tokens: LayerTokens | None = None
    form: Form | None = None
    placement: Placement | None = None


class AnswerIn(ContextIn):
    """A question to be answered; with ``store`` it and its answer are kept as messages."""

    store: bool = False
    conversation: PathName = "default"


class EntryPatch(Body):
    """A correction; what is left out stays."""

    text: Annotated[Text, Field(min_length=1, max_length=20_000)] | None = None
    status: Status | None = None
    metadata: Metadata | None = None
