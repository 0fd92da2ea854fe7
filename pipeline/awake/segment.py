"""Where a new topic starts in a window of turns.

Source: arXiv 2510.18866, section 3.2; upstream sensory_memory.py and
topic_segmenter/llmlingua_2.py@8fc9a91. There a boundary is a turn that attends *more* to the one
before than its neighbours do, where the two are also unlike. On labelled dialogues that is the
worst of all rules tried (docs/decisions/0007-topic-shifts.md). Here every cut gets a shift: how
deep the likeness of its two sides lies below that of its surroundings, over blocks of one to eight
turns (the depth score of TextTiling, Hearst 1997), how little the turn attends to the one before,
and what its wording says (``pipeline.awake.cues``). All signals use one convention: index i is a
cut before turn i. Knows nothing of models or roles.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import InputError

Values = NDArray[np.float32]

_BLOCKS = (1, 2, 4, 8)
"""Turns on either side of a cut that are compared; the depths of all sizes are averaged."""
_STEADY_BLOCK = 1
"""Which of the sizes gives the likeness itself: two turns, which one short reply does not sway."""
_CENTRE_TURNS = 8
"""A window of this many turns has half of its mean direction taken out, a longer one more."""
_USUAL_LIKENESS = 0.2
"""What turns of one topic reach; stands beyond both ends of a window, where nothing is known."""
_NEIGHBOUR_WEIGHT = 0.3
"""How far each turn is moved towards those of its window that are like it."""
_LINKED_TURNS = 2
_LINK_WEIGHT = 0.25
"""Of the depth of the closest pair of turns across a cut."""
_ATTENTION_WEIGHT = 0.3
_USUAL_LEANING = -0.35
"""What turns of one line lean to on average; long ones that end in a question lean less."""
_MIN_TURNED_AWAY = 0.15
"""How far below the window's average a turn must attend to be a boundary by attention alone."""

TYPICAL_SHIFT = 1.1
"""The shift of a boundary where nothing was measured for an embedding model."""


class Rule(StrEnum):
    """What makes a boundary.

    COMBINED: shifts of likeness, attention and wording together; the default.
    SIMILARITY: shifts of likeness alone.
    ATTENTION: turns that attend least to the one before, alone.
    PAPER: turns that attend most to the one before and are unlike it (the published rule).
    """

    COMBINED = "combined"
    SIMILARITY = "similarity"
    ATTENTION = "attention"
    PAPER = "paper"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What is known of a window of n turns.

    Args:
        vectors: ``(n, d)``; one L2-normalised embedding per turn, for the purpose ``topic``.
        attention: ``(n,)``; attention of turn i to turn i-1, 1 is the window's average, entry 0
            is ignored. None where a model gives none: every rule is then without it.
        leanings: ``(n,)``; how far each turn's wording leans towards a new topic, in shifts; empty
            where nothing is known.

    Raises:
        InputError: the parts disagree on n.
    """

    vectors: Values
    attention: Values | None = None
    leanings: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        turns = len(self.vectors)
        if self.attention is not None and len(self.attention) != turns:
            raise InputError(f"{len(self.attention)} attention values for {turns} turns")
        if self.leanings and len(self.leanings) != turns:
            raise InputError(f"{len(self.leanings)} leanings for {turns} turns")


def boundaries(
    signals: Signals,
    *,
    rule: Rule = Rule.COMBINED,
    min_shift: float = TYPICAL_SHIFT,
    max_similarity: float = 0.5,
) -> list[int]:
    """Turns before which a new topic starts: strictly increasing, in 1..n-1.

    Args:
        min_shift: least shift of a boundary; lower cuts more often. Of the rules COMBINED and
            SIMILARITY, and of all where there is no attention. Usual values are 0.8 to 1.4.
        max_similarity: cosine, in -1..1, below which neighbours count as unrelated; of PAPER.
    """
    attention = signals.attention
    if rule is Rule.SIMILARITY or len(signals.vectors) < 2:
        return _peaks(shifts(signals.vectors), least=min_shift)
    if rule is Rule.COMBINED or attention is None:
        return _peaks(combined(signals), least=min_shift)
    if rule is Rule.ATTENTION:
        return _peaks(1.0 - attention[1:], least=_MIN_TURNED_AWAY)
    if rule is Rule.PAPER:
        return _published(attention, signals.vectors, max_similarity)
    assert_never(rule)


def combined(signals: Signals) -> Values:
    """``(n-1,)``: the shift of each cut by all signals there are."""
    shift = shifts(signals.vectors)
    if signals.attention is not None:
        shift = shift + _ATTENTION_WEIGHT * (1.0 - np.clip(signals.attention[1:], 0.0, 2.0))
    if signals.leanings:
        shift = shift + _beyond_usual(np.array(signals.leanings[1:], dtype=np.float32))
    return shift.astype(np.float32)


def _beyond_usual(leanings: Values) -> Values:
    """Leanings against those of their window: where all turns end in questions, none holds back."""
    cuts = max(1, len(leanings))
    own: Values = leanings.sum() / (cuts + _CENTRE_TURNS)
    usual = own + _USUAL_LEANING * _CENTRE_TURNS / (cuts + _CENTRE_TURNS)
    against: Values = leanings - usual
    return against


def shifts(vectors: Values) -> Values:
    """``(n-1,)``: how deep the likeness across each cut lies, less the likeness itself.

    Both are read against the window: its mean direction is taken out of the vectors first, the
    more of it the more turns there are to tell it from.
    """
    if len(vectors) < 2:
        return np.zeros(0, dtype=np.float32)
    own = _drawn_together(_centred(vectors))
    likeness = [_likeness(own, block) for block in _BLOCKS]
    depth = np.mean([_depths(each) for each in likeness], axis=0)
    depth += _LINK_WEIGHT * _depths(_links(own))
    shift: Values = (depth - likeness[_STEADY_BLOCK]).astype(np.float32)
    return shift


def _centred(vectors: Values) -> Values:
    turns = len(vectors)
    return _unit(vectors - turns / (turns + _CENTRE_TURNS) * vectors.mean(axis=0))


def _drawn_together(vectors: Values) -> Values:
    """Each turn moved towards the turns like it, so that a topic shows in its short replies too."""
    weights = np.maximum(vectors @ vectors.T, 0.0) ** 2
    np.fill_diagonal(weights, 0.0)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
    return _unit(vectors + _NEIGHBOUR_WEIGHT * weights @ vectors)


def _unit(vectors: Values) -> Values:
    unit: Values = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit


def _links(vectors: Values) -> Values:
    """``(n-1,)``: the highest cosine of a turn shortly before each cut with one shortly after."""
    cosines, near = vectors @ vectors.T, _LINKED_TURNS
    cuts = range(1, len(vectors))
    linked = [cosines[max(0, cut - near) : cut, cut : cut + near].max() for cut in cuts]
    return np.array(linked, dtype=np.float32)


def _likeness(vectors: Values, block: int) -> Values:
    """``(n-1,)``: cosine of the means of up to ``block`` turns on either side of each cut."""
    turns, width = vectors.shape
    sums = np.concatenate([np.zeros((1, width), np.float32), np.cumsum(vectors, axis=0)])
    cuts = np.arange(1, turns)
    before = sums[cuts] - sums[np.maximum(cuts - block, 0)]
    after = sums[np.minimum(cuts + block, turns)] - sums[cuts]
    norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosines: Values = np.sum(before * after, axis=1) / np.maximum(norms, 1e-9)
    return cosines


def _depths(likeness: Values) -> Values:
    """How far the nearest crests on both sides rise above each value."""
    padded = [_USUAL_LIKENESS, *likeness.tolist(), _USUAL_LIKENESS]
    rises = [
        _crest(padded[i::-1]) + _crest(padded[i:]) - 2 * padded[i]
        for i in range(1, len(padded) - 1)
    ]
    return np.array(rises, dtype=np.float32)


def _crest(values: list[float]) -> float:
    """The value before the first fall."""
    top = values[0]
    for value in values[1:]:
        if value < top:
            break
        top = value
    return top


def _published(attention: Values, vectors: Values, max_similarity: float) -> list[int]:
    cosines = np.sum(vectors[1:] * vectors[:-1], axis=1)
    peaks = _peaks(attention[1:], least=-np.inf)
    return [i for i in peaks if cosines[i - 1] < max_similarity]


def _peaks(values: Values, *, least: float) -> list[int]:
    """Cuts above ``least`` that no neighbour exceeds; of equal ones side by side the first."""
    around = [-np.inf, *values.tolist(), -np.inf]
    return [
        i
        for i in range(1, len(around) - 1)
        if around[i] > least and around[i - 1] < around[i] >= around[i + 1]
    ]
