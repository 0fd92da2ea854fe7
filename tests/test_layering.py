"""The house has one direction: serve knows actors, actors know pipeline, pipeline knows neither."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PIPELINE_MAY = {
    "pipeline",
    "numpy",
    "cronsim",
    "jieba",
    "jinja2",
    "snowballstemmer",
    "pydantic",
}
ACTORS_MAY_NOT = {"ray", "serve", "benchmarks", "fastapi", "yaml"}
STDLIB_PIPELINE_MAY_NOT = {"os", "random", "time", "socket", "subprocess", "logging", "secrets"}


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


def _files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", _files("pipeline"), ids=str)
def test_pipeline_imports_only_itself_and_its_few_libraries(path: Path) -> None:
    import sys

    stdlib = set(sys.stdlib_module_names) - STDLIB_PIPELINE_MAY_NOT

    assert _imports(path) - PIPELINE_MAY - stdlib == set()


@pytest.mark.parametrize("path", _files("actors"), ids=str)
def test_actors_know_neither_ray_nor_serve(path: Path) -> None:
    assert _imports(path) & ACTORS_MAY_NOT == set()


@pytest.mark.parametrize("folder", ["pipeline", "actors"])
def test_pydantic_stays_where_text_from_outside_comes_in(folder: str) -> None:
    users = {path.name for path in _files(folder) if "pydantic" in _imports(path)}

    assert users <= {"settings.py", "schemas.py"}
