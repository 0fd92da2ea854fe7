"""What a document is: sections with a path, of prose, tables and code. Knows no file."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs and lists, as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: the names of its columns, and rows of as many cells or fewer."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code, whole; ``language`` is empty where the document names none."""

    text: str
    language: str = ""


Block = Prose | Rows | Code


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The blocks under one heading; ``path`` is the headings down to it, or empty."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document: its title, when it says that it was written, and its sections in order."""

    title: str
    written: str | None
    sections: tuple[Section, ...]


class Outline:
    """Collects blocks under headings as a reader meets them."""

    def __init__(self) -> None:
        self._levels: list[tuple[int, str]] = []
        self._blocks: list[Block] = []
        self._done: list[Section] = []

    def heading(self, level: int, text: str) -> None:
        """A heading of a level from 1; those of its level and below end."""
        self._close()
        self._levels = [each for each in self._levels if each[0] < level]
        if text.strip():
            self._levels.append((level, " ".join(text.split())))

    def add(self, block: Block) -> None:
        """A block of the present section."""
        self._blocks.append(block)

    def sections(self) -> tuple[Section, ...]:
        """The sections that hold anything."""
        self._close()
        return tuple(self._done)

    def _close(self) -> None:
        if self._blocks:
            path = tuple(text for _, text in self._levels)
            self._done.append(Section(path=path, blocks=tuple(self._blocks)))
            self._blocks = []


def title_of(sections: Sequence[Section], *, default: str) -> str:
    """The heading that every section lies under, or the default where there is none such."""
    firsts = {section.path[:1] for section in sections}
    (first,) = firsts if len(firsts) == 1 else ((),)
    return first[0] if first else default
