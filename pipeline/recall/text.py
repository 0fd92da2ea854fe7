"""What of an entry is embedded and indexed: the attributes and the statement together.

Source: arXiv 2510.18866 (LightMem), section 3.3, where an entry is indexed by its summary and its
topic; the speaker is added because a question usually names the person. Where we differ: the topic
and the day it was said are words to search by and are not embedded, since they pull statements of
one segment together (docs/decisions/0003-index-text.md has the figures).
"""

from pipeline.entries import Attributes, Entry, Statement
from pipeline.text.zones import zone_info

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def index_text(text: str, *, speaker: str, attributes: Attributes | None) -> str:
    """The text of a statement that is embedded, one part a line."""
    said = f"{speaker}: {text}" if speaker else text
    described = _described(attributes)
    return "\n".join(part for part in (said, described) if part)


def index_text_of(entry: Entry | Statement) -> str:
    """The index text of an entry in its present version, or of a statement before it is one."""
    return index_text(entry.text, speaker=entry.speaker, attributes=entry.attributes)


def lexical_text_of(entry: Entry | Statement) -> str:
    """The words an entry is found by: its index text, its topic and its day."""
    local = entry.said_at.astimezone(zone_info(entry.zone)[0])
    day = f"{local.year}年{local.month}月{local.day}日" if entry.language == "zh" else ""
    written = day or f"{local.day} {_MONTHS[local.month - 1]} {local.year}"
    parts = (index_text_of(entry), entry.topic, written)
    return "\n".join(part for part in parts if part)


def _described(attributes: Attributes | None) -> str:
    if attributes is None:
        return ""
    parts = (attributes.subject, attributes.key, attributes.value)
    return " ".join(part for part in parts if part)
