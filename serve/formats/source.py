"""A file as JSON with places: whatever is wrong is told by file, place and expectation."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from pipeline.errors import InputError
from pipeline.messages import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A value in a file: ``place`` says where, as ``[2].session_1[0]`` or ``line 7``."""

    file: Path
    place: str
    value: Json

    def refuse(self, expected: str) -> NoReturn:
        """Raises InputError: here ``expected`` was expected."""
        raise failure(self.file, self.place, f"expected {expected}, got {shown(self.value)}")

    def get(self, key: str) -> "Source":
        """The field of an object; the value None where it is missing."""
        found = self.value.get(key) if isinstance(self.value, Mapping) else None
        place = f"{self.place}.{key}" if self.place else key
        return Source(file=self.file, place=place, value=found)

    def fields(self) -> Mapping[str, Json]:
        """The value as an object."""
        if not isinstance(self.value, Mapping):
            self.refuse("an object")
        return self.value

    def items(self) -> "list[Source]":
        """The values of a list, each with its place."""
        if isinstance(self.value, str) or not isinstance(self.value, Sequence):
            self.refuse("a list")
        return [
            Source(file=self.file, place=f"{self.place}[{index}]", value=item)
            for index, item in enumerate(self.value)
        ]

    def text(self) -> str:
        """The value as a text that is not blank."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.refuse("a text that is not empty")
        return self.value

    def name(self) -> str | None:
        """The value as an id: a text or a whole number, None where it is missing."""
        if self.value is None or (isinstance(self.value, str) and not self.value.strip()):
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, str | int):
            self.refuse("a text or a whole number")
        return str(self.value)

    def time(self) -> str | int | float | None:
        """The value as something that may be a time, None where it is missing."""
        value = self.value
        if value is None or value in ("", "None"):
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.refuse("a time")
        return value


def failure(file: Path, place: str, problem: str) -> InputError:
    """The error that names file and place."""
    where = f"{file.name}: {place}" if place else file.name
    return InputError(f"{where}: {problem}", field=place or "file")


def shown(value: Json) -> str:
    """What a value is, in a few printable words."""
    match value:
        case None:
            return "nothing"
        case str():
            return f"the text {value[:40]!a}" if value.strip() else "an empty text"
        case bool() | int() | float():
            return f"the value {str(value)[:40]}"
        case Mapping():
            keys = ", ".join(ascii(key)[1:-1][:30] for key in list(value)[:6])
            return f"an object with {keys}" if keys else "an empty object"
    return f"a list of {len(value)}"


def text_of(file: Path) -> str:
    """The file's text, UTF-8 with or without a byte order mark."""
    try:
        content = file.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise failure(file, "", f"expected a file that can be read: {reason}") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        place = f"line {line}, byte {error.start}"
        problem = f"expected UTF-8 text, got the byte 0x{content[error.start]:02x}"
        raise failure(file, place, problem) from None
    if not text.strip():
        raise failure(file, "", "expected conversations, got an empty file")
    return text


def document(file: Path, text: str) -> Source:
    """The whole text as one JSON document."""
    return Source(file=file, place="", value=parse(file, text))


def lines(file: Path, text: str) -> list[Source]:
    """Each line that is not blank as a JSON document."""
    return [
        Source(file=file, place=f"line {number}", value=parse(file, line, number))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


def parse(file: Path, text: str, line: int | None = None) -> Json:
    """The JSON value; an error says where it is and whether the file breaks off there."""
    try:
        value: Json = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        place = f"line {line or error.lineno}, column {error.colno}"
        is_cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        problem = "the file breaks off" if is_cut else error.msg
        raise failure(file, place, f"expected complete JSON: {problem}") from None
    except (ValueError, RecursionError) as error:
        place = f"line {line}" if line else ""
        problem = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise failure(file, place, f"expected plain JSON: {problem}") from None
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
