"""The union of a target and the candidates that refine it, as one readable text.

A sentence that another one holds wholly is dropped; of the rest, sentences with the same subject
become one with several predicates, others follow each other. Never loses a name, a number or a
negation of what it unites, at the price of a longer text.
"""

import re
from collections.abc import Sequence

from pipeline.sleep.kept import is_chinese, lost

_SUBJECT = re.compile(
    r"^(?P<subject>(?:The user(?:['’]s [a-z]+)?|I|[A-Z][\w-]+(?:['’]s [a-z]+)?)) "
    r"(?P<rest>(?:(?:also|now|always|usually|often|no longer|never|especially) )*"
    r"(?:[a-z]+(?:s|ed)|is|has|does|was|will|can|cannot|had|went|bought|left|ate)\b.*)$"
)
_ENDS = ("!", "?", "！", "？", "…")
_ZH_SUBJECT = re.compile(r"^(?P<subject>用户(?:的\w{1,3}(?=[^\w]))?)(?P<rest>(?!的).+)$")


def union(target: str, candidates: Sequence[str], words: Sequence[frozenset[str]]) -> str:
    """One text with everything the target and the candidates say.

    Args:
        target: the older sentence.
        candidates: the newer ones, the oldest first; at least one.
        words: content words of the target and of each candidate, in that order.
    """
    texts = [target, *candidates]
    kept = [i for i in range(len(texts)) if not _is_held(i, texts, words)]
    return join([texts[i] for i in kept])


def _is_held(place: int, texts: Sequence[str], words: Sequence[frozenset[str]]) -> bool:
    """Whether another sentence says all of this one; of two that say the same, the newer stays."""
    for other in range(len(texts)):
        if other == place or not words[place] <= words[other]:
            continue
        is_twin = words[place] == words[other] and not lost(texts[place], [texts[other]])
        if not lost(texts[other], [texts[place]]) and (not is_twin or other > place):
            return True
    return False


def join(texts: Sequence[str]) -> str:
    """The sentences as one text, their common subject said once."""
    if len(texts) == 1:
        return texts[0]
    chinese = is_chinese(texts[0])
    pattern = _ZH_SUBJECT if chinese else _SUBJECT
    bare = [text.strip().rstrip(".。;；,， ") for text in texts]
    matches = [pattern.match(text) for text in bare]
    if len({match["subject"] if match else None for match in matches}) != 1 or not matches[0]:
        return ("" if chinese else " ").join(_ended(text, chinese) for text in bare)
    predicates = [match["rest"] for match in matches if match]
    subject = matches[0]["subject"]
    if chinese:
        return f"{subject}{'，'.join(predicates)}。"
    return f"{subject} {_listed(predicates)}."


def _ended(text: str, chinese: bool) -> str:
    """The sentence with a mark at its end: its own, or a full stop."""
    if text.endswith(_ENDS):
        return text
    return text + ("。" if chinese else ".")


def _listed(predicates: Sequence[str]) -> str:
    if any("," in each or " and " in each for each in predicates):
        return "; ".join(predicates)
    if len(predicates) == 2:
        return " and ".join(predicates)
    return ", ".join(predicates[:-1]) + f" and {predicates[-1]}"
