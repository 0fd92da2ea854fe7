"""A document as messages of one conversation: prose in pieces, tables as rows, code, summaries.

Each carries the document, the path of its section and what part it is in its metadata, and so do
the sources of its entries. Rows, code and summaries are statements already (``given``).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from pipeline.documents.parts import Block, Code, Document, Prose, Rows, Section
from pipeline.documents.signature import signature
from pipeline.documents.summary import summary
from pipeline.ids import digest
from pipeline.messages import Json
from pipeline.text.languages import language

DOCUMENT, SECTION, PART = "document", "section", "part"
"""The keys of the metadata."""
JOINT = " > "
"""Between the headings of a path."""
PIECE_CHARS = 1_500
"""Characters of prose in one message, unless one paragraph is longer."""
ROWS_PER_MESSAGE = 20


class Part(StrEnum):
    """What a message holds of its section."""

    PROSE = "prose"
    ROWS = "rows"
    CODE = "code"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A message: ``id`` depends on what it says and where, not on when it was read."""

    id: str
    content: str
    metadata: Mapping[str, Json]


def pieces(document: Document) -> list[Piece]:
    """The messages in the order of reading, the summary of a section after it."""
    seen: Counter[str] = Counter()
    found = []
    for section in document.sections:
        path = JOINT.join(section.path) or document.title
        for part, content in _parts(section, path):
            said = digest(document.title, path, part, content)
            seen[said] += 1
            found.append(
                Piece(
                    id=f"part-{digest(said, str(seen[said]))[:32]}",
                    content=content,
                    metadata={DOCUMENT: document.title, SECTION: path, PART: part.value},
                )
            )
    return found


def _parts(section: Section, path: str) -> Iterator[tuple[Part, str]]:
    for block in section.blocks:
        yield from _part(block, path)
    prose = [block.text for block in section.blocks if isinstance(block, Prose)]
    if told := summary(prose):
        yield Part.SUMMARY, _named(path, told)


def _part(block: Block, path: str) -> Iterator[tuple[Part, str]]:
    match block:
        case Prose(text=text):
            yield from ((Part.PROSE, piece) for piece in _pieces(text))
        case Rows():
            yield from ((Part.ROWS, rows) for rows in _rows(block, path))
        case Code(text=text, language=named):
            yield Part.CODE, _code(text, named, path)
        case _:
            assert_never(block)


def _pieces(text: str) -> Iterator[str]:
    """Whole paragraphs, several together where they are short."""
    held: list[str] = []
    for paragraph in filter(None, (one.strip("\n") for one in text.split("\n\n"))):
        if held and sum(map(len, held)) + len(paragraph) > PIECE_CHARS:
            yield "\n\n".join(held)
            held = []
        held.append(paragraph)
    if held:
        yield "\n\n".join(held)


def _rows(table: Rows, path: str) -> Iterator[str]:
    """Every row as a statement on a line of its own: the names of columns with its values."""
    said = [one for row in table.rows or (table.header,) if (one := _row(table, row))]
    for low in range(0, len(said), ROWS_PER_MESSAGE):
        yield "\n".join(_named(path, one) for one in said[low : low + ROWS_PER_MESSAGE])


def _row(table: Rows, row: Sequence[str]) -> str:
    names = table.header if table.rows else ()
    pairs = [
        f"{names[place]}: {cell}" if place < len(names) and names[place] else cell
        for place, cell in enumerate(row)
        if cell
    ]
    return " ".join("; ".join(pairs).split())


def _code(text: str, named: str, path: str) -> str:
    shown = signature(text)
    mark = "```" if "```" not in text else "~~~~"
    if language(path) == "zh":
        lead = f"{named}代码：{shown}" if named else f"代码：{shown}"
    else:
        lead = f"{named} code: {shown}" if named else f"code: {shown}"
    return f"{_named(path, lead)}\n{mark}{named}\n{text}\n{mark}"


def _named(path: str, text: str) -> str:
    return f"{path}{'：' if language(path) == 'zh' else ': '}{text}"
