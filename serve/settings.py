"""The application's settings, read once from a Serve config and passed on as values.

Secrets never stand here: they come from the environment where they are used.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, PositiveFloat, PositiveInt, ValidationError

from actors.calibration import thresholds
from pipeline.awake.shares import MOST_IN_STEP
from pipeline.errors import ConfigError
from pipeline.settings import (
    CompressionSettings,
    ConsolidationSettings,
    ExtractionSettings,
    LimitSettings,
    QuotaSettings,
    RecallSettings,
    Section,
    SegmentationSettings,
    ShortTermSettings,
    WindowSettings,
)
from serve.loading import EXTRACTIVE

Positive = Annotated[float, Field(ge=0.0)]


class ModelSettings(Section):
    """Which models: a packaged name, a local folder or a hub name; None leaves a part out.

    ``attention`` is needed by the attention rules of segmentation alone.
    """

    embedder: str = "multilingual-e5-small"
    tokenizer: str = "multilingual-e5-small"
    compressor: str | None = "SmolLM2-135M-Instruct"
    attention: str | None = None
    extractor: str = EXTRACTIVE
    threads: PositiveInt = 2


class StoreSettings(Section):
    """Where state lies; None takes a file under the home folder.

    ``records_owner`` names the PostgreSQL database of ``records`` as the role that owns its
    tables and upgrades them; the service itself connects as another.
    """

    records: str | None = None
    records_owner: str | None = None
    index: Literal["embedded"] | str = "embedded"


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


DeploymentName = Literal["Ingress", "Embedder", "Compressor", "Segmenter", "IngestWorkers"]


class SleepJobSettings(Section):
    """How many workers the stages of the sleep job have at most."""

    readers: PositiveInt = 2
    neighbours: PositiveInt = 2
    queuers: PositiveInt = 2
    deciders: PositiveInt = 1
    writers: PositiveInt = 2


class AppSettings(Section):
    """Everything ``serve.app:build`` takes; unknown keys are refused by name."""

    home: Path
    models_dir: Path
    models: ModelSettings = ModelSettings()
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
    recall: RecallSettings = RecallSettings()
    limits: LimitSettings = LimitSettings()
    quotas: QuotaSettings = QuotaSettings()
    deployments: Mapping[DeploymentName, DeploymentSettings] = Field(default_factory=dict)

    @property
    def records_url(self) -> str:
        """The record store's SQLAlchemy URL."""
        return self.stores.records or f"sqlite:///{self.home / 'records.sqlite'}"

    @property
    def max_similarity(self) -> float:
        """The threshold of topic boundaries; the embedding model's where none is set."""
        asked = self.segmentation.max_similarity
        return thresholds(self.models.embedder).max_similarity if asked is None else asked

    @property
    def min_similarity(self) -> float:
        """The threshold of sleep candidates; the embedding model's where none is set."""
        asked = self.consolidation.min_similarity
        return thresholds(self.models.embedder).min_similarity if asked is None else asked

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
        where = ".".join(str(part) for part in first["loc"] if part != "[key]")
        raise ConfigError(f"setting {where}: {first['msg']}", field=where) from error


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
