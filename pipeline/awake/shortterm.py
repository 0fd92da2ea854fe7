"""The short-term buffer: whole segments of one collection on their way to extraction.

Source: LightMem (arXiv 2510.18866), section 3.2. Nothing is lost by a flush: what left and what
stays together are always what came in.
"""

from collections.abc import Sequence

from pipeline.messages import Segment


def batches(
    segments: Sequence[Segment], tokens: Sequence[int], *, capacity_tokens: int, flush: bool
) -> tuple[list[tuple[Segment, ...]], tuple[Segment, ...]]:
    """The batches that leave for extraction, and the segments that stay.

    A batch leaves when the next segment would take it over the capacity, or when it is over
    already. Segments are never split.

    Args:
        segments: the buffer in order.
        tokens: the length of each segment, in tokens.
    """
    leaving: list[tuple[Segment, ...]] = []
    held: list[Segment] = []
    held_tokens = 0
    for segment, length in zip(segments, tokens, strict=True):
        if held and held_tokens + length > capacity_tokens:
            leaving.append(tuple(held))
            held, held_tokens = [], 0
        held.append(segment)
        held_tokens += length
    if held and (flush or held_tokens > capacity_tokens):
        leaving.append(tuple(held))
        held = []
    return leaving, tuple(held)
