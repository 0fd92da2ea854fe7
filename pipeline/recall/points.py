"""Entry versions as points of the vector index."""

from collections.abc import Sequence

import numpy as np

from pipeline.entries import Entry
from pipeline.ids import point_id
from pipeline.ports import Vectors
from pipeline.recall.labels import labels
from pipeline.recall.lexical import sparse_passage
from pipeline.recall.periods import Period, periods
from pipeline.recall.text import lexical_text_of
from pipeline.state import IndexPoint, OutboxItem


def points(item: OutboxItem) -> list[IndexPoint]:
    """The points an entry must have now, one per version; only the newest is current."""
    if not item.versions:
        return []
    entries = [entry for entry, _ in item.versions]
    held = periods(entries)
    return [
        _point(item, entry, vector, period=period, current=entry is entries[-1])
        for (entry, vector), period in zip(item.versions, held, strict=True)
    ]


def fitting(points: Sequence[IndexPoint], *, dim: int) -> tuple[list[IndexPoint], list[IndexPoint]]:
    """The points that an index of this width takes, and those whose vector it cannot take."""
    fit: list[IndexPoint] = []
    unfit: list[IndexPoint] = []
    for point in points:
        is_fit = point.dense.shape == (dim,) and bool(np.isfinite(point.dense).all())
        (fit if is_fit else unfit).append(point)
    return fit, unfit


def _point(
    item: OutboxItem, entry: Entry, vector: Vectors, *, period: Period | None, current: bool
) -> IndexPoint:
    sources = [item.sources[source] for source in entry.sources if source in item.sources]
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
        written_at=entry.written_at,
        language=entry.language,
        conversations=tuple(dict.fromkeys(source.conversation for source in sources)),
        labels=labels(entry, sources),
        period=period,
    )
