"""What a context shows: its text, its sections, and what each line rests on."""

from dataclasses import dataclass

from pipeline.ids import EntryId, MessageId
from pipeline.recall.frame import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A line: its tag and text, and the entries and messages that it rests on.

    ``quotes`` are the messages whose own text stands in the line.
    """

    tag: int
    text: str
    entries: tuple[EntryId, ...]
    messages: tuple[MessageId, ...]
    quotes: tuple[MessageId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One section of the context, heading included."""

    section: Section
    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Text ready for a prompt, its tokens, and what it shows; empty text where nothing fits."""

    text: str
    tokens: int
    parts: tuple[Part, ...] = ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All lines in the order of their tags."""
        return tuple(citation for part in self.parts for citation in part.citations)

    @property
    def entries(self) -> tuple[EntryId, ...]:
        """The cited entries, each once."""
        return tuple(dict.fromkeys(one for cited in self.citations for one in cited.entries))

    @property
    def messages(self) -> tuple[MessageId, ...]:
        """The cited messages, each once."""
        return tuple(dict.fromkeys(one for cited in self.citations for one in cited.messages))
