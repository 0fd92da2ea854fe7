"""A document as one conversation: Markdown, plain text, HTML, or PDF with the extra ``pdf``."""

from collections.abc import Callable, Mapping
from pathlib import Path

from actors.pdf import pages_of
from pipeline.documents.html import read_html
from pipeline.documents.markdown import read_markdown, read_plain
from pipeline.documents.messages import pieces
from pipeline.documents.pages import read_pages
from pipeline.documents.parts import Document
from pipeline.errors import InputError
from pipeline.text.times import parse_time
from serve.formats.conversation import ConversationIn, message
from serve.formats.source import failure, text_of

_TEXTS: Mapping[str, Callable[..., Document]] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".txt": read_plain,
    ".text": read_plain,
    ".html": read_html,
    ".htm": read_html,
}
_PDF = ".pdf"


def read_document(path: Path, *, said_at: str | None = None) -> ConversationIn:
    """The document's messages, as one conversation named after the file.

    Args:
        said_at: when it was written; as the document says if not given, else when it comes in.

    Raises:
        InputError: the file cannot be read, is of no known form, or holds no text.
        ConfigError: a PDF without the extra.
    """
    document = _read(path)
    found = pieces(document)
    if not found:
        raise failure(path, "", "expected a document with text, got none")
    at = said_at or _time(document.written)
    told = tuple(
        message(
            "user",
            piece.content,
            speaker=document.title[:200],
            said_at=at,
            message_id=piece.id,
            metadata=dict(piece.metadata),
        )
        for piece in found
    )
    return ConversationIn(collection=None, conversation=path.name, zone=None, messages=told)


def _read(path: Path) -> Document:
    form = path.suffix.lower()
    if form == _PDF:
        return read_pages(pages_of(_bytes(path)), title=path.stem)
    if form not in _TEXTS:
        known = ", ".join((*_TEXTS, _PDF))
        raise failure(path, "", f"expected a document ({known}), got {form or 'no ending'!a}")
    return _TEXTS[form](text_of(path), title=path.stem)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise failure(path, "", f"expected a file that can be read: {reason}") from error


def _time(written: str | None) -> str | None:
    """What the document says, where it is a time."""
    try:
        return None if written is None else parse_time(written, zone=None) and written
    except InputError:
        return None
