"""Opening the folder of the embedded index although it may be damaged.

On some damage the engine ends the process, and nobody is left to say why. So a mark beside the
folder counts the openings that never came to an end. After two of them in a row, or where the
engine says itself that it cannot read the folder, it is set aside and an empty one takes its place:
the index is derived, and follows the record store from the start.
"""

import logging
import shutil
from pathlib import Path

from actors.index_edge import DamagedIndex, EdgeIndex
from actors.index_paths import folders_set_aside, mark_of, remains
from pipeline.errors import SlowwaveError, StoreError

log = logging.getLogger("slowwave.index")

MOST_DEATHS = 2
"""Openings in a row that ended with their process; one may have been killed by chance."""


def open_whole(folder: Path, *, dim: int) -> EdgeIndex:
    """The index in the folder; an empty one where what lies there is damaged.

    Raises:
        ConfigError: the folder's vectors have another width than ``dim``; nothing is changed.
        StoreError: another process has the folder open, or the disk cannot be used.
    """
    mark = mark_of(folder)
    deaths = _deaths(mark)
    if deaths >= MOST_DEATHS:
        set_aside(folder, why=f"{deaths} processes in a row died while they opened it")
        deaths = 0
    _write(mark, deaths + 1)
    try:
        index = _opened(folder, dim=dim)
    except SlowwaveError:
        _write(mark, deaths)  # whoever can say why has not died
        raise
    _write(mark, 0)
    return index


def set_aside(folder: Path, *, why: str) -> None:
    """Takes the folder out of the way and keeps it for whoever wants to look, the newest alone.

    Raises:
        StoreError: the disk refuses.
    """
    older = folders_set_aside(folder)
    number = 1 + max((int(each.suffix.partition("-")[2]) for each in older), default=0)
    kept = folder.with_name(f"{folder.name}.damaged-{number}")
    try:
        for each in remains(folder):
            shutil.rmtree(each)
        if not folder.exists():
            return
        folder.rename(kept)
        for each in older:
            shutil.rmtree(each)
    except OSError as exc:
        raise StoreError(f"the damaged index folder {folder} cannot be set aside: {exc}") from exc
    log.error("the index folder %s is damaged and kept as %s: %s", folder, kept, why)


def _opened(folder: Path, *, dim: int) -> EdgeIndex:
    try:
        index = EdgeIndex(folder, dim=dim)
        index.count()  # damage that shows only in use shows while the mark is there
    except DamagedIndex as exc:
        set_aside(folder, why=exc.message)
        return EdgeIndex(folder, dim=dim)
    return index


def _deaths(mark: Path) -> int:
    """The openings that the mark counts; one that holds no number tells of one at least."""
    try:
        text = mark.read_text(encoding="utf-8")
    except FileNotFoundError:
        return 0
    except (OSError, UnicodeDecodeError) as exc:
        raise StoreError(f"the mark of the index {mark} cannot be read: {exc}") from exc
    return int(text) if text.isdecimal() else 1


def _write(mark: Path, deaths: int) -> None:
    try:
        if deaths:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.write_text(str(deaths), encoding="utf-8")
        else:
            mark.unlink(missing_ok=True)
    except OSError as exc:
        raise StoreError(f"the mark of the index {mark} cannot be written: {exc}") from exc
