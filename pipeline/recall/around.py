"""The turns around what an entry was taken from, so that a reader sees what it answered."""

from collections.abc import Sequence

from pipeline.awake.turns import turns
from pipeline.messages import Message

MESSAGES_PER_TURN = 8
"""As many messages a turn are read; of longer turns the nearest ones are shown."""


def around(messages: Sequence[Message], sequence: int, *, turns_each_side: int) -> list[Message]:
    """The turn that holds the message of this sequence, and so many turns before and after it.

    Args:
        messages: of one conversation, by sequence.

    Returns:
        By sequence, without redacted ones; empty where the message is not among them.
    """
    cut = turns(messages)
    place = next(
        (n for n, turn in enumerate(cut) if any(m.sequence == sequence for m in turn.messages)),
        None,
    )
    if place is None:
        return []
    near = cut[max(0, place - turns_each_side) : place + turns_each_side + 1]
    return [one for turn in near for one in turn.messages if one.redacted_at is None]
