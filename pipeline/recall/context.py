"""A context for a prompt out of ranked entries, the newest messages and standing instructions.

Source: arXiv 2510.27246 (LIGHT), section 3: episodic memory with its raw source text, working
memory and scratchpad. Where we differ: each layer has room of its own within one budget, working
memory is filled newest first, every line carries a tag that leads to entries and messages, and
nothing that is shown is repeated. Knows nothing of stores, models and the clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.entries import Entry, Kind
from pipeline.messages import Message, Segment
from pipeline.recall.forms import Form, spread
from pipeline.recall.frame import Words, words_for, zone_name
from pipeline.recall.layers import (
    is_pending,
    place_extracted,
    place_instructions,
    place_memories,
    place_notes,
    place_pending,
    place_topics,
)
from pipeline.recall.lines import Count, Draft, Layout, Remembered
from pipeline.recall.shown import Context
from pipeline.scratchpad import Item

UTC = "UTC"
"""The zone of what names none, where what is shown does not agree on one."""
INSTRUCTION_SHARE = 0.2
"""The most of a budget that standing instructions take where nothing else is said."""
SCRATCHPAD_SHARE = 0.1
"""The most of a budget that other items of the scratchpad take where nothing else is said."""
TOPIC_SHARE = 0.15
"""The most of a summary's budget that the topics take."""
PENDING_SHARE = 0.25
"""The most of a budget that messages not yet extracted take, which nothing else can show."""
LEAST_PENDING_TOKENS = 100
"""What they may take of a small budget all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens of the whole context, and the most of them that each layer takes.

    A layer of None takes its share of the whole (instructions, scratchpad), or what others leave.
    """

    tokens: int
    working_memory_tokens: int
    episodic_tokens: int | None = None
    instruction_tokens: int | None = None
    scratchpad_tokens: int | None = None

    @property
    def for_instructions(self) -> int:
        """The most that standing instructions take."""
        return self._most(self.instruction_tokens, INSTRUCTION_SHARE)

    @property
    def for_notes(self) -> int:
        """The most that other items of the scratchpad take."""
        return self._most(self.scratchpad_tokens, SCRATCHPAD_SHARE)

    @property
    def for_pending(self) -> int:
        """The most that messages not yet extracted take."""
        share = max(int(self.tokens * PENDING_SHARE), LEAST_PENDING_TOKENS)
        return min(share, self.working_memory_tokens)

    @property
    def for_memories(self) -> int:
        """The most that entries and their source texts take."""
        return self._most(self.episodic_tokens, 1.0)

    def _most(self, tokens: int | None, share: float) -> int:
        return int(self.tokens * share) if tokens is None else min(tokens, self.tokens)


def build_context(
    *,
    ranked: Sequence[Remembered],
    recent: Sequence[Message],
    instructions: Sequence[Entry | Item],
    budget: Budget,
    count: Count,
    notes: Sequence[Item] = (),
    form: Form = Form.PLAIN,
    segments: Sequence[Segment] = (),
    language: str = "en",
) -> Context:
    """What fits of instructions, notes, memories and the newest messages, never over the budget.

    Room is given in this order: instructions, messages not yet extracted, notes, memories in rank
    order, the source texts of these memories, the other newest messages. What does not fit is
    passed over for the next one.

    Args:
        ranked: best first.
        recent: the newest messages of the collection, in any order.
        instructions: what always holds, the most important first.
        count: a Tokenizer's ``count``.
        notes: other items of the scratchpad, the most relevant first.
        form: a timeline has memories and messages in one section, a summary begins with topics and
            takes memories from the whole of time in turns, those of kind summary before others.
        segments: of the whole collection, for a summary.
        language: of the question or the collection; Chinese gets a Chinese frame.
    """
    words = words_for(language)
    zones = {one.entry.zone for one in ranked} | {one.zone for one in recent}
    zones |= {one.zone for one in instructions if isinstance(one, Entry)}
    zones = zones or {UTC}
    newest = sorted(recent, key=lambda one: (one.said_at, one.sequence), reverse=True)
    draft = Draft(tokens=budget.tokens, words=words, opening=_opening(zones, words), count=count)
    zone = next(iter(zones)) if len(zones) == 1 else UTC
    layout = Layout(
        words=words, with_zone=len(zones) > 1, zone=zone, is_timeline=form is Form.TIMELINE
    )
    place_instructions(draft, instructions, layout, most=budget.for_instructions)
    pending = [one for one in newest if is_pending(one)]
    spent = place_pending(draft, pending, layout, most=budget.for_pending)
    place_notes(draft, notes, layout, most=budget.for_notes)
    if form is Form.SUMMARY:
        place_topics(draft, segments, layout, most=int(budget.tokens * TOPIC_SHARE))
        ranked = _over_the_whole(ranked)
    place_memories(draft, ranked, layout, most=budget.for_memories)
    extracted = [one for one in newest if not is_pending(one)]
    place_extracted(draft, extracted, layout, most=budget.working_memory_tokens - spent)
    return _fitted(draft, budget.tokens)


def _fitted(draft: Draft, tokens: int) -> Context:
    """The context, less what was placed last while the whole still counts more than its parts."""
    context = draft.context()
    while context.tokens > tokens:
        draft.take_back()
        context = draft.context()
    return context


def _over_the_whole(ranked: Sequence[Remembered]) -> list[Remembered]:
    summaries = [one for one in ranked if one.entry.kind is Kind.SUMMARY]
    others = [one for one in ranked if one.entry.kind is not Kind.SUMMARY]
    return [
        one
        for some in (summaries, others)
        for one in spread(some, place=lambda each: each.entry.order)
    ]


def _opening(zones: set[str], words: Words) -> str:
    if len(zones) > 1:
        return words.opening_zones
    return words.opening.format(zone="".join(zone_name(zone) for zone in zones))
