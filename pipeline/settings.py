"""Settings as frozen sections; unknown keys are refused. Read once in ``serve``, passed as values.

Defaults are LightMem's published ones (arXiv 2510.18866, sections 3 and 4) unless a reason stands
beside them.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    model_validator,
)

from pipeline.awake.segment import Rule
from pipeline.awake.shortterm import Granularity, Trigger
from pipeline.entries import Kind
from pipeline.errors import InputError
from pipeline.messages import Json, Role
from pipeline.refusals import place_of, reason
from pipeline.scratchpad import DEFAULT_SLOTS, Slot
from pipeline.sleep.forgetting import HALF_LIFE_DAYS, Forgetting
from pipeline.storable import check_text

Cosine = Annotated[float, Field(ge=-1.0, le=1.0)]
Rate = Annotated[float, Field(gt=0.0, le=1.0)]

_YEAR_S = 366 * 86_400
MOST_PROMPT_CHARS = 20_000
"""How long an extraction prompt of a collection may be."""


def _in_order_of_triggers(given: tuple[Trigger, ...]) -> tuple[Trigger, ...]:
    return tuple(one for one in Trigger if one in given)


def _in_order_of_roles(given: tuple[Role, ...]) -> tuple[Role, ...]:
    return tuple(one for one in Role if one in given)


def _storable(text: str) -> str:
    check_text(text)
    return text


Triggers = Annotated[
    tuple[Trigger, ...], Field(min_length=1), AfterValidator(_in_order_of_triggers)
]
Roles = Annotated[tuple[Role, ...], Field(min_length=1), AfterValidator(_in_order_of_roles)]
Prompt = Annotated[
    str,
    Field(min_length=1, max_length=MOST_PROMPT_CHARS, pattern=r"\S"),
    AfterValidator(_storable),
]
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
IdleSeconds = Annotated[float, Field(gt=0.0, le=_YEAR_S)]


class Section(BaseModel):
    """A frozen group of settings that refuses unknown keys by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class CompressionSettings(Section):
    """How much of each message is kept, by tokens."""

    enabled: bool = True
    rate: Rate = 0.6


class WindowSettings(Section):
    """The sensory buffer of a conversation and when it is emptied without being full."""

    capacity_tokens: PositiveInt = 512
    idle_s: PositiveFloat = 60.0


class SegmentationSettings(Section):
    """Topic boundaries; None takes the threshold calibrated for the embedding model.

    ``min_shift`` is of the rules ``combined`` and ``similarity``: lower cuts more often.
    ``max_similarity`` is of ``paper``.
    """

    rule: Rule = Rule.COMBINED
    min_shift: PositiveFloat | None = None
    max_similarity: Cosine | None = None


class ShortTermSettings(Section):
    """The buffer of segments in front of extraction, and what makes them leave it.

    ``turns`` is how many turns of a conversation may wait, for the trigger of that name.
    """

    capacity_tokens: PositiveInt = 512
    triggers: Triggers = (Trigger.TOKENS, Trigger.IDLE, Trigger.FLUSH)
    turns: Count | None = None
    granularity: Granularity = Granularity.SEGMENT

    @model_validator(mode="after")
    def _is_supported(self) -> Self:
        check_triggers(self.triggers, turns=self.turns, granularity=self.granularity)
        return self


class ExtractionSettings(Section):
    """What becomes an entry; ``calls`` is how many batches one worker has extracted at once.

    For a chat model: a reply that cannot be used is asked for again ``attempts`` times; an endpoint
    that does not answer is asked again later, first after ``retry_s``, and after ``failures`` times
    the messages are quarantined. One call holds at most about ``request_tokens`` of messages and
    ``reply_tokens`` of reply.
    """

    calls: PositiveInt = 4
    max_entry_tokens: PositiveInt = 200
    roles: Roles = tuple(Role)
    attempts: Annotated[int, Field(ge=0, le=10)] = 2
    failures: PositiveInt = 8
    retry_s: PositiveFloat = 10.0
    request_tokens: PositiveInt = 6000
    reply_tokens: PositiveInt = 4096


class ConsolidationSettings(Section):
    """Sleep; None takes the threshold calibrated for the embedding model.

    ``absorb`` lets a candidate rest that the updated target holds whole.
    """

    neighbours: PositiveInt = 20
    queue_length: PositiveInt = 10
    min_similarity: Cosine | None = None
    absorb: bool = False


class SlotSettings(Section):
    """A slot of the scratchpad: the kinds that arrive in it, and whether it is never shortened."""

    kinds: tuple[Kind, ...] = ()
    protected: bool = False


def _slots_agree(given: Mapping[str, SlotSettings]) -> Mapping[str, SlotSettings]:
    kinds = [kind for slot in given.values() for kind in slot.kinds]
    twice = sorted({kind for kind in kinds if kinds.count(kind) > 1})
    if twice:
        raise ValueError(f"expected each kind in one slot at most, got {', '.join(twice)} in two")
    return given


SlotName = Annotated[str, Field(pattern=r"^[^\W_][\w -]{0,62}$"), AfterValidator(_storable)]
SlotsByName = Annotated[
    Mapping[SlotName, SlotSettings], Field(min_length=1), AfterValidator(_slots_agree)
]


def slots_by_name(slots: Iterable[Slot]) -> dict[str, SlotSettings]:
    """The slots as settings name them."""
    return {one.name: SlotSettings(kinds=one.kinds, protected=one.is_protected) for one in slots}


def slots_of(named: Mapping[str, SlotSettings]) -> tuple[Slot, ...]:
    """The slots that settings name."""
    return tuple(
        Slot(name=name, kinds=one.kinds, is_protected=one.protected) for name, one in named.items()
    )


class ScratchpadSettings(Section):
    """The scratchpad, by LIGHT's numbers (arXiv 2510.27246): beyond ``threshold_tokens`` sleep
    makes it fit ``target_tokens``.

    With a chat model one call reads about ``request_tokens``, ``calls`` run at once for one
    collection, and a reply that cannot be used is asked for again ``attempts`` times.
    """

    slots: SlotsByName = Field(default_factory=lambda: slots_by_name(DEFAULT_SLOTS))
    threshold_tokens: PositiveInt = 30_000
    target_tokens: PositiveInt = 15_000
    request_tokens: PositiveInt = 6_000
    calls: PositiveInt = 4
    attempts: Annotated[int, Field(ge=0, le=10)] = 1

    @model_validator(mode="after")
    def _shrinks(self) -> Self:
        if self.target_tokens > self.threshold_tokens // 2:
            raise ValueError(
                f"target_tokens: expected at most half of threshold_tokens, "
                f"{self.threshold_tokens // 2}, got {self.target_tokens}"
            )
        return self


class ForgettingSettings(Section):
    """What sleep archives: entries whose strength, halved every ``half_life_days``, sank below
    ``floor``, and the weakest beyond ``capacity_entries`` of a collection.

    A kind of null days never decays and is never archived; a kind left out is as by default.
    ``merge_duplicates`` joins entries that say the same in nearly the same words.
    """

    half_life_days: Mapping[Kind, PositiveFloat | None] = Field(default_factory=dict)
    floor: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.05
    capacity_entries: Count | None = None
    merge_duplicates: bool = True

    def policy(self, *, capacity: int | None) -> Forgetting:
        """The policy for a collection of that capacity of its own; None has the service's."""
        return Forgetting(
            half_life_days={**HALF_LIFE_DAYS, **self.half_life_days},
            floor=self.floor,
            capacity=self.capacity_entries if capacity is None else capacity,
        )


Weight = Annotated[float, Field(ge=0.0, le=100.0)]


class RecallSettings(Section):
    """Search and context; ``rrf_k`` is measured (docs/decisions/0003-index-text.md).

    The weights are those of a search that names none: of the dense and the lexical list in the
    fusion, and of strength and newness beside the match, whose weight is 1. ``min_score`` is the
    relevance below which a hit is left out. A reranker reads the best ``reranked`` hits.
    A context has ``context_tokens``, its layers at most what is set for them; where nothing is,
    instructions have a fifth of the whole, other items of the scratchpad a tenth, and memories what
    the others leave. An answer has at most ``answer_tokens``; where the best memory is less
    relevant than ``answer_min_score``, no model is asked.
    """

    prefetch: PositiveInt = 100
    rrf_k: PositiveInt = 20
    dense_weight: Weight = 1.0
    lexical_weight: Weight = 1.0
    strength_weight: Weight = 0.0
    recency_weight: Weight = 0.0
    recency_half_life_days: PositiveFloat = 30.0
    min_score: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    reranked: PositiveInt = 30
    context_tokens: PositiveInt = 2000
    working_memory_tokens: PositiveInt = 8000
    episodic_tokens: PositiveInt | None = None
    instruction_tokens: PositiveInt | None = None
    scratchpad_tokens: PositiveInt | None = None
    answer_min_score: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    answer_tokens: PositiveInt = 1024


class DecisionSettings(Section):
    """Decisions of sleep by a chat model.

    ``calls`` is how many targets one worker has in flight at once; a reply that cannot be used is
    asked for again ``attempts`` times and holds at most ``reply_tokens``.
    """

    calls: PositiveInt = 16
    attempts: Annotated[int, Field(ge=0, le=10)] = 2
    reply_tokens: PositiveInt = 1024


class PriceSettings(Section):
    """What a million tokens of a model cost, in whatever currency all prices are."""

    tokens_in: Annotated[float, Field(ge=0)] = 0.0
    tokens_out: Annotated[float, Field(ge=0)] = 0.0


class LimitSettings(Section):
    """What a request may hold, and how long its body may take to come.

    64 KiB of a body buy it one more second than ``body_s``; ``arriving_bodies`` is how many
    requests may be on their way at once.
    """

    message_chars: PositiveInt = 200_000
    batch_messages: PositiveInt = 1_000
    body_bytes: PositiveInt = 16 * 1024 * 1024
    body_s: PositiveFloat = 15.0
    arriving_bodies: PositiveInt = 1_000


class QuotaSettings(Section):
    """What each tenant may use unless it has quotas of its own; None is no limit.

    The lag limit keeps acceptance from outrunning extraction without end.
    """

    messages_per_minute: PositiveInt | None = None
    stored_entries: PositiveInt | None = None
    lag_messages: PositiveInt | None = 100_000


def check_triggers(
    triggers: tuple[Trigger, ...], *, turns: int | None, granularity: Granularity
) -> None:
    """Raises ValueError where a trigger could never fire, or a number has no trigger."""
    named = ", ".join(triggers)
    if Trigger.TURNS in triggers and turns is None:
        raise ValueError(
            "turns: expected how many turns may wait, as the trigger turns needs it, got no number"
        )
    if turns is not None and Trigger.TURNS not in triggers:
        raise ValueError(f"turns: expected the trigger turns beside it, got the triggers {named}")
    if Trigger.TOPIC_SHIFT in triggers and granularity is Granularity.TURN:
        raise ValueError(
            "triggers: topic_shift looks for no topics with granularity turn, where every turn is "
            "a segment of its own"
        )


class CollectionSettings(Section):
    """What a collection does otherwise than the service; None is the service's setting.

    ``window_tokens`` and ``short_term_tokens`` are the thresholds of the window and of the
    short-term buffer (the paper's 256 to 1,024, or any other); ``turns`` and ``idle_s`` belong to
    the triggers of these names; ``roles`` are those extracted; ``prompt`` is the text that a
    language model is asked to extract by; ``capacity_entries`` is beyond how many entries sleep
    archives the weakest; ``slots`` are those of its scratchpad.
    """

    triggers: Triggers | None = None
    turns: Count | None = None
    idle_s: IdleSeconds | None = None
    granularity: Granularity | None = None
    roles: Roles | None = None
    compression: bool | None = None
    rate: Rate | None = None
    window_tokens: Count | None = None
    short_term_tokens: Count | None = None
    min_shift: PositiveFloat | None = None
    prompt: Prompt | None = None
    max_entry_tokens: Count | None = None
    capacity_entries: Count | None = None
    slots: SlotsByName | None = None

    @property
    def own(self) -> dict[str, Json]:
        """What is set, as JSON."""
        return self.model_dump(mode="json", exclude_none=True)

    def over(self, service: "CollectionSettings") -> "CollectionSettings":
        """What is in force where the service's settings are these."""
        set_here = {name: value for name, value in self if value is not None}
        return service.model_copy(update=set_here)

    def changed(self, changes: "CollectionSettings") -> "CollectionSettings":
        """With what ``changes`` names; None there takes a setting back."""
        named = {name: getattr(changes, name) for name in changes.model_fields_set}
        return self.model_copy(update=named)


def collection_settings(stored: Mapping[str, Json]) -> CollectionSettings:
    """The settings of plain values. Raises InputError naming the first wrong key."""
    try:
        return CollectionSettings.model_validate(stored)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(["settings", *map(str, place_of(first))])
        told = reason(first, CollectionSettings)
        raise InputError(f"{where}: {told}", field=where) from error
