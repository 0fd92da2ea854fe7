"""What the rules see of a sentence: who, what sort of claim, which content words and values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from actors.rules.sketch import Sketch


class Mode(StrEnum):
    """How a clause stands in time."""

    STATE = "state"
    PLAN = "plan"
    TASK = "task"
    EVENT = "event"
    PAST = "past"


class Sense(StrEnum):
    """The sort of claim; of RESIDENCE and WORK a person has one at a time."""

    RESIDENCE = "residence"
    WORK = "work"
    TASTE = "taste"
    HABIT = "habit"
    WISH = "wish"
    NAMED = "named"
    IS = "is"
    HAS = "has"
    ABLE = "able"
    OTHER = "other"


class Mark(StrEnum):
    """Words that say how a sentence relates to what was said before."""

    NOW = "now"
    CORRECTION = "correction"
    CHANGE = "change"
    ADDITION = "addition"
    INSTEAD = "instead"
    AGAIN = "again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One claim.

    ``person`` is a path such as ``user/sister``, empty for a thing; ``thing`` the content words of
    a subject that is no person; ``words`` all content words but the person's; ``value`` those of
    the predicate; ``begins`` and ``ends`` say that the claim starts or stops to hold.
    """

    person: str
    thing: frozenset[str]
    verb: str
    sense: Sense
    mode: Mode
    words: frozenset[str]
    value: frozenset[str]
    is_negative: bool = False
    begins: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A sentence as the rules see it.

    ``classes`` are general words for what its words are examples of (tea for a sort of tea);
    ``states`` are (dimension, state) pairs of which only one state holds at a time; ``ended`` are
    words of what is said to be over; ``preferred`` is (rather this, than that);
    ``is_reported`` marks what someone told, asked or noted in so many words;
    ``modifiers`` are names of languages, ``verbs`` the words that are verbs, ``single`` the nouns
    for what there is one of at a time; ``aligned`` holds the roots of all its words but values, in
    order; ``sketch`` is the second look at the whole sentence.
    """

    text: str
    is_chinese: bool
    clauses: tuple[Clause, ...]
    words: frozenset[str]
    names: frozenset[str]
    classes: frozenset[str]
    slots: Mapping[str, frozenset[str]]
    states: frozenset[tuple[str, str]]
    ended: frozenset[str]
    marks: frozenset[Mark]
    preferred: tuple[frozenset[str], frozenset[str]] | None = None
    is_question: bool = False
    is_reported: bool = False
    modifiers: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    single: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    aligned: tuple[str, ...] = ()
    sketch: Sketch = field(default_factory=Sketch)

    @property
    def main(self) -> Clause:
        """The first claim."""
        return self.clauses[0]
