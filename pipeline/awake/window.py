"""The sensory buffer: turns of one conversation that are not yet cut into segments.

Source: LightMem (arXiv 2510.18866), section 3.1. Lengths are tokens of the compressed text of all
roles, so that long replies count too. Knows nothing of models: boundaries are given.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.errors import InputError
from pipeline.messages import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The first ``turns`` of a window are to be cut.

    ``is_whole`` says that all of them leave it, ``is_due`` that they then wait for nothing more.
    """

    turns: int
    is_whole: bool = False
    is_due: bool = False


def due(
    window: Sequence[Turn],
    lengths: Callable[[Sequence[Turn]], Sequence[int]],
    *,
    capacity_tokens: int,
    most_turns: int | None = None,
    is_turnwise: bool = False,
    ended_turns: int = 0,
    flush: bool = False,
) -> Cut | None:
    """What is to be cut off the window now; None while it can wait.

    The last turn may still get its replies: it counts only in a flush or where the conversation
    ended, so that where a window is cut does not depend on how many messages a step took.

    Args:
        lengths: the tokens of turns.
        most_turns: so many leave together, whatever their length.
        is_turnwise: every turn is a segment, so none waits for others.
        ended_turns: so many turns, from the first, are those of a conversation that ended.
    """
    whole = window if flush else window[: max(ended_turns, len(window) - 1)]
    if is_turnwise:
        return Cut(turns=len(whole), is_whole=True) if whole else None
    count = overfull(lengths(whole), capacity_tokens=capacity_tokens)
    if most_turns is not None and len(whole) >= most_turns and (count or most_turns) >= most_turns:
        return Cut(turns=most_turns, is_whole=True, is_due=True)
    if count is not None:
        return Cut(turns=count)
    if flush and window:
        return Cut(turns=len(window))
    return Cut(turns=ended_turns, is_whole=True) if ended_turns else None


def begun_by(window: Sequence[Turn], through: int) -> int:
    """How many turns, from the first, began up to a sequence."""
    return sum(turn.messages[0].sequence <= through for turn in window)


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
