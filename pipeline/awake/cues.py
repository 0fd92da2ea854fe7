"""What the wording of turns says about topics, in English and Chinese.

Source: adjacency pairs and closings (Schegloff and Sacks, Opening Up Closings, 1973) and anaphora:
an answer stays with its question, thanks and farewells close a topic, and a turn that points back
with a pronoun goes on with what it points at. The weights come from TIAGE alone
(docs/decisions/0007-topic-shifts.md). Knows nothing of vectors.
"""

import itertools
import re
from collections.abc import Sequence

from pipeline.text.sentences import sentences

_ANSWERS = -0.6
_POINTS_BACK = -0.4
_AFTER_CLOSING = 0.3
_CLOSES_TOO = -0.3

_FIRST_SENTENCES, _LAST_SENTENCES = 3, 2
_ASKS = re.compile(r"[?？]|[吗呢么][。！!\s]*$")
_OFFERS = re.compile(
    r"\b(?:anything|something|what|who|where|any\w*\s+other)\s+else\b|\banything\s+(?:more|other)\b"
    r"|还有(?:什么|其他|别的)|(?:其他|别的|另外)[^。？?]{0,6}(?:吗|什么|问题|需要)",
    re.IGNORECASE,
)
"""Questions that invite another topic: whether there is anything else."""
_CLOSES = re.compile(
    r"\b(?:thanks?|thank\s+you|thx|cheers|you(?:'re|\s+are)\s+welcome|welcome|(?:good)?bye"
    r"|see\s+you|take\s+care|good\s+night"
    r"|have\s+a\s+(?:nice|great|good|wonderful|lovely))\b"
    r"|谢谢|多谢|感谢|不客气|不用谢|再见|拜拜|回头见|晚安|祝您|祝你",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:it|its|that|those|these|this|they|them|their|he|she|him|her|his|hers|one|ones|there"
    r"|same|so|too)\b"
    r"|[它他她]|这(?!周|个?月|[里儿边几])|那(?!么)|其中|同样|也(?!许)",
    re.IGNORECASE,
)
"""Words that take their meaning from what was said before."""


def leanings(turns: Sequence[str]) -> tuple[float, ...]:
    """How far each turn's wording leans towards a new topic, in shifts; below 0: staying.

    That of the first is 0.
    """
    return (0.0, *itertools.starmap(_leaning, itertools.pairwise(turns)))[: len(turns)]


def _leaning(before: str, turn: str) -> float:
    said, opening = _ending(before), _opening(turn)
    leaning = 0.0
    if any(_ASKS.search(text) and not _OFFERS.search(text) for text in said):
        leaning += _ANSWERS
    if _BACK.search(opening):
        leaning += _POINTS_BACK
    if any(_CLOSES.search(text) for text in said):
        leaning += _CLOSES_TOO if _CLOSES.search(opening) else _AFTER_CLOSING
    return leaning


def _ending(turn: str) -> list[str]:
    return [span.text for span in sentences(turn)[-_LAST_SENTENCES:]]


def _opening(turn: str) -> str:
    """The first sentences; words further behind may point at the turn itself."""
    return " ".join(span.text for span in sentences(turn)[:_FIRST_SENTENCES])
