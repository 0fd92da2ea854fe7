"""Which of several dates a chat model's statement must have: that of the clause it is made of.

Where the messages speak of several days, each in a clause of its own, and the statement shares
content words with one of these clauses alone, its day is that clause's. With words of several
clauses, or of none, nothing is told.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from pipeline.awake.chat_check import Said, dated
from pipeline.awake.chat_grounds import content_words
from pipeline.text.days import Day, days_in

_ENDS = re.compile(
    r"[,;:.!?\n]\s|[.!?]$|[，；：。！？\n]|\s(?:and|but|then|while|because|so)\s|然后|而且|但是?|并且|再"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clause:
    """What a clause of a message says beside its days."""

    words: frozenset[str]
    days: tuple[Day, ...]


def clause_day(text: str, told: Day, said: Said) -> date | None:
    """The day that the statement must have in the place of the one it has; None where that may be.

    Args:
        told: the only day of the text.
    """
    clauses = [each for message in said.messages for each in _clauses(dated(message))]
    timed = [clause for clause in clauses if clause.days]
    if len({day.day for clause in timed for day in clause.days}) < 2:
        return None
    bare = text[: told.start] + " " + text[told.end :]
    own = content_words(bare, speakers=said.speakers)
    about = [clause for clause in clauses if clause.words & own]
    if len(about) != 1 or len(about[0].days) != 1:
        return None
    (right,) = about[0].days
    # The statement may stand for itself, as where a week is told by one of its days.
    is_right = right.day == told.day or not right.is_exact
    return None if is_right else right.day


def _clauses(text: str) -> Iterator[_Clause]:
    days = days_in(text)
    masked = text
    for day in reversed(days):
        masked = masked[: day.start] + "_" * (day.end - day.start) + masked[day.end :]
    start = 0
    for end in [*(match.end() for match in _ENDS.finditer(masked)), len(text)]:
        own = tuple(day for day in days if start <= day.start < end)
        part = masked[start:end].replace("_", " ")
        yield _Clause(words=content_words(part, speakers=()), days=own)
        start = end
