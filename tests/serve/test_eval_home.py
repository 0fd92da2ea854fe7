"""The command on a service of its own: built, slept, kept, asked again; models are stand-ins."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
from test_eval_evidence import LOCOMO, written

from benchmarks.stand_in import EMBEDDED, settings

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]


def slowwave(words: list[str]) -> None:
    """The command in a process of its own, which the services that it starts belong to."""
    command = [sys.executable, "-c", "from serve.cli import main; main()", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_home_that_is_kept_is_asked_again_without_building(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLOWWAVE_URL", raising=False)
    file = written(tmp_path / "locomo.json", [LOCOMO])
    application = {
        "name": "slowwave",
        "import_path": "serve.app:build",
        "args": settings(EMBEDDED, chat={"model": "fake"}),
    }
    config = tmp_path / "fakes.yaml"
    config.write_text(yaml.safe_dump({"applications": [application]}), encoding="utf-8")
    asked = ["eval", "locomo", str(file), "--config", str(config), "--home", str(tmp_path / "kept")]

    first = [*asked, "--sleep", "--reader", str(config), "-o", str(tmp_path / "1.json")]
    slowwave(first)
    slowwave([*asked, "-o", str(tmp_path / "2.json")])

    one, two = (json.loads((tmp_path / name).read_text()) for name in ("1.json", "2.json"))
    assert one["built"]["recall"]["all"]["1000 tokens"]["search"] == 1.0
    assert one["slept"]["recall"]["all"]["questions"] == 2
    assert one["sleep"]["totals"]["collections"] == 1
    assert set(one["answers"]) == {"built", "slept"}
    assert two["build"] == one["build"]
    assert two["built"]["recall"] == one["built"]["recall"]
    assert "slept" not in two
    assert "home" not in one["config"]["settings"]
