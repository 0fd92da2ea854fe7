"""What only the embedded index has: a folder with one owner that survives its death."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pointing
import pytest
from pointing import EAST, HOME, point

from actors.index_edge import EdgeIndex
from pipeline.entries import CURRENT
from pipeline.errors import ConfigError, StoreError
from pipeline.recall.lexical import sparse_query
from pipeline.state import IndexQuery

WRITER = """
import sys
from pointing import point
from actors.index_edge import EdgeIndex

index = EdgeIndex(sys.argv[1], dim=4)
for number in range(10_000):
    index.upsert([point(f"{number:05d}")])
    print(number, flush=True)
"""


def first(index: EdgeIndex) -> list[str]:
    query = IndexQuery(
        tenant=HOME.tenant,
        collections=(HOME.collection,),
        dense=EAST,
        lexical=sparse_query("tea"),
        limit=3,
        statuses=CURRENT,
    )
    return [hit.entry for hit in index.search([query])[0].lexical]


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that writes point after point and says each number once it is written."""
    (tmp_path / "writer.py").write_text(WRITER)
    command = [sys.executable, str(tmp_path / "writer.py"), str(tmp_path / "index")]
    environment = {"PYTHONPATH": f"{Path.cwd()}{os.pathsep}{Path(pointing.__file__).parent}"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        yield process
        process.kill()


def _acknowledged(process: subprocess.Popen[str], count: int) -> int:
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(count)]
    return int(lines[-1]) + 1


def test_a_killed_process_loses_no_written_point_and_blocks_nobody(
    writer: subprocess.Popen[str], tmp_path: Path
) -> None:
    _acknowledged(writer, 200)
    writer.send_signal(signal.SIGKILL)
    assert writer.stdout is not None
    rest = writer.stdout.read().split()
    written = int(rest[-1]) + 1 if rest else 200
    writer.wait()

    index = EdgeIndex(tmp_path / "index", dim=4)

    assert index.count(HOME) in (written, written + 1)
    assert first(index) == ["00000", "00001", "00002"]
    index.close()


def test_a_folder_open_in_a_living_process_is_refused_in_words(
    writer: subprocess.Popen[str], tmp_path: Path
) -> None:
    _acknowledged(writer, 1)

    with pytest.raises(StoreError, match="is open elsewhere"):
        EdgeIndex(tmp_path / "index", dim=4)


def test_a_reopened_folder_answers_as_before(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "index", dim=4)
    index.upsert([point("a"), point("b")])
    index.flush()
    index.close()
    index.close()

    again = EdgeIndex(str(tmp_path / "index"), dim=4)

    assert first(again) == ["a", "b"]
    again.close()


def test_another_width_is_refused_with_both_numbers_and_the_data_stays(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "index", dim=4)
    index.upsert([point("a")])
    index.close()

    with pytest.raises(ConfigError, match=r"4 numbers.*gives 8"):
        EdgeIndex(tmp_path / "index", dim=8)

    again = EdgeIndex(tmp_path / "index", dim=4)
    assert first(again) == ["a"]
    again.close()


def test_a_closed_index_says_so(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "index", dim=4)
    index.close()

    with pytest.raises(StoreError, match="not initialized"):
        index.upsert([point("a")])


def test_optimising_drops_what_was_deleted_from_the_disk(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "index", dim=4)
    points = [point(f"{number:03d}") for number in range(300)]
    index.upsert(points)

    index.delete([one.id for one in points[:200]])

    assert index.optimise() is True
    assert index.count() == 100
    index.close()


def named(home: Path, name: str) -> list[str]:
    """The files of the index in which the speaker's name lies."""
    return [
        path.name
        for path in home.rglob("*")
        if path.is_file() and name.encode() in path.read_bytes()
    ]


def test_a_rebuilt_index_has_no_byte_of_what_was_deleted(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "index", dim=4)
    index.upsert(
        [replace(point("a"), speaker="Quetzalwing"), replace(point("b"), speaker="翡翠羽")]
    )
    index.delete([point("a").id, point("b").id])
    index.flush()
    assert named(tmp_path, "Quetzalwing")

    index.begin_rebuild("one")
    index.rebuild([point("c")])
    index.end_rebuild()

    assert named(tmp_path, "Quetzalwing") + named(tmp_path, "翡翠羽") == []
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert first(index) == ["c"]
    index.close()


def test_a_rebuild_that_was_killed_leaves_one_index_or_the_other(tmp_path: Path) -> None:
    folder, following, last = (tmp_path / f"index{end}" for end in ("", ".next", ".last"))
    for place, entry in ((folder, "old"), (following, "new")):
        index = EdgeIndex(place, dim=4)
        index.upsert([point(entry)])
        index.close()
    shutil.copytree(following, tmp_path / "whole")

    index = EdgeIndex(folder, dim=4)  # killed while the second one was filled
    assert first(index) == ["old"]
    index.close()
    folder.rename(last)
    shutil.copytree(tmp_path / "whole", following)
    index = EdgeIndex(folder, dim=4)  # killed between the two renamings

    assert first(index) == ["new"]
    assert not following.exists()
    assert not last.exists()
    index.close()


@pytest.mark.parametrize("text", ['{"vec', json.dumps([1]), "{}"])
def test_a_folder_that_is_no_index_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    config = tmp_path / "edge_config.json"
    config.write_text(text)

    with pytest.raises((StoreError, ConfigError)):
        EdgeIndex(tmp_path, dim=4)

    assert [path.name for path in tmp_path.iterdir()] == ["edge_config.json"]
    assert config.read_text() == text


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("notes")

    with pytest.raises(StoreError, match="cannot be read"):
        EdgeIndex(tmp_path / "index", dim=4)


def test_a_disk_without_room_is_refused_before_the_engine_writes(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "index", dim=4)
    index.upsert([point("kept")])
    index._free_bytes = 2**62

    for write in (lambda: index.upsert([point("more")]), lambda: index.delete([point("kept").id])):
        with pytest.raises(StoreError, match="bytes free"):
            write()

    assert first(index) == ["kept"]
    index.close()
    with pytest.raises(StoreError, match="bytes free"):
        EdgeIndex(tmp_path / "index", dim=4, free_bytes=2**62)
