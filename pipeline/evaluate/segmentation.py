"""How well found topic boundaries agree with labelled ones.

Source: Pk of Beeferman, Berger and Lafferty (1999), WindowDiff of Pevzner and Hearst (2002). Both
slide a window of k turns over a dialogue and count where found and labelled boundaries tell its
ends apart differently; lower is better. Boundaries follow one convention: index i is a cut before
turn i. Beside the measures stands the floor that every rule is held against.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Turns in order, and the turns before which a new topic starts."""

    turns: tuple[str, ...]
    labelled: tuple[int, ...]


def dialogues(document: object) -> list[Dialogue]:
    """Those of a data set: a list of objects with ``utterances`` and ``segments`` (lengths).

    Raises:
        InputError: the document has another form; the field names the dialogue.
    """
    if not isinstance(document, list) or not document:
        raise InputError("expected a list of dialogues", field="dialogues")
    return [_dialogue(row, f"dialogues.{place}") for place, row in enumerate(document)]


def _dialogue(row: object, field: str) -> Dialogue:
    turns = row.get("utterances") if isinstance(row, dict) else None
    lengths = row.get("segments") if isinstance(row, dict) else None
    if not _is_list_of(turns, str) or not _is_list_of(lengths, int):
        raise InputError("expected utterances (texts) and segments (lengths)", field=field)
    if sum(lengths) != len(turns) or min(lengths) < 1:
        raise InputError(f"segments {lengths} do not add up to {len(turns)} turns", field=field)
    return Dialogue(turns=tuple(turns), labelled=tuple(itertools.accumulate(lengths[:-1])))


def _is_list_of(value: object, kind: type) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and bool(value) and all(type(each) is kind for each in value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Pk and WindowDiff, means over dialogues; F1 of exact positions over all; each in 0..1.

    ``cuts`` is how many boundaries were found.
    """

    pk: float
    windowdiff: float
    f1: float
    cuts: int


def half_segment(turns: int, labelled: Sequence[int]) -> int:
    """k: half the mean length of the labelled segments of a dialogue, at least 1."""
    return max(1, round(turns / (len(labelled) + 1) / 2))


def pk(found: Sequence[int], labelled: Sequence[int], *, turns: int) -> float:
    """The share of windows whose ends are in one segment here and in two there, 0..1."""
    return _differing(found, labelled, turns=turns, exact=False)


def windowdiff(found: Sequence[int], labelled: Sequence[int], *, turns: int) -> float:
    """The share of windows that hold another number of boundaries here than there, 0..1."""
    return _differing(found, labelled, turns=turns, exact=True)


def _differing(found: Sequence[int], labelled: Sequence[int], *, turns: int, exact: bool) -> float:
    k = half_segment(turns, labelled)
    ours, theirs = _segment_numbers(found, turns), _segment_numbers(labelled, turns)
    windows = max(0, turns - k)
    wrong = 0
    for i in range(windows):
        here, there = ours[i + k] - ours[i], theirs[i + k] - theirs[i]
        wrong += here != there if exact else (here == 0) != (there == 0)
    return wrong / windows if windows else 0.0


def _segment_numbers(cuts: Sequence[int], turns: int) -> list[int]:
    """The number of the segment that each turn is in."""
    if any(not 0 < cut < turns for cut in cuts):
        raise InputError(f"expected boundaries in 1..{turns - 1}, got {list(cuts)}")
    starts = set(cuts)
    return list(itertools.accumulate(int(i in starts) for i in range(turns)))


def agreement(
    found: Sequence[Sequence[int]], labelled: Sequence[Sequence[int]], turns: Sequence[int]
) -> Agreement:
    """The agreement over dialogues of these many turns.

    Raises:
        InputError: there is no dialogue, or a boundary lies outside its dialogue.
    """
    if not turns:
        raise InputError("expected dialogues, got none", field="dialogues")
    rows = list(zip(found, labelled, turns, strict=True))
    hits = sum(len(set(here) & set(there)) for here, there, _ in rows)
    cuts = sum(len(here) for here, _, _ in rows)
    wanted = sum(len(there) for _, there, _ in rows)
    return Agreement(
        pk=sum(pk(here, there, turns=n) for here, there, n in rows) / len(rows),
        windowdiff=sum(windowdiff(here, there, turns=n) for here, there, n in rows) / len(rows),
        f1=2 * hits / (cuts + wanted) if cuts + wanted else 1.0,
        cuts=cuts,
    )


def floor_boundaries(vectors: NDArray[np.float32]) -> list[int]:
    """What a plain depth score finds: TextTiling (Hearst, 1997) over embeddings of passages.

    The similarity across a cut is the cosine of the sums of two turns on either side; its depth
    is how far the nearest crests rise above it; a cut deeper than the mean plus one standard
    deviation of its dialogue is a boundary. ``vectors`` is ``(n, d)``, L2-normalised.
    """
    similarities = [_across(vectors, cut) for cut in range(1, len(vectors))]
    depths = [_depth(similarities, i) for i in range(len(similarities))]
    if not depths:
        return []
    threshold = float(np.mean(depths) + np.std(depths))
    return [i + 1 for i, depth in enumerate(depths) if depth > threshold]


def _across(vectors: NDArray[np.float32], cut: int) -> float:
    before = vectors[max(0, cut - 2) : cut].sum(axis=0)
    after = vectors[cut : cut + 2].sum(axis=0)
    norms = max(float(np.linalg.norm(before) * np.linalg.norm(after)), 1e-9)
    return float(before @ after) / norms


def _depth(values: Sequence[float], place: int) -> float:
    left = right = place
    while left > 0 and values[left - 1] >= values[left]:
        left -= 1
    while right < len(values) - 1 and values[right + 1] >= values[right]:
        right += 1
    return values[left] + values[right] - 2 * values[place]
