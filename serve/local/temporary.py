"""A service in a home of its own that goes when it is no longer needed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import ConfigError
from serve.client import Client
from serve.local.home import home_at, models_dir
from serve.local.plan import planned
from serve.local.service import Say, down, up


@contextmanager
def temporary_service(config: Path | None = None, *, say: Say) -> Iterator[Client]:
    """A client of the service at ``SLOWWAVE_URL``, or of one started for this use alone.

    The started one keeps its data in a temporary folder, so that nobody's memory is touched.

    Args:
        config: the settings of the started one; None is the local profile.

    Raises:
        ConfigError: settings are given for a service that runs already, or do not hold.
    """
    named = os.environ.get("SLOWWAVE_URL")
    if named:
        check_no_config(config, named)
        with Client(named, os.environ.get("SLOWWAVE_API_KEY")) as client:
            yield client
        return
    folder = Path(tempfile.mkdtemp(prefix="slowwave-home-"))
    home = home_at(folder)
    try:
        plan = planned(home, config, models_dir=models_dir(), port=None, say=say)
        service = up(home, plan, say=say).service
        with Client(service.url) as client:
            yield client
    finally:
        down(home, say=say)
        shutil.rmtree(folder)


def check_no_config(config: Path | None, url: str) -> None:
    """Raises ConfigError where settings are given for a service that has its own."""
    if config is not None:
        raise ConfigError(
            f"expected no settings for the running service at SLOWWAVE_URL ({url}), got {config}",
            field="config",
        )
