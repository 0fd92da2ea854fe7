"""Similarity thresholds, which belong to the embedding model and to nothing else.

Cosines of different models lie in different places: those of multilingual-e5-small are between
0.74 and 0.98 for any pair of texts. The table holds what was measured for the packaged models
(docs/decisions/0002-thresholds.md); ``calibrate`` estimates the same two numbers for any other
model from sample texts.
"""

from dataclasses import dataclass

from actors.models import E5_SMALL, MINILM, packaged
from pipeline.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Two cosines of one model.

    ``max_similarity``: neighbouring turns below it count as unrelated (topic boundaries).
    ``min_similarity``: entries at or above it may be about the same fact (sleep candidates).
    """

    max_similarity: float
    min_similarity: float


_MEASURED = {
    E5_SMALL.name: Thresholds(max_similarity=0.82, min_similarity=0.88),
    MINILM.name: Thresholds(max_similarity=0.25, min_similarity=0.6),
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
            "actors.calibration.calibrate gives on texts of yours",
            field="embedder",
        )
    return _MEASURED[known.name]
