"""Where an evaluation's memories are built, kept, and put to sleep.

A folder holds two homes: ``built`` as ingestion left it, and ``slept``, a copy of it after a sleep.
Both can be asked again, so that a change of the read side is measured without building anew.
"""

import json
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

from pydantic import JsonValue

from pipeline.errors import ConfigError
from pipeline.messages import Json
from serve.client import Client
from serve.commands.sleeping import finished_run
from serve.evaluation.samples import Sample, Say, build
from serve.evaluation.usage import Usage, less, used
from serve.local.temporary import check_no_config, service_in
from serve.sleep_client import SleepClient

_RECORD = "evaluation.json"
_LEFT_BEHIND = ("service.json", "service.lock", "ray_token", "logs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What a build or a sleep took: seconds, and model calls and tokens by purpose.

    ``totals`` are those of the sleep runs.
    """

    seconds: float
    usage: Usage
    totals: Mapping[str, int] = field(default_factory=dict)

    def document(self) -> dict[str, Json]:
        """As plain values."""
        found: dict[str, Json] = {"seconds": round(self.seconds, 1), "usage": self.usage}
        return found | ({"totals": self.totals} if self.totals else {})


class Homes(Protocol):
    """A service with the memories as built, and one where they slept."""

    def awake(self) -> AbstractContextManager[Client]:
        """The service as ingestion left it."""
        ...

    def asleep(self, collections: list[str]) -> AbstractContextManager[Client]:
        """The service after a sleep of the collections; what that took is kept."""
        ...

    def collection(self, benchmark: str, sample: str) -> str:
        """The name of a sample's collection."""
        ...

    def build(self, client: Client, sample: Sample, *, collection: str) -> Took:
        """What building the sample takes; what it took where it was built before."""
        ...

    @property
    def slept(self) -> Took | None:
        """What the sleep took; None before one."""
        ...


def built(client: Client, sample: Sample, *, collection: str) -> Took:
    """What building the sample takes."""
    before, began = used(client), time.monotonic()
    build(client, sample, collection=collection)
    return Took(seconds=time.monotonic() - began, usage=less(used(client), before))


def put_to_sleep(client: Client, collections: Sequence[str] = ()) -> Took:
    """What one sleep run for each of the collections takes; one for all that are due if empty."""
    before, began, totals = used(client), time.monotonic(), Counter[str]()
    asked: list[dict[str, JsonValue]] = [{"collection": name} for name in collections]
    for each in asked or [{}]:
        run = finished_run(client, SleepClient(client).start(each))
        totals.update(run["totals"])
    return Took(
        seconds=time.monotonic() - began, usage=less(used(client), before), totals=dict(totals)
    )


class RunningService:
    """The service at ``SLOWWAVE_URL``: collections named after this run sleep where they are."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stamp = time.strftime("%Y%m%d%H%M%S")
        self._slept: Took | None = None

    @property
    def slept(self) -> Took | None:
        """What the sleep took; None before one."""
        return self._slept

    def collection(self, benchmark: str, sample: str) -> str:
        """The name of a sample's collection."""
        return f"eval-{benchmark}-{self._stamp}-{sample}"

    def build(self, client: Client, sample: Sample, *, collection: str) -> Took:
        """What building the sample takes."""
        return built(client, sample, collection=collection)

    @contextmanager
    def awake(self) -> Iterator[Client]:
        """The service itself."""
        yield self._client

    @contextmanager
    def asleep(self, collections: list[str]) -> Iterator[Client]:
        """The service itself, after the sleep."""
        self._slept = put_to_sleep(self._client, collections)
        yield self._client


class FolderHomes:
    """Homes in a folder; a service runs only while one of them is asked."""

    def __init__(self, folder: Path, *, config: Path | None, say: Say) -> None:
        self._folder = folder
        self._config = config
        self._say = say

    @property
    def slept(self) -> Took | None:
        """What the sleep took; None before one."""
        found = self._read("slept").get("sleep")
        return None if found is None else _took(found)

    def collection(self, benchmark: str, sample: str) -> str:
        """The name of a sample's collection."""
        return f"eval-{benchmark}-{sample}"

    def build(self, client: Client, sample: Sample, *, collection: str) -> Took:
        """What building the sample takes; what it took where it was built before."""
        known = self._read("built")
        if collection in known:
            self._say(f"{sample.name}: built before")
            return _took(known[collection])
        took = built(client, sample, collection=collection)
        self._write("built", {**self._read("built"), collection: took.document()})
        return took

    @contextmanager
    def awake(self) -> Iterator[Client]:
        """The service of the home ``built``."""
        with self._service("built") as client:
            yield client

    @contextmanager
    def asleep(self, collections: list[str]) -> Iterator[Client]:
        """The service of the home ``slept``, copied and put to sleep unless it was before."""
        known = self._read("slept")
        is_there = known.get("collections") == sorted(collections)
        if not is_there:
            self._copy()
        with self._service("slept") as client:
            if not is_there:
                took = put_to_sleep(client)
                self._write("slept", {"collections": sorted(collections), "sleep": took.document()})
            yield client

    def _copy(self) -> None:
        target = self._folder / "slept"
        if target.exists():
            shutil.rmtree(target)
        ignored = shutil.ignore_patterns(*_LEFT_BEHIND, _RECORD)
        shutil.copytree(self._folder / "built", target, ignore=ignored)

    def _service(self, name: str) -> AbstractContextManager[Client]:
        return service_in(self._folder / name, self._config, say=self._say)

    def _read(self, name: str) -> dict[str, Json]:
        path = self._folder / name / _RECORD
        if not path.exists():
            return {}
        found: dict[str, Json] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def _write(self, name: str, record: Mapping[str, Json]) -> None:
        path = self._folder / name / _RECORD
        path.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")


def _took(found: Json) -> Took:
    match found:
        case {"seconds": float() | int() as seconds, "usage": dict() as usage, **rest}:
            totals = cast(dict[str, int], rest.get("totals", {}))
            return Took(seconds=float(seconds), usage=cast(Usage, usage), totals=totals)
    raise ConfigError(f"expected what a build took, got {found!r}", field=_RECORD)


@contextmanager
def homes(folder: Path | None, *, config: Path | None, say: Say) -> Iterator[Homes]:
    """Homes in the folder, which stays, or in one that goes afterwards.

    Where ``SLOWWAVE_URL`` is set it is that service instead.

    Raises:
        ConfigError: settings or a folder are given for a service that runs already.
    """
    named = os.environ.get("SLOWWAVE_URL")
    if named:
        check_no_config(config, named)
        if folder is not None:
            raise ConfigError(
                f"expected no folder for the service at SLOWWAVE_URL ({named}), got {folder}",
                field="home",
            )
        with Client(named, os.environ.get("SLOWWAVE_API_KEY")) as client:
            yield RunningService(client)
        return
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield FolderHomes(folder, config=config, say=say)
        return
    temporary = Path(tempfile.mkdtemp(prefix="slowwave-home-"))
    try:
        yield FolderHomes(temporary, config=config, say=say)
    finally:
        shutil.rmtree(temporary)
