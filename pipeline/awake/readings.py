"""A text as a model reads it, and what the model says of it. Knows nothing of which words stay."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32]
"""``(n,)``: what each token of a chunk tells, higher is more."""

Chunk = list[int]
"""Token ids that a model reads at once."""


class Tier(IntEnum):
    """How much a word wants to stay."""

    ORDINARY = 0
    STRUCTURE = 1
    FAVOURED = 2
    KEPT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """``text[start:end]`` of the text it is in; ``is_small`` marks function words and marks."""

    start: int
    end: int
    text: str
    tier: Tier = Tier.ORDINARY
    is_small: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text with its words and tokens.

    ``starts`` and ``ends`` ``(n,)`` are the places of its tokens; ``chunks`` hold their ids in
    order, none where every word stays anyway; ``failure`` says why it could not be read.
    """

    text: str
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    words: tuple[Word, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    failure: str | None = None


def unread(text: str, *, failure: str | None = None) -> Reading:
    """The reading of a text that no model is asked about."""
    nowhere = np.zeros(0, dtype=np.int64)
    return Reading(text=text, starts=nowhere, ends=nowhere, failure=failure)
