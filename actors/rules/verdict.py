"""What the comparison of two readings comes to."""

from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """What one candidate asks for."""

    DELETE = "delete"
    UPDATE = "update"
    IGNORE = "ignore"


class Why(StrEnum):
    """Which rule spoke."""

    STATE = "state"
    ENDED = "ended"
    RESIDENCE = "residence"
    WORK = "work"
    FLIP = "flip"
    VALUE = "value"
    ATTRIBUTE = "attribute"
    CHOICE = "choice"
    DONE = "done"
    REFINED = "refined"
    REPEATED = "repeated"
    EXAMPLE = "example"
    EXTENDED = "extended"
    DETAILED = "detailed"
    NAMED = "named"
    QUESTION = "question"
    REPORTED = "reported"
    SUBJECT = "subject"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one candidate asks for and by which rule."""

    action: Action
    why: Why
