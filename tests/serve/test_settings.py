"""Settings come from one file; what is unknown is refused by name."""

from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from serve.settings import load, parse

ROOT = Path(__file__).parent.parent.parent
HEAD = "applications:\n- name: slowwave\n  args:\n"


def test_the_shipped_local_profile_needs_no_key(tmp_path: Path) -> None:
    settings = load(ROOT / "configs/local.yaml", home=tmp_path, models_dir=tmp_path)

    assert not settings.access.keys_required
    assert settings.records_url == f"sqlite:///{tmp_path / 'records.sqlite'}"


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ("    colour: red\n", "colour"),
        ("    window: { capacity: 5 }\n", "window.capacity"),
        ("    window: { capacity_tokens: none }\n", "window.capacity_tokens"),
        ("    compression: { rate: 1.5 }\n", "compression.rate"),
        ("    deployments: { Embedder: { gpus: 1 } }\n", "deployments.Embedder.gpus"),
        ("    deployments: { Segmentor: {} }\n", "deployments.Segmentor"),
        ("    {}\n  replicas: 3\n", "replicas"),
        ("    {}\nbogus: 1\n", "bogus"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(tmp_path: Path, args: str, field: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(HEAD + args)

    with pytest.raises(ConfigError) as refused:
        load(config, home=tmp_path, models_dir=tmp_path)

    assert refused.value.field == field
    assert field in str(refused.value)


@pytest.mark.parametrize("text", ["", "[]", "applications: []", ": :", "applications: [{name: x}]"])
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(text)

    with pytest.raises(ConfigError):
        load(config, home=tmp_path, models_dir=tmp_path)


def test_keys_are_required_unless_a_profile_says_otherwise(tmp_path: Path) -> None:
    assert parse({"home": tmp_path, "models_dir": tmp_path}).access.keys_required
