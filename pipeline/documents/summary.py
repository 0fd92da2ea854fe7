"""The few sentences of a section that say the most of it, in their order; no model is asked.

A sentence counts by how many other sentences of the section share its terms; the first one counts
more, as authors begin with what matters.
"""

import math
from collections import Counter
from collections.abc import Sequence

from pipeline.recall.lexical import terms
from pipeline.text.sentences import SpanKind, sentences

MOST_SENTENCES = 3
MOST_CHARS = 480
_LEAD = 1.5
_TELLING = (SpanKind.PROSE, SpanKind.ITEM)


def summary(texts: Sequence[str]) -> str:
    """At most ``MOST_SENTENCES`` sentences and ``MOST_CHARS`` characters; empty where none is."""
    spans = [span for text in texts for span in sentences(text) if span.kind in _TELLING]
    said = list(dict.fromkeys(span.body for span in spans))
    words = [set(terms(one)) for one in said]
    shared = Counter(word for some in words for word in some)
    scores = [_score(some, shared, is_first=place == 0) for place, some in enumerate(words)]
    best = sorted(range(len(said)), key=lambda place: (-scores[place], place))
    chosen: list[int] = []
    left = MOST_CHARS
    for place in best[:MOST_SENTENCES]:
        if len(said[place]) <= left:
            chosen.append(place)
            left -= len(said[place])
    if said and not chosen:
        return f"{said[best[0]][: MOST_CHARS - 1]}…"
    return _joined([said[place] for place in sorted(chosen)])


def _score(words: set[str], shared: Counter[str], *, is_first: bool) -> float:
    if not words:
        return 0.0
    weight = 1.0 + sum(shared[word] - 1 for word in words)
    return (_LEAD if is_first else 1.0) * weight / math.sqrt(len(words) + 4)


def _joined(said: Sequence[str]) -> str:
    text = ""
    for one in said:
        ended = one if one[-1:] in ".。!！?？…:：;；" else f"{one}{'。' if _is_wide(one) else '.'}"
        text += ended if not text or _is_wide(text[-1]) else f" {ended}"
    return text


def _is_wide(text: str) -> bool:
    return any("\u3000" <= sign <= "\u9fff" or "\uff00" <= sign <= "\uffef" for sign in text)
