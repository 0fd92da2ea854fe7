"""The application's settings, read once from a Serve config and passed on as values.

Secrets never stand here: they come from the environment where they are used.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    AfterValidator,
    Field,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    model_validator,
)

from actors.calibration import min_shift, thresholds
from actors.chat_address import check_address
from pipeline.awake.shares import MOST_IN_STEP
from pipeline.errors import ConfigError, InputError
from pipeline.refusals import place_of, reason
from pipeline.settings import (
    CompressionSettings,
    ConsolidationSettings,
    DecisionSettings,
    ExtractionSettings,
    ForgettingSettings,
    LimitSettings,
    PriceSettings,
    QuotaSettings,
    RecallSettings,
    ScratchpadSettings,
    Section,
    SegmentationSettings,
    ShortTermSettings,
    WindowSettings,
)
from pipeline.sleep.windows import NIGHTLY, Schedule
from serve.loading import CHAT, EXTRACTIVE, RULES, is_fake

EMBEDDED = "embedded"
Positive = Annotated[float, Field(ge=0.0)]


def _extractor(name: str) -> str:
    if name not in (EXTRACTIVE, CHAT) and not is_fake(name):
        raise ValueError(f"expected {EXTRACTIVE} or {CHAT}, got {name!r}")
    return name


class ModelSettings(Section):
    """Which models: a packaged name, a local folder or a hub name; None leaves a part out.

    ``attention`` is the encoder that topic segmentation takes attention from; None is that of the
    embedder. ``reranker`` is a cross-encoder with one output that orders the best hits of a search.
    """

    embedder: str = "multilingual-e5-small"
    tokenizer: str = "multilingual-e5-small"
    compressor: str | None = "SmolLM2-135M-Instruct"
    attention: str | None = None
    reranker: str | None = None
    extractor: Annotated[str, AfterValidator(_extractor)] = EXTRACTIVE
    decider: Literal["rules-baseline", "chat"] = RULES
    threads: PositiveInt = 2


class VllmSettings(Section):
    """A model that vLLM runs inside the ``Chat`` replicas.

    ``engine`` holds arguments of vLLM's engine, ``env`` environment variables of the replica.
    """

    model: str
    engine: Mapping[str, Any] = Field(default_factory=dict)
    env: Mapping[str, str] = Field(default_factory=dict)


class ChatSettings(Section):
    """A chat model: an ``endpoint`` with the ``model`` it is to use, or ``vllm``.

    ``key_env`` names the environment variable of the endpoint's key. ``timeout_s`` bounds one of
    ``attempts`` tries, ``patience_s`` one wait for room. ``requests_per_minute`` and
    ``tokens_per_minute`` hold for all replicas together, ``in_flight`` for each. ``structured``
    says what the endpoint enforces of a reply's schema: all of it, that the reply is JSON, or
    nothing; replies are checked in any case. ``has_vision`` says that the model can look at images.
    """

    endpoint: str | None = None
    model: str = ""
    vllm: VllmSettings | None = None
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    timeout_s: PositiveFloat = 60.0
    attempts: PositiveInt = 4
    patience_s: PositiveFloat = 60.0
    requests_per_minute: PositiveFloat | None = None
    tokens_per_minute: PositiveFloat | None = None
    in_flight: PositiveInt = 32
    structured: Literal["json_schema", "json_object", "none"] = "json_schema"
    max_reply_chars: PositiveInt = 200_000
    tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    has_temperature: bool = True
    has_vision: bool = False
    plain_http: bool = False

    @model_validator(mode="after")
    def _names_one_model(self) -> Self:
        if self.vllm is not None and (self.endpoint is not None or self.model):
            raise ValueError("expected either an endpoint with its model or vllm, got both")
        if self.vllm is None and not self.model:
            raise ValueError("expected the model that the endpoint is to use, or vllm")
        if self.vllm is None and self.endpoint is None and not is_fake(self.model):
            raise ValueError("expected the address of the endpoint, or vllm")
        if self.endpoint is not None:
            check_address(self.endpoint, plain_http=self.plain_http)
        return self

    @property
    def name(self) -> str:
        """The model's name, as usage is recorded under."""
        return self.model if self.vllm is None else self.vllm.model


class StoreSettings(Section):
    """Where state lies; None takes a file under the home folder.

    ``index`` is ``embedded`` or the address of a Qdrant server, whose key QDRANT_API_KEY holds.

    ``records_owner`` names the PostgreSQL database of ``records`` as the role that owns its
    tables and upgrades them; the service itself connects as another.
    """

    records: str | None = None
    records_owner: str | None = None
    index: Annotated[str, Field(pattern=r"^(embedded|https?://.+)$")] = EMBEDDED


class AccessSettings(Section):
    """Who may call: without required keys every caller is the default tenant."""

    keys_required: bool = True
    default_tenant: Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,63}$")] = "default"


class WorkerSettings(Section):
    """The ingest workers' appetite.

    ``lanes`` work side by side in one replica, each on up to ``leases`` collections with what the
    models do in ``step_s``, up to ``messages`` in all; ``attempts`` is how often a message may be
    at hand when a worker dies or fails before it is quarantined.
    """

    lanes: PositiveInt = 2
    leases: PositiveInt = 16
    messages: Annotated[int, Field(ge=1, le=MOST_IN_STEP)] = MOST_IN_STEP
    step_s: PositiveFloat = 10.0
    attempts: PositiveInt = 5
    lease_s: PositiveFloat = 60.0
    poll_s: PositiveFloat = 0.2


class DeploymentSettings(Section):
    """One Serve deployment: replicas, resources and queue; the rest are Serve's defaults."""

    num_replicas: PositiveInt = 1
    num_cpus: Positive = 1.0
    num_gpus: Positive = 0.0
    max_ongoing_requests: PositiveInt = 64
    max_queued_requests: PositiveInt = 1000


DeploymentName = Literal[
    "Ingress",
    "Embedder",
    "Compressor",
    "Segmenter",
    "Reranker",
    "Chat",
    "ChatRoom",
    "IngestWorkers",
]


class SleepJobSettings(Section):
    """How many workers the stages of the sleep job have at most.

    ``targets`` is how many targets a decider is given at once. Above 0, ``neighbour_gpus`` is the
    share of a GPU on which one worker multiplies vectors.
    """

    readers: PositiveInt = 2
    neighbours: PositiveInt = 2
    neighbour_gpus: Annotated[float, Field(ge=0, le=1)] = 0.0
    queuers: PositiveInt = 2
    deciders: PositiveInt = 1
    writers: PositiveInt = 2
    tenders: PositiveInt = 2
    targets: PositiveInt = 64


class ScheduleSettings(Section):
    """When tenants sleep that have no schedule of their own; crons are read in the tenant's zone.

    The fields are those of ``pipeline.sleep.windows.Schedule``.
    """

    name: str = NIGHTLY
    cron: str | None = None
    max_s: PositiveFloat = 4 * 3600.0
    max_tokens: PositiveInt | None = None
    idle_s: PositiveFloat | None = None

    @model_validator(mode="after")
    def _is_a_schedule(self) -> Self:
        try:
            self.schedule()
        except InputError as error:
            raise ValueError(f"{error.field}: {error.message}") from error
        return self

    def schedule(self) -> Schedule:
        """It as a schedule, in UTC."""
        return Schedule(**self.model_dump())


class AppSettings(Section):
    """Everything ``serve.app:build`` takes; unknown keys are refused by name."""

    home: Path
    models_dir: Path
    models: ModelSettings = ModelSettings()
    chat: ChatSettings | None = None
    stores: StoreSettings = StoreSettings()
    access: AccessSettings = AccessSettings()
    workers: WorkerSettings = WorkerSettings()
    compression: CompressionSettings = CompressionSettings()
    window: WindowSettings = WindowSettings()
    segmentation: SegmentationSettings = SegmentationSettings()
    short_term: ShortTermSettings = ShortTermSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    sleep_job: SleepJobSettings = SleepJobSettings()
    schedule: ScheduleSettings | None = None
    scratchpad: ScratchpadSettings = ScratchpadSettings()
    forgetting: ForgettingSettings = ForgettingSettings()
    recall: RecallSettings = RecallSettings()
    decisions: DecisionSettings = DecisionSettings()
    limits: LimitSettings = LimitSettings()
    quotas: QuotaSettings = QuotaSettings()
    prices: Mapping[str, PriceSettings] = Field(default_factory=dict)
    deployments: Mapping[DeploymentName, DeploymentSettings] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_what_it_asks(self) -> Self:
        asking = {"extractor": self.models.extractor, "decider": self.models.decider}
        for part, name in asking.items():
            if name == CHAT and self.chat is None:
                where = f"models.{part}"
                raise ConfigError(
                    f"setting {where}: {CHAT} asks the chat model of the section chat; expected "
                    "chat.endpoint with chat.model, or chat.vllm, got no section chat",
                    field=where,
                )
        return self

    @property
    def records_url(self) -> str:
        """The record store's SQLAlchemy URL."""
        return self.stores.records or f"sqlite:///{self.home / 'records.sqlite'}"

    @property
    def attention(self) -> str:
        """The model that attention is taken from; the embedder's encoder where none is set."""
        return self.models.attention or self.models.embedder

    @property
    def min_shift(self) -> float:
        """The least shift of a topic boundary; the embedding model's where none is set."""
        asked = self.segmentation.min_shift
        return min_shift(self.models.embedder) if asked is None else asked

    @property
    def max_similarity(self) -> float:
        """The cosine of the published rule; the embedding model's where none is set."""
        asked = self.segmentation.max_similarity
        return thresholds(self.models.embedder).max_similarity if asked is None else asked

    @property
    def min_similarity(self) -> float:
        """The threshold of sleep candidates; the embedding model's where none is set."""
        asked = self.consolidation.min_similarity
        return thresholds(self.models.embedder).min_similarity if asked is None else asked

    @property
    def default_schedule(self) -> Schedule | None:
        """When tenants sleep that do not say it themselves; None where they do not."""
        return None if self.schedule is None else self.schedule.schedule()

    @property
    def index_folder(self) -> Path:
        """Where the embedded index lies."""
        return self.home / "index"


def load(path: Path, *, home: Path, models_dir: Path) -> AppSettings:
    """The settings of a config file (its ``args`` section) for one home folder.

    Raises:
        ConfigError: the file cannot be read, or holds an unknown key or a wrong value; the
            message names the key and what was expected.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} cannot be read as YAML: {error}") from error
    args = _args(document, path)
    return parse({**args, "home": home, "models_dir": models_dir})


def parse(args: Mapping[str, object]) -> AppSettings:
    """Settings from plain values. Raises ConfigError naming the key."""
    try:
        return AppSettings.model_validate(args)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in place_of(first))
        raise ConfigError(f"setting {where}: {reason(first, AppSettings)}", field=where) from error


_SERVE_KEYS = frozenset(
    ("proxy_location", "http_options", "grpc_options", "logging_config", "applications")
)
_APPLICATION_KEYS = frozenset(
    ("name", "route_prefix", "import_path", "args", "runtime_env", "external_scaler_enabled")
)


def _known(found: Mapping[Any, object], known: frozenset[str], path: Path) -> None:
    """Raises ConfigError naming the first key that Serve would not read."""
    for key in found.keys() - known:
        raise ConfigError(
            f"{path}: unknown key {key!r}, expected one of {', '.join(sorted(known))}", field=key
        )


def _args(document: object, path: Path) -> Mapping[str, object]:
    if isinstance(document, dict):
        _known(document, _SERVE_KEYS, path)
    match document:
        case {"applications": [{"name": "slowwave", **application}]}:
            _known(application, _APPLICATION_KEYS, path)
            args = application.get("args") or {}
            if isinstance(args, dict):
                return args
    raise ConfigError(
        f"{path}: expected a Serve config with one application named slowwave and its args"
    )
