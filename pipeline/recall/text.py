"""What of an entry is embedded and indexed: the attributes and the statement together.

Source: arXiv 2510.18866 (LightMem), section 3.3, where an entry is indexed by its summary and its
topic; the speaker is added because a question usually names the person.
"""

from pipeline.entries import Attributes, Entry, Statement


def index_text(text: str, *, speaker: str, attributes: Attributes | None, topic: str) -> str:
    """The text that stands for a statement in the index, one part a line."""
    said = f"{speaker}: {text}" if speaker else text
    described = _described(attributes)
    return "\n".join(part for part in (said, described, topic) if part)


def index_text_of(entry: Entry | Statement) -> str:
    """The index text of an entry in its present version, or of a statement before it is one."""
    return index_text(
        entry.text, speaker=entry.speaker, attributes=entry.attributes, topic=entry.topic
    )


def _described(attributes: Attributes | None) -> str:
    if attributes is None:
        return ""
    parts = (attributes.subject, attributes.key, attributes.value)
    return " ".join(part for part in parts if part)
