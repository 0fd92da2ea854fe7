"""What to start, checked before any process runs: the settings file and its packaged models."""

from pathlib import Path

from actors.models import PACKAGED, installed, prepare, prepared
from pipeline.errors import ConfigError
from serve.local.home import Home
from serve.local.service import Plan, Say
from serve.local.shipped import shipped
from serve.settings import ModelSettings, load

LOCAL_PROFILE = "configs/local.yaml"


def planned(
    home: Home, config: Path | None, *, models_dir: Path, port: int | None, say: Say
) -> Plan:
    """A plan that can be started: settings that hold, packaged models that are prepared.

    Raises:
        ConfigError: the file is missing or holds a wrong setting, or a model is not installed.
    """
    chosen = (config or shipped(LOCAL_PROFILE)).expanduser().resolve()
    if not chosen.is_file():
        raise ConfigError(f"no settings file at {chosen}", field="config")
    settings = load(chosen, home=home.path, models_dir=models_dir)
    for name in packaged_names(settings.models):
        if not installed(name):
            raise ConfigError(f"{name} is not installed; run `slowwave models install`")
        if not prepared(name, models_dir):
            say(f"preparing {name} (once)")
            prepare(name, models_dir)
    return Plan(config=chosen, models_dir=models_dir, port=port)


def packaged_names(models: ModelSettings) -> list[str]:
    """The packaged models among those that the settings name, each once."""
    named = (models.embedder, models.tokenizer, models.compressor, models.attention)
    return sorted({name for name in named if name in PACKAGED})
