"""First-person sentences put so that retelling them reads well: introductions and ``let me``.

Knows nothing of pronouns or dates.
"""

import re

_NAME = r"(?P<name>[A-Z][a-zà-ÿ]+(?:[ -][A-Z][a-zà-ÿ]+)?)"
_AM = re.compile(
    r"^(?P<lead>I(?:['’]m| am)|Im|My name(?:['’]s| is)|This is|It['’]s) "
    rf"{_NAME}(?P<here> here)?"
    r"(?P<mark>[.!]+(?:\s+|$)|\s*[,;–—-] ?(?:and )?|\s+and (?=I\b)|\s+(?=from\b))"
)
_NO_NAME = re.compile(
    r".*(?:ese|ish|ian|ean|ican|rman)$|(?:French|Dutch|Greek|Thai|Swiss|Czech|Turk|Muslim|Catholic|"
    r"Protestant|Jewish|Hindu|Buddhist|Aries|Taurus|Gemini|Leo|Virgo|Libra|Scorpio|Pisces|Sure|Sorry|"
    r"Fine|Okay|Good|Happy|Glad|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)$"
)
_APPOSED = re.compile(r"(?:an?|the|from|\d)\b")
_AM_CHINESE = re.compile(
    r"^我(?:的名字)?(?:叫|是)(?P<name>[^，。！,.!\s]{1,12})(?:[，,]|[。！.!]+|$)\s*"
)
_NO_PREFIX = re.compile(r"^(?:[我你您他她它这那大请]|很高兴|幸会|初次|以后)")
_LET_ME = re.compile(
    r"^(?P<then>then |so |ok(?:ay)?,? |well,? )?let me (?P<adverb>then |just |first |also )?"
    r"(?!know|see\b|think|guess|in\b|out\b|tell you|ask|be\b|have\b|get this)(?=[a-z])",
    re.IGNORECASE,
)


def recast(text: str, *, speaker: str, language: str) -> str:
    """The text without the speaker's own name as news; empty where nothing else was said.

    ``I'm Mara, a welder`` by someone called otherwise is ``My name is Mara. I'm a welder``.
    """
    if language == "zh":
        return _introduced_in_chinese(text, speaker)
    return _will(_introduced(text, speaker)) if language == "en" else text


def _introduced(text: str, speaker: str) -> str:
    found = _AM.match(text)
    if found is None or (found["lead"] in {"This is", "It's", "It’s"} and not found["here"]):
        return text
    rest = text[found.end() :]
    apposed = f"I'm {rest}" if _APPOSED.match(rest) else rest[:1].upper() + rest[1:]
    if _is_called(speaker, found["name"]):
        return apposed
    if found["lead"].startswith("I") and _NO_NAME.match(found["name"]):
        return text
    return f"My name is {found['name']}. {apposed}".strip()


def _is_called(speaker: str, name: str) -> bool:
    """Whether the name is the speaker's, or its first part or its longer form."""
    one, other = speaker.casefold().split(), name.casefold().split()
    return one[: len(other)] == other or other[: len(one)] == one


def _introduced_in_chinese(text: str, speaker: str) -> str:
    found = _AM_CHINESE.match(text)
    if found is None or found["name"] != speaker:
        return text
    rest = text[found.end() :]
    return rest if not rest or _NO_PREFIX.match(rest) else f"我{rest}"


def _will(text: str) -> str:
    """``Then let me take it`` as ``I will then take it``."""
    found = _LET_ME.match(text)
    if found is None:
        return text
    then = "then " if (found["then"] or "").lower() == "then " else ""
    return f"I will {then}{(found['adverb'] or '').lower()}{text[found.end() :]}"
