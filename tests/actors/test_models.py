"""Packaged models: found by name, prepared once, never half."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import actors.models as models
from actors.models import PACKAGED, SMOLLM2, install, packaged, prepare, prepared, resolve
from pipeline.errors import ConfigError

Converter = Callable[[Path, Path], None]


@pytest.fixture
def convert_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Converter], None]:
    """Replaces the conversion of SmolLM2 and pretends that its package is here."""

    def use(converter: Converter) -> None:
        monkeypatch.setattr(models, "_package_dir", lambda model: tmp_path)
        monkeypatch.setattr(models, "_converters", lambda: {SMOLLM2.name: converter})

    return use


def write(text: str) -> Converter:
    return lambda source, target: (target / "weights").write_text(text) and None


def test_every_pin_is_exact_and_hashed() -> None:
    for model in PACKAGED.values():
        assert re.fullmatch(r"[\w-]+==[\d.]+ --hash=sha256:[0-9a-f]{64}", model.requirement)


def test_a_local_path_and_a_hub_name_are_themselves(tmp_path: Path) -> None:
    assert resolve(str(tmp_path), tmp_path) == str(tmp_path)
    assert resolve("intfloat/e5-base", tmp_path) == "intfloat/e5-base"


def test_a_prepared_folder_is_known_as_its_model() -> None:
    assert packaged(f"/somewhere/{SMOLLM2.folder}") == SMOLLM2
    assert packaged("/somewhere/else") is None


def test_a_missing_package_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "installed", lambda name: False)

    with pytest.raises(ConfigError, match="run `slowwave models install`"):
        resolve(SMOLLM2.name, tmp_path)


def test_a_model_is_prepared_once(
    tmp_path: Path, convert_with: Callable[[Converter], None]
) -> None:
    convert_with(write("first"))
    folder = prepare(SMOLLM2.name, tmp_path)
    convert_with(write("second"))

    assert prepare(SMOLLM2.name, tmp_path) == folder
    assert (folder / "weights").read_text() == "first"
    assert prepared(SMOLLM2.name, tmp_path)


def test_a_conversion_that_fails_leaves_nothing(
    tmp_path: Path, convert_with: Callable[[Converter], None]
) -> None:
    def fails(source: Path, target: Path) -> None:
        (target / "half").write_text("half")
        raise OSError("disk full")

    convert_with(fails)

    with pytest.raises(OSError, match="disk full"):
        prepare(SMOLLM2.name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_of_two_that_prepare_at_once_the_first_stays(
    tmp_path: Path, convert_with: Callable[[Converter], None]
) -> None:
    def overtaken(source: Path, target: Path) -> None:
        write("second")(source, target)
        other = tmp_path / SMOLLM2.folder
        other.mkdir()
        write("first")(source, other)

    convert_with(overtaken)

    folder = prepare(SMOLLM2.name, tmp_path)

    assert (folder / "weights").read_text() == "first"
    assert list(tmp_path.iterdir()) == [folder]


def test_an_unknown_name_is_not_installed() -> None:
    with pytest.raises(ConfigError, match="got gpt-9"):
        install(["gpt-9"])
