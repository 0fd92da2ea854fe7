"""What runs, as it is written in ``service.json``. Knows nothing of how it was started."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process by its pid and its birth in seconds since the epoch; a pid alone is reused."""

    name: str
    pid: int
    created: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One running local service; every address is on loopback."""

    id: str
    version: str
    url: str
    dashboard: str
    ray_address: str
    token_file: str
    config: str
    started_at: str
    ports: dict[str, int]
    processes: tuple[Process, ...]


def write(service: Service, path: Path) -> None:
    """Put the record in place at once, readable by its owner alone."""
    draft = path.with_suffix(".tmp")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(service), file, indent=2)
    draft.replace(path)


def read(path: Path) -> Service | None:
    """The record, or None where none was written.

    Raises:
        ConfigError: the file is no such record.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        processes = tuple(Process(**process) for process in fields.pop("processes"))
        return Service(**fields, processes=processes)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise ConfigError(f"{path} is not a service record: {exc}", field=str(path)) from exc
