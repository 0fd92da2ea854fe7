"""Settings as frozen sections; unknown keys are refused. Read once in ``serve``, passed as values.

Defaults are LightMem's published ones (arXiv 2510.18866, sections 3 and 4) unless a reason stands
beside them.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt

from pipeline.awake.segment import Rule

Cosine = Annotated[float, Field(ge=-1.0, le=1.0)]
Rate = Annotated[float, Field(gt=0.0, le=1.0)]


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
    """Topic boundaries; None takes the threshold calibrated for the embedding model."""

    rule: Rule = Rule.SIMILARITY
    max_similarity: Cosine | None = None


class ShortTermSettings(Section):
    """The buffer of segments in front of extraction."""

    capacity_tokens: PositiveInt = 512


class ExtractionSettings(Section):
    """What becomes an entry; ``calls`` is how many batches one worker has extracted at once."""

    calls: PositiveInt = 4
    max_entry_tokens: PositiveInt = 200


class ConsolidationSettings(Section):
    """Sleep; None takes the threshold calibrated for the embedding model."""

    neighbours: PositiveInt = 20
    queue_length: PositiveInt = 10
    min_similarity: Cosine | None = None


class RecallSettings(Section):
    """Search and context; ``rrf_k`` is measured (docs/decisions/0003-index-text.md)."""

    prefetch: PositiveInt = 100
    rrf_k: PositiveInt = 20
    context_tokens: PositiveInt = 2000
    working_memory_tokens: PositiveInt = 8000


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
