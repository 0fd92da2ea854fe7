"""Whether an English clause speaks of what was or of what will be."""

import re

from pipeline.text.daterules import Place

_FUTURE = (
    r"will|won['’]t|['’]ll|shall|going\s+to|gonna|plan(?:s|ning)?\s+to|due|deadline|scheduled"
    r"|booked|remind|needs?|ha(?:ve|s)\s+(?:to|an?|my|the)|must|should|can|could|want"
    r"|hop(?:e|ing)|let['’]s|expect(?:s|ing|ed)?|upcoming|starts?|leaves?|arrives?|flies|happens"
    r"|(?:am|is|are|['’]m|['’]re|['’]s)\s+(?:not\s+)?\w+ing|is|are"
)
_PAST = (
    r"haven['’]t|hasn['’]t|['’]ve|was|were|wasn['’]t|weren['’]t|did|didn['’]t|had|went|came|saw"
    r"|met|got|took|made|bought|ate|told|said|ran|gave|found|lost|left|wrote|read|began|won|felt"
    r"|thought|sent|spent|broke|fell|drove|flew|hit|paid|slept|spoke|taught|threw|wore|built|sold"
    r"|kept|heard|knew|became|brought|caught|chose|cut|drank|grew|held|rode|rang|sang|sat|stood"
    r"|swam|understood|woke|(?!indeed|speed|hundred|shed|seed|feed)\w{2,}ed"
)
_TENSE = re.compile(
    rf"(?:(?<!\w)|(?=['’]))(?:(?P<future>{_FUTURE})|(?P<past>{_PAST}))\b", re.IGNORECASE
)
_HABIT = re.compile(r"\b(?:every|each|usually|always|often|sometimes|never)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.!?;\n](?=\s|$)")


def _clause(place: Place) -> tuple[str, str]:
    """What stands in the sentence before and after the date, at most 200 characters each."""
    text, start, end = place.match.string, place.match.start(), place.match.end()
    before = _CLAUSE_END.split(text[max(0, start - 200) : start])[-1]
    after = _CLAUSE_END.split(text[end : end + 200], maxsplit=1)[0]
    return before, after


def tense(place: Place) -> str | None:
    """``future``, ``past``, or None: told by the nearest verb, those before the date first."""
    before, after = _clause(place)
    if _HABIT.search(before) or _HABIT.search(after):
        return None
    found = list(_TENSE.finditer(before)) or [m for m in [_TENSE.search(after)] if m]
    return found[-1].lastgroup if found else None
