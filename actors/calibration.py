"""Similarity thresholds, which belong to the embedding model and to nothing else.

Cosines of different models lie in different places: those of multilingual-e5-small are between
0.74 and 0.98 for any pair of texts. The table holds what was measured for the packaged models
(docs/decisions/0002-thresholds.md, 0007-topic-shifts.md); ``calibrate`` estimates the same numbers
for any other model from a conversation.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from actors.models import E5_SMALL, MINILM, packaged
from pipeline.awake.cues import leanings
from pipeline.awake.segment import TYPICAL_SHIFT, Signals, combined
from pipeline.errors import ConfigError, InputError
from pipeline.ports import Embedder, Vectors

_MIN_TEXTS = 20
_UNRELATED_SHARE = 0.55
_CHANCE_SHARE = 0.99
_STAYING_SHARE = 0.9
_WINDOW_TURNS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Two cosines and a shift of one model.

    ``max_similarity``: turns below it count as unrelated (the published rule of boundaries); it is
    a cosine of vectors for the purpose ``topic``. ``min_similarity``: entries at or above it may be
    about the same fact (sleep candidates); it is a cosine of passages. ``min_shift``: cuts above
    it are topic boundaries (``pipeline.awake.segment``).
    """

    max_similarity: float
    min_similarity: float
    min_shift: float = TYPICAL_SHIFT


_MEASURED = {
    E5_SMALL.name: Thresholds(max_similarity=0.41, min_similarity=0.85, min_shift=1.0),
    MINILM.name: Thresholds(max_similarity=0.30, min_similarity=0.60, min_shift=1.1),
}


def thresholds(model: str) -> Thresholds:
    """The thresholds measured for a packaged model, by its name or its prepared folder.

    Raises:
        ConfigError: nothing was measured for this model.
    """
    known = packaged(model)
    if known is None or known.name not in _MEASURED:
        raise ConfigError(
            f"no thresholds are known for the embedding model {model}; set "
            "segmentation.max_similarity and consolidation.min_similarity, for example to what "
            "actors.calibration.calibrate gives on a conversation of yours",
            field="embedder",
        )
    return _MEASURED[known.name]


def min_shift(model: str) -> float:
    """The least shift of a boundary, measured or typical.

    Shifts are read against their own window, so that those of different models lie close.
    """
    known = packaged(model)
    measured = None if known is None else _MEASURED.get(known.name)
    return TYPICAL_SHIFT if measured is None else measured.min_shift


def calibrate(embedder: Embedder, turns: Sequence[str]) -> Thresholds:
    """Thresholds for a model from the consecutive turns of conversations like those to come.

    The packaged models' measured values lie near these shares of their own cosines: somewhat more
    than half of neighbouring turns, as topic vectors, are less alike than ``max_similarity``, one
    pair of passages in a hundred reaches ``min_similarity`` by chance, and one cut in ten has a
    shift above ``min_shift``. Use texts of every language that the service will hold.

    Raises:
        InputError: fewer than 20 turns.
    """
    if len(turns) < _MIN_TEXTS:
        raise InputError(f"expected at least {_MIN_TEXTS} turns, got {len(turns)}", field="turns")
    topics = embedder.embed(turns, purpose="topic")
    neighbours = [float(a @ b) for a, b in itertools.pairwise(topics)]
    return Thresholds(
        max_similarity=round(float(np.quantile(neighbours, _UNRELATED_SHARE)), 3),
        min_similarity=round(_chance(embedder.embed(turns, purpose="passage")), 3),
        min_shift=round(float(np.quantile(_shifts(topics, turns), _STAYING_SHARE)), 3),
    )


def _shifts(topics: Vectors, turns: Sequence[str]) -> Vectors:
    """The shifts of all cuts in windows of the usual size, without attention."""
    places = [slice(start, start + _WINDOW_TURNS) for start in range(0, len(turns), _WINDOW_TURNS)]
    windows = [Signals(vectors=topics[here], leanings=leanings(turns[here])) for here in places]
    return np.concatenate([combined(window) for window in windows])


def _chance(vectors: Vectors) -> float:
    """The cosine that one pair in a hundred of different texts reaches."""
    cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), k=1)]
    return float(np.quantile(cosines, _CHANCE_SHARE))
