"""Whether a task is open, done or dropped: by its words, and by what superseded it in sleep.

English and Chinese. A task that another plan took the place of is in none of these states.
"""

import re
from dataclasses import replace
from enum import StrEnum

from pipeline.entries import CURRENT, Attributes, Entry, Kind, Status

STATE_KEY = "task_state"
"""The key of the attribute that says the state of a superseded task."""


class TaskState(StrEnum):
    """What became of a task."""

    OPEN = "open"
    DONE = "done"
    DROPPED = "dropped"


CLOSED = (TaskState.DONE, TaskState.DROPPED)

_DROPPED = re.compile(
    r"\b(?:no longer|not going to|won['’]t|cancel\w*|called off|drop(?:s|ped)?|gave up|given up|"
    r"decided (?:against|not to)|(?:do(?:es)?n['’]t|do(?:es)? not|didn['’]t) (?:need|have|want) to|"
    r"abandon\w*|scrapped|off the table|not needed)\b|"
    r"取消|不用|不必|不去|不做|不买|不参加|不再|放弃|算了|作罢|撤销|撤回|不打算|不想|不需要",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:\w{2,}[^e\W]ed|done|did|finished|complete|sent|bought|paid|made|went|got|took|taken|gave|"
    r"given|wrote|written|sold|told|met|built|found|put|brought|held|ready|over with)\b|"
    r"已|完成|搞定|办妥|[一-鿿]了(?!解)",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"\b(?:not|never|yet to|almost|nearly)\b|[a-z]n['’]t\b|没|尚未|差点|快要", re.IGNORECASE
)


def task_state(entry: Entry) -> TaskState | None:
    """The state of a task; None for another kind, and for a task that another one replaced."""
    if entry.kind is not Kind.TASK:
        return None
    told = entry.attributes
    if told is not None and told.key == STATE_KEY:
        return TaskState(told.value) if told.value in set(TaskState) else None
    if entry.status in (*CURRENT, Status.ARCHIVED):
        return TaskState.OPEN
    return None


def closed_by(entry: Entry, newer: Entry) -> Entry:
    """The entry with the state that ``newer``, which takes its place, gives a task; else itself."""
    state = _state_after(entry, newer) if entry.kind is Kind.TASK else None
    if state is None:
        return entry
    subject = entry.attributes.subject if entry.attributes else entry.speaker
    told = Attributes(subject=subject, key=STATE_KEY, value=state.value)
    return replace(entry, attributes=told)


def _state_after(entry: Entry, newer: Entry) -> TaskState | None:
    dropped = _DROPPED.search(newer.text)
    # What was to be cancelled and has been is done.
    if dropped and dropped.group()[:4].casefold() not in entry.text.casefold():
        return TaskState.DROPPED
    is_done = _DONE.search(newer.text) and not _NOT_DONE.search(newer.text)
    return TaskState.DONE if is_done and newer.kind is not Kind.TASK else None
