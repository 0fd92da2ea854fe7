"""Free TCP ports on loopback, in one block below the range that outgoing connections use."""

import random
import socket
from dataclasses import dataclass

from pipeline.errors import ConfigError

_FIRST, _LAST = 20_000, 32_000
_SINGLE, _REPLICAS, _WORKERS = 12, 48, 200
_TRIES = 50
PREFERRED_HTTP = 8430


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Every port that one local service may listen on; ranges are inclusive."""

    http: int
    gcs: int
    dashboard: int
    agent: int
    agent_grpc: int
    runtime_env: int
    metrics: int
    client: int
    proxy_metrics: int
    proxy_stats: int
    fallback_http: int
    fallback_grpc: int
    replicas: tuple[int, int]
    workers: tuple[int, int]


def is_free(port: int) -> bool:
    """Whether nothing listens on the port, on loopback or on all interfaces."""
    for host in ("127.0.0.1", ""):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                return False
    return True


def choose(http: int | None = None) -> Ports:
    """Ports that are free now.

    Args:
        http: the port of the API; None takes 8430 where it is free.

    Raises:
        ConfigError: the asked port is taken, or no free block was found.
    """
    if http is not None and not is_free(http):
        raise ConfigError(f"port {http} is in use", field="port")
    base = _free_block(_SINGLE + _REPLICAS + _WORKERS)
    replicas, workers = base + _SINGLE, base + _SINGLE + _REPLICAS
    return Ports(
        http=http or (PREFERRED_HTTP if is_free(PREFERRED_HTTP) else base),
        gcs=base + 1,
        dashboard=base + 2,
        agent=base + 3,
        agent_grpc=base + 4,
        runtime_env=base + 5,
        metrics=base + 6,
        client=base + 7,
        proxy_metrics=base + 8,
        proxy_stats=base + 9,
        fallback_http=base + 10,
        fallback_grpc=base + 11,
        replicas=(replicas, workers - 1),
        workers=(workers, workers + _WORKERS - 1),
    )


def _free_block(size: int) -> int:
    for _ in range(_TRIES):
        base = random.randrange(_FIRST, _LAST - size)
        if all(is_free(port) for port in range(base, base + size)):
            return base
    raise ConfigError(f"no {size} neighbouring free ports between {_FIRST} and {_LAST}")
