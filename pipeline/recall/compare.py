"""Where the points of an index differ from what they should be. Knows no store."""

from collections.abc import Mapping, Sequence

import numpy as np

from pipeline.state import Difference, IndexPoint, OutboxItem, StoredPoint

_SAME_VECTOR = 0.999
"""Cosine from which two vectors count as one that was rounded: float16 costs about 1e-6."""


def differences(
    items: Sequence[OutboxItem],
    wanted: Sequence[IndexPoint],
    found: Mapping[str, StoredPoint],
    *,
    repaired: bool,
) -> list[Difference]:
    """What is wrong with each wanted point, and entries that have no vector to make one of."""
    differing = [
        Difference(
            kind="no vector",
            scope=item.scope,
            subject=f"entry {item.entry}",
            detail="no version has a vector, so it cannot be found by search",
        )
        for item in items
        if not item.versions
    ]
    for point in wanted:
        wrong = _wrong(point, found.get(point.id))
        if wrong is not None:
            kind, detail = wrong
            where = f"entry {point.entry} version {point.version}"
            differing.append(
                Difference(
                    kind=kind, scope=point.scope, subject=where, detail=detail, repaired=repaired
                )
            )
    return differing


def unusable(points: Sequence[IndexPoint], *, dim: int) -> list[Difference]:
    """What is wrong with points whose vector no index of this width takes."""
    return [
        Difference(
            kind="unusable vector",
            scope=point.scope,
            subject=f"entry {point.entry} version {point.version}",
            detail=f"expected {dim} finite numbers, {_numbers(point)}",
        )
        for point in points
    ]


def _numbers(point: IndexPoint) -> str:
    finite = int(np.isfinite(point.dense).sum())
    return f"found {point.dense.size}, of which {finite} are finite"


def _wrong(point: IndexPoint, stored: StoredPoint | None) -> tuple[str, str] | None:
    """The kind of the difference and what was expected and found; None where all agrees."""
    if stored is None:
        return "missing point", f"expected point {point.id}, found none"
    expected = (
        ("scope", str(point.scope), str(stored.scope)),
        ("entry", str(point.entry), str(stored.entry)),
        ("version", str(point.version), str(stored.version)),
        ("current", str(point.current), str(stored.current)),
        ("status", point.status.value, stored.status),
        ("kind", point.kind.value, stored.kind),
        ("valid_to", point.valid_to.isoformat() if point.valid_to else "", stored.valid_to),
    )
    for name, wanted, found in expected:
        if wanted != found:
            return "wrong payload", f"expected {name} {wanted}, found {found or 'none'}"
    return _wrong_vector(point, stored)


def _wrong_vector(point: IndexPoint, stored: StoredPoint) -> tuple[str, str] | None:
    if stored.dense.shape != point.dense.shape:
        expected, found = point.dense.shape[0], stored.dense.shape[0]
        return "wrong vector", f"expected {expected} numbers, found {found}"
    lengths = float(np.linalg.norm(stored.dense) * np.linalg.norm(point.dense))
    cosine = float(stored.dense @ point.dense) / lengths if lengths else 1.0
    if cosine < _SAME_VECTOR:
        return "wrong vector", f"expected the entry's vector, found one at cosine {cosine:.3f}"
    return None
