"""A service in a home of its own that goes when it is no longer needed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from serve.client import Client
from serve.local.home import home_at, models_dir
from serve.local.service import Plan, Say, down, up
from serve.local.shipped import shipped


@contextmanager
def temporary_service(*, say: Say) -> Iterator[Client]:
    """A client of the service at ``SLOWWAVE_URL``, or of one started for this use alone.

    The started one keeps its data in a temporary folder, so that nobody's memory is touched.
    """
    named = os.environ.get("SLOWWAVE_URL")
    if named:
        with Client(named, os.environ.get("SLOWWAVE_API_KEY")) as client:
            yield client
        return
    folder = Path(tempfile.mkdtemp(prefix="slowwave-home-"))
    home = home_at(folder)
    try:
        plan = Plan(config=shipped("configs/local.yaml"), models_dir=models_dir(), port=None)
        service = up(home, plan, say=say).service
        with Client(service.url) as client:
            yield client
    finally:
        down(home, say=say)
        shutil.rmtree(folder)
