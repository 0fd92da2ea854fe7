"""Which form a file has, and reading it in that form."""

from collections.abc import Mapping
from pathlib import Path

from pipeline.errors import InputError
from pipeline.messages import Json
from serve.formats import beam, conversation_list, jsonl, locomo, openai_chat, sharegpt
from serve.formats.conversation import ConversationIn, with_distinct_ids
from serve.formats.source import Source, document, failure, lines, parse, shown, text_of

FORMATS: Mapping[str, str] = {
    "jsonl": jsonl.EXPECTED,
    "locomo": locomo.EXPECTED,
    "beam": beam.EXPECTED,
    "openai": openai_chat.EXPECTED,
    "sharegpt": sharegpt.EXPECTED,
    "conversation_list": conversation_list.EXPECTED,
}
"""Every form by name, with what a file of it holds."""

_BY_LINE = ("jsonl", "openai", "sharegpt")


def read(path: Path, format: str = "auto") -> list[ConversationIn]:
    """The conversations of the file, in its order, none of them empty.

    Args:
        path: the file.
        format: a name in FORMATS, or ``auto`` to tell by what the file holds.

    Raises:
        InputError: the file cannot be read, breaks off, is not UTF-8 or not JSON, or is of another
            form; the message names file, place and what was expected.
    """
    if format != "auto" and format not in FORMATS:
        known = ", ".join(["auto", *FORMATS])
        raise InputError(f"expected one of {known}, got {format[:40]!a}", field="format")
    rows = _rows(path)
    form = _form(rows)
    if form is None or format not in ("auto", form):
        raise _other(rows[0], format, form)
    found = [with_distinct_ids(each) for each in _read(rows, form) if each.messages]
    if not found:
        raise failure(path, "", f"expected {FORMATS[form]}, got no message")
    return found


def detect(path: Path) -> str:
    """The name of the file's form.

    Raises:
        InputError: it has none of the known ones, or cannot be read.
    """
    rows = _rows(path)
    form = _form(rows)
    if form is None:
        raise _other(rows[0], "auto", None)
    return form


def _rows(path: Path) -> list[Source]:
    """The file's lines where each is a document of its own, else the whole as one."""
    text = text_of(path)
    first, _, rest = text.strip().partition("\n")
    try:
        value = parse(path, first)
    except InputError:
        return [document(path, text)]
    is_by_line = isinstance(value, dict) and (bool(rest.strip()) or _of(value) == "jsonl")
    return lines(path, text) if is_by_line else [document(path, text)]


def _other(first: Source, format: str, form: str | None) -> InputError:
    expected = FORMATS.get(format, "one of " + ", ".join(FORMATS))
    got = f"a file of the form {form}" if form else shown(first.value)
    return failure(first.file, first.place, f"expected {expected}, got {got}")


def _form(rows: list[Source]) -> str | None:
    form = _of(rows[0].value)
    return form if form in _BY_LINE or not rows[0].place else None


def _of(value: Json) -> str | None:
    """The form of one document."""
    if isinstance(value, list):
        first = value[0] if value else None
        if isinstance(first, dict) and "role" in first:
            return "openai"
        form = "beam" if beam.is_batch(first) else _of(first)
        return form if form in ("beam", "locomo", "openai", "sharegpt") else None
    if not isinstance(value, dict):
        return None
    if "conversation_list" in value:
        return "conversation_list"
    if locomo.is_sample(value):
        return "locomo"
    for key, form in (("messages", "openai"), ("conversations", "sharegpt")):
        if isinstance(value.get(key), list):
            return form
    return "jsonl" if jsonl.is_row(value) else None


def _read(rows: list[Source], form: str) -> list[ConversationIn]:
    match form:
        case "jsonl":
            return jsonl.conversations(rows)
        case "locomo":
            return locomo.conversations(rows[0])
        case "beam":
            return beam.conversations(rows[0])
        case "conversation_list":
            return conversation_list.conversations(rows[0])
        case "openai":
            return openai_chat.conversations(_chats(rows))
    return sharegpt.conversations(_chats(rows))


def _chats(rows: list[Source]) -> list[Source]:
    """A list of chats as its chats; a list of messages is one chat."""
    first = rows[0].value
    if not isinstance(first, list):
        return rows
    is_one_chat = bool(first) and isinstance(first[0], dict) and "role" in first[0]
    return rows if is_one_chat else rows[0].items()
