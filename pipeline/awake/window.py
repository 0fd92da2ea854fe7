"""The sensory buffer: turns of one conversation that are not yet cut into segments.

Source: LightMem (arXiv 2510.18866), section 3.1. Lengths are tokens of the compressed text of all
roles, so that long replies count too. Knows nothing of models: boundaries are given.
"""

import itertools
from collections.abc import Sequence

from pipeline.errors import InputError
from pipeline.messages import Turn


def overfull(turn_tokens: Sequence[int], *, capacity_tokens: int) -> int | None:
    """How many turns, from the first, no longer fit together; None when all fit."""
    total = 0
    for count, tokens in enumerate(turn_tokens, start=1):
        total += tokens
        if total > capacity_tokens:
            return count
    return None


def cut(
    turns: Sequence[Turn], boundaries: Sequence[int], *, flush: bool
) -> tuple[list[tuple[Turn, ...]], tuple[Turn, ...]]:
    """The groups of turns that leave, and the turns that stay.

    The turns after the last boundary stay, since their topic may go on; with ``flush``, or
    without any boundary, everything leaves.

    Args:
        turns: the window's turns in order.
        boundaries: strictly increasing indices in 1..n-1 of turns that begin a topic.

    Raises:
        InputError: a boundary lies outside the window.
    """
    if any(not 0 < index < len(turns) for index in boundaries):
        raise InputError(f"boundaries {list(boundaries)} for {len(turns)} turns")
    edges = [0, *boundaries, len(turns)]
    groups = [tuple(turns[a:b]) for a, b in itertools.pairwise(edges) if a < b]
    if flush or len(groups) < 2:
        return groups, ()
    return groups[:-1], groups[-1]
