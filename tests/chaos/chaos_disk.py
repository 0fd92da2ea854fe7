"""A small file system of one's own, and how it is filled to the last byte."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_PIECES = (1024 * 1024, 4096)


@contextmanager
def small_disk(folder: Path, *, mebibytes: int) -> Iterator[Path]:
    """An empty ext4, gone afterwards. Skips the test where none can be made and mounted."""
    image, place = folder / "disk.img", folder / "disk"
    if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
        pytest.skip("a file system is made and mounted by root alone, with mkfs.ext4")
    with image.open("wb") as file:
        file.truncate(mebibytes * 1024 * 1024)
    place.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True)
    mounted = subprocess.run(
        ["mount", "-o", "loop", str(image), str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system may be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def fill(disk: Path) -> Path:
    """The file that takes all the room there is; removing it makes room again."""
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as file:
        for piece in _PIECES:
            _write_until_full(file.fileno(), bytes(piece))
    return filler


def _write_until_full(descriptor: int, piece: bytes) -> None:
    try:
        while True:
            os.write(descriptor, piece)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
