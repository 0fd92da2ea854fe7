"""A service that runs in a home of its own while it is needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import ConfigError
from serve.client import Client
from serve.local.home import home_at, models_dir
from serve.local.plan import planned
from serve.local.service import Say, down, up


@contextmanager
def service_in(folder: Path, config: Path | None = None, *, say: Say) -> Iterator[Client]:
    """A client of the service of a home in this folder, which runs for this use alone.

    What it holds stays in the folder.

    Args:
        config: its settings; None is the local profile.

    Raises:
        ConfigError: the settings do not hold.
    """
    home = home_at(folder)
    plan = planned(home, config, models_dir=models_dir(), port=None, say=say)
    try:
        with Client(up(home, plan, say=say).service.url) as client:
            yield client
    finally:
        down(home, say=say)


def check_no_config(config: Path | None, url: str) -> None:
    """Raises ConfigError where settings are given for a service that has its own."""
    if config is not None:
        raise ConfigError(
            f"expected no settings for the running service at SLOWWAVE_URL ({url}), got {config}",
            field="config",
        )
