"""A damaged index is set aside, an empty one takes its place; a sound one is never touched."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pointing import point

from actors.index_edge import EdgeIndex
from actors.index_folder import open_whole
from actors.index_paths import folders_set_aside, mark_of
from pipeline.errors import ConfigError, StoreError

OPENER = """
import sys
from pathlib import Path
from actors.index_folder import open_whole

index = open_whole(Path(sys.argv[1]), dim=4)
print(index.count())
index.close()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of fifty points, closed."""
    index = EdgeIndex(tmp_path / "index", dim=4)
    index.upsert([point(f"{number:03d}", text="green tea 绿茶") for number in range(50)])
    index.flush()
    index.close()
    return tmp_path / "index"


def overwrite(folder: Path, pattern: str) -> int:
    """Noise in the place of the files; how many there are."""
    noise = np.random.default_rng(7)
    files = [path for path in folder.glob(pattern) if path.is_file()]
    for path in files:
        path.write_bytes(noise.bytes(max(1, path.stat().st_size)))
    return len(files)


def opened_as_often_as_needed(folder: Path) -> list[str]:
    """What each process said that opened the folder, up to the first that lived."""
    said: list[str] = []
    while not (said and said[-1]) and len(said) < 5:
        command = [sys.executable, "-c", OPENER, str(folder)]
        environment = {"PYTHONPATH": str(Path.cwd())}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        said.append(done.stdout.strip() if done.returncode == 0 else "")
    return said


@pytest.mark.parametrize(
    "pattern", ["segments/**/*", "wal/**/*", "**/*", "edge_config.json", "segments/*/segment.json"]
)
def test_noise_in_the_files_ends_in_an_empty_index_and_the_old_one_is_kept(
    folder: Path, pattern: str
) -> None:
    assert overwrite(folder, pattern)

    said = opened_as_often_as_needed(folder)

    assert said[-1] == "0"
    assert len(said) <= 3
    assert [kept.name for kept in folders_set_aside(folder)] == ["index.damaged-1"]
    assert not mark_of(folder).exists()


def test_a_sound_index_stays_after_one_process_died_while_it_opened_it(folder: Path) -> None:
    mark_of(folder).write_text("1")

    index = open_whole(folder, dim=4)

    assert index.count() == 50
    assert not mark_of(folder).exists()
    assert folders_set_aside(folder) == []
    index.close()


def test_two_deaths_in_a_row_set_the_index_aside_and_the_newest_of_such_alone_is_kept(
    folder: Path,
) -> None:
    for time in ("first", "second"):
        mark_of(folder).write_text("2")
        index = open_whole(folder, dim=4)
        index.upsert([replace(point("001"), speaker=time)])
        index.close()

    assert [kept.name for kept in folders_set_aside(folder)] == ["index.damaged-2"]
    kept = EdgeIndex(folders_set_aside(folder)[0], dim=4)
    assert kept.count() == 1
    kept.close()


def test_a_folder_open_elsewhere_or_of_another_width_is_not_damaged(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"4 numbers.*gives 8"):
        open_whole(folder, dim=8)
    owner = open_whole(folder, dim=4)

    with pytest.raises(StoreError, match="is open elsewhere"):
        open_whole(folder, dim=4)

    assert owner.count() == 50
    assert folders_set_aside(folder) == []
    assert not mark_of(folder).exists()
    owner.close()


def test_a_refusal_takes_no_death_back(folder: Path) -> None:
    mark_of(folder).write_text("1")

    with pytest.raises(ConfigError):
        open_whole(folder, dim=8)

    assert mark_of(folder).read_text() == "1"


def test_a_rebuild_after_an_erasure_takes_the_damaged_folder_with_it(folder: Path) -> None:
    mark_of(folder).write_text("2")
    index = open_whole(folder, dim=4)
    assert folders_set_aside(folder)

    index.begin_rebuild("one")
    index.end_rebuild()

    assert folders_set_aside(folder) == []
    index.close()
