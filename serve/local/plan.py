"""What to start, checked before any process runs: the settings file and its packaged models."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from actors.models import PACKAGED, installed, prepare, prepared
from pipeline.errors import ConfigError
from serve.local.home import Home
from serve.local.service import ENGINE_READY_S, READY_S, Plan, Say
from serve.local.shipped import shipped

if TYPE_CHECKING:
    from serve.settings import AppSettings, ChatSettings, ModelSettings

LOCAL_PROFILE = "configs/local.yaml"


def planned(
    home: Home, config: Path | None, *, models_dir: Path, port: int | None, say: Say
) -> Plan:
    """A plan that can be started: settings that hold, packaged models that are prepared.

    Raises:
        ConfigError: the file is missing or holds a wrong setting, or a model is not installed.
    """
    # Only a command that starts a service reads settings; the others come at once without them.
    from serve.settings import load

    chosen = (config or shipped(LOCAL_PROFILE)).expanduser().resolve()
    if not chosen.is_file():
        raise ConfigError(f"no settings file at {chosen}", field="config")
    settings = load(chosen, home=home.path, models_dir=models_dir)
    check_key(settings.chat)
    for name in packaged_names(settings.models, settings.chat):
        if not installed(name):
            raise ConfigError(f"{name} is not installed; run `slowwave models install`")
        if not prepared(name, models_dir):
            say(f"preparing {name} (once)")
            prepare(name, models_dir)
    has_engine = settings.chat is not None and settings.chat.vllm is not None
    ready_s = ENGINE_READY_S if has_engine else READY_S
    return Plan(
        config=chosen,
        models_dir=models_dir,
        port=port,
        ready_s=ready_s,
        notes=tuple(notes(settings)),
    )


def check_key(
    chat: "ChatSettings | None", *, secret: Callable[[str], str | None] = os.environ.get
) -> None:
    """Raises ConfigError where the settings name a variable for the key that is not set here.

    Args:
        secret: the value of an environment variable.
    """
    if chat is not None and chat.key_env is not None and not secret(chat.key_env):
        raise ConfigError(
            f"setting chat.key_env: expected the endpoint's key in the variable {chat.key_env}, "
            "which is not set",
            field="chat.key_env",
        )


def notes(settings: "AppSettings") -> Iterator[str]:
    """What works without a language model, what is sent to one, and what travels unencrypted."""
    from actors.chat_address import is_unencrypted
    from serve.loading import EXTRACTIVE, RULES, is_fake

    models, chat = settings.models, settings.chat
    named = {"extraction": models.extractor, "sleep decisions": models.decider}
    if plain := [part for part, name in named.items() if name in (EXTRACTIVE, RULES)]:
        are = "are baselines" if len(plain) > 1 or plain[0].endswith("s") else "is a baseline"
        yield f"{' and '.join(plain)} {are} without a language model"
    if chat is None or chat.endpoint is None or is_fake(chat.model):
        return
    yield f"{chat.model} at {chat.endpoint} is sent what people said"
    if is_unencrypted(chat.endpoint):
        what = "what is sent there" if chat.key_env is None else "the key and what is sent there"
        yield f"{what} goes over the network unencrypted (chat.plain_http)"


def packaged_names(models: "ModelSettings", chat: "ChatSettings | None" = None) -> list[str]:
    """The packaged models among those that the settings name, each once."""
    run_here = chat.vllm.model if chat is not None and chat.vllm is not None else None
    named = [models.embedder, models.tokenizer, models.compressor, models.attention]
    named += [models.reranker, run_here]
    return sorted({name for name in named if name in PACKAGED})
