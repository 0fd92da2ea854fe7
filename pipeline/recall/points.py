"""Entry versions as points of the vector index."""

from collections.abc import Sequence

import numpy as np

from pipeline.entries import Entry
from pipeline.ids import point_id
from pipeline.ports import Vectors
from pipeline.recall.lexical import sparse_passage
from pipeline.recall.text import lexical_text_of
from pipeline.state import IndexPoint, OutboxItem


def points(item: OutboxItem) -> list[IndexPoint]:
    """The points an entry must have now, one per version; only the newest is current."""
    newest = len(item.versions) - 1
    return [
        _point(item, entry, vector, current=place == newest)
        for place, (entry, vector) in enumerate(item.versions)
    ]


def fitting(points: Sequence[IndexPoint], *, dim: int) -> tuple[list[IndexPoint], list[IndexPoint]]:
    """The points that an index of this width takes, and those whose vector it cannot take."""
    fit: list[IndexPoint] = []
    unfit: list[IndexPoint] = []
    for point in points:
        is_fit = point.dense.shape == (dim,) and bool(np.isfinite(point.dense).all())
        (fit if is_fit else unfit).append(point)
    return fit, unfit


def _point(item: OutboxItem, entry: Entry, vector: Vectors, *, current: bool) -> IndexPoint:
    return IndexPoint(
        id=point_id(item.scope.tenant, entry.id, entry.version),
        scope=item.scope,
        entry=entry.id,
        version=entry.version,
        current=current,
        status=entry.status,
        kind=entry.kind,
        speaker=entry.speaker,
        said_at=entry.said_at,
        valid_from=entry.valid_from,
        valid_to=entry.valid_to,
        dense=vector,
        lexical=sparse_passage(lexical_text_of(entry)),
    )
