"""The short-term buffer: whole segments of one collection on their way to extraction.

Source: LightMem (arXiv 2510.18866), section 3.2. There the one trigger is a number of tokens, and
forcing out a buffer can lose what the same call put in. Here any of several triggers empties it,
and what left and what stays together are always what came in.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.ids import SegmentId
from pipeline.messages import Segment


class Trigger(StrEnum):
    """What makes segments leave the buffer; any of them is enough.

    TOKENS: they are over the capacity.
    TURNS: so many turns of a conversation wait.
    TOPIC_SHIFT: a topic ended; what was said up to there leaves.
    IDLE: nothing was said for a while.
    FLUSH: somebody asked.
    """

    TOKENS = "tokens"
    TURNS = "turns"
    TOPIC_SHIFT = "topic_shift"
    IDLE = "idle"
    FLUSH = "flush"


class Granularity(StrEnum):
    """What stays together on the way to extraction.

    TURN: every turn is a segment of its own; no topics are looked for.
    SEGMENT: the turns of one topic.
    CONVERSATION: the segments of one conversation; a batch holds no other one's.
    """

    TURN = "turn"
    SEGMENT = "segment"
    CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A segment in the buffer; with ``is_due`` it leaves now, and all that waits before it."""

    segment: Segment
    tokens: int
    turns: int = 1
    is_due: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """When segments leave: ``turns`` waiting ones of a conversation, if that is a trigger.

    The segment that takes the buffer over ``capacity_tokens`` leaves with all that waits, as one
    batch; so no batch is longer than the capacity and that segment.
    """

    capacity_tokens: int
    triggers: Collection[Trigger] = (Trigger.TOKENS,)
    turns: int | None = None
    granularity: Granularity = Granularity.SEGMENT


def batches(
    waiting: Sequence[Waiting],
    rules: Rules,
    *,
    flush: bool,
    open_turns: Mapping[str, int] | None = None,
) -> tuple[list[tuple[Segment, ...]], tuple[Segment, ...]]:
    """The batches that leave for extraction, and the segments that stay, both in order.

    Segments are never split.

    Args:
        waiting: the buffer in order.
        flush: everything leaves.
        open_turns: per conversation its turns that are not cut into segments yet and will get no
            more replies.
    """
    leaving: list[tuple[Segment, ...]] = []
    staying: list[Segment] = []
    for group in _groups(waiting, rules.granularity):
        buffer = _Buffer(rules)
        for one in group:
            buffer.take(one)
        if flush or buffer.has_turns(open_turns or {}):
            buffer.leave()
        leaving += buffer.leaving
        staying += [one.segment for one in buffer.held]
    leaving.sort(key=lambda batch: batch[0].sequence)
    return leaving, tuple(sorted(staying, key=lambda segment: segment.sequence))


def last_of_ended(
    held: Sequence[Segment], ended: Mapping[str, int], granularity: Granularity
) -> set[SegmentId]:
    """The last segments of conversations that ended, where these are extracted as a whole.

    Args:
        held: segments in order.
        ended: per conversation the sequence that it ended with.
    """
    if granularity is not Granularity.CONVERSATION:
        return set()
    last = {
        each.conversation: each.id
        for each in held
        if each.sequence <= ended.get(each.conversation, 0)
    }
    return set(last.values())


class _Buffer:
    """One group of segments, taken in one after the other."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._counts_tokens = Trigger.TOKENS in rules.triggers
        self._tokens = 0
        self._turns: Counter[str] = Counter()
        self.held: list[Waiting] = []
        self.leaving: list[tuple[Segment, ...]] = []

    def take(self, one: Waiting) -> None:
        """Holds one more, which may take all that is held along."""
        self.held.append(one)
        self._tokens += one.tokens
        self._turns[one.segment.conversation] += one.turns
        is_over = self._counts_tokens and self._tokens > self._rules.capacity_tokens
        if is_over or one.is_due or self.has_turns({one.segment.conversation: 0}):
            self.leave()

    def has_turns(self, open_turns: Mapping[str, int]) -> bool:
        """Whether enough turns of one of these conversations wait."""
        enough = self._rules.turns
        if enough is None or Trigger.TURNS not in self._rules.triggers:
            return False
        return any(self._turns[name] + more >= enough for name, more in open_turns.items())

    def leave(self) -> None:
        """Everything held goes, a batch closed by the segment that takes it over the capacity."""
        self.leaving += _packed(self.held, self._rules.capacity_tokens)
        self.held, self._tokens = [], 0
        self._turns.clear()


def _groups(waiting: Sequence[Waiting], granularity: Granularity) -> list[list[Waiting]]:
    """The segments that share a buffer: those of the collection, or of each conversation."""
    if granularity is not Granularity.CONVERSATION:
        return [list(waiting)]
    found: dict[str, list[Waiting]] = {}
    for one in waiting:
        found.setdefault(one.segment.conversation, []).append(one)
    return list(found.values())


def _packed(held: Sequence[Waiting], capacity_tokens: int) -> list[tuple[Segment, ...]]:
    packed: list[list[Segment]] = []
    tokens = 0
    for one in held:
        if not packed or tokens > capacity_tokens:
            packed.append([])
            tokens = 0
        packed[-1].append(one.segment)
        tokens += one.tokens
    return [tuple(batch) for batch in packed]
