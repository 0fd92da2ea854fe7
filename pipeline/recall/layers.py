"""The layers of a context, each placed in a draft within room of its own (LIGHT, section 3)."""

from collections.abc import Sequence

from pipeline.entries import Entry
from pipeline.messages import Message, MessageState, Segment
from pipeline.recall.forms import spread
from pipeline.recall.frame import QUOTE, Section, said
from pipeline.recall.lines import Draft, Layout, Line, Remembered, tag_text
from pipeline.scratchpad import Item

_LEAST_CLIP_TOKENS = 24
_QUOTE_SHARE = 4
"""One quotation takes at most this part of the room of its layer."""


def is_pending(message: Message) -> bool:
    """Whether no entry can hold yet what the message says."""
    return message.state is not MessageState.EXTRACTED


def place_instructions(
    draft: Draft, instructions: Sequence[Entry | Item], layout: Layout, *, most: int
) -> None:
    """Standing instructions, the most important first."""
    section = Section.INSTRUCTIONS
    lines = [
        layout.of_item(one, section)
        if isinstance(one, Item)
        else layout.of_entry(Remembered(entry=one), section)
        for one in instructions
    ]
    place(draft, lines, most=most)


def place_topics(draft: Draft, segments: Sequence[Segment], layout: Layout, *, most: int) -> None:
    """What was talked about, taken from all stretches of time in turns."""
    told = [one for one in segments if one.topic.strip()]
    chosen = spread(told, place=lambda one: one.messages[0].said_at)
    place(draft, [layout.of_segment(one) for one in chosen], most=most)


def place_notes(draft: Draft, notes: Sequence[Item], layout: Layout, *, most: int) -> None:
    """Items of the scratchpad, the most relevant first."""
    place(draft, [layout.of_item(one, Section.SCRATCHPAD) for one in notes], most=most)


def place_pending(draft: Draft, pending: Sequence[Message], layout: Layout, *, most: int) -> int:
    """The tokens taken; the first message that does not fit is shown by its beginning."""
    spent = 0
    for message in pending:
        took = draft.place(layout.of_message(message), most=most - spent)
        if not took:
            line = _clipped(draft, message, layout, tokens=min(most - spent, draft.left))
            return spent + (draft.place(line, most=most - spent) if line else 0)
        spent += took
    return spent


def place_memories(
    draft: Draft, ranked: Sequence[Remembered], layout: Layout, *, most: int
) -> None:
    """All entries that fit, best first; then, in what is left, what they were taken from."""
    lines = [layout.of_entry(remembered, Section.EPISODIC) for remembered in ranked]
    left = most - place(draft, lines, most=most)
    for line, remembered in zip(lines, ranked, strict=True):
        for message in remembered.messages:
            placed = draft.line(line.key)
            if placed is not None and message.id not in draft.quotes():
                text = f"{QUOTE}{said(message.speaker, message.content, words=layout.words)}"
                left -= draft.extend(placed, text, message.id, most=min(most // _QUOTE_SHARE, left))


def place_extracted(
    draft: Draft, messages: Sequence[Message], layout: Layout, *, most: int
) -> None:
    """Messages that entries hold already, newest first, but for those that are quoted."""
    shown = draft.quotes()
    lines = [layout.of_message(message) for message in messages if message.id not in shown]
    place(draft, lines, most=most)


def place(draft: Draft, lines: Sequence[Line], *, most: int) -> int:
    """The tokens that the lines took which fit, in their order; the others are passed over."""
    if most <= 0:
        return 0
    draft.measure([f"{line.text}\n" for line in lines])
    draft.measure([f"{line.day}\n" for line in lines])
    draft.measure([tag_text(number) for number in range(1, len(lines) + 1)])
    spent = 0
    for line in lines:
        spent += draft.place(line, most=most - spent)
    return spent


def _clipped(draft: Draft, message: Message, layout: Layout, *, tokens: int) -> Line | None:
    """The line with as much of the message's beginning as fits; None where that is too little."""
    kept = message.content
    while kept and tokens >= _LEAST_CLIP_TOKENS:
        line = layout.of_message(message, text=f"{kept}…")
        used = draft.cost(f"{line.text}\n") + draft.cost(f"{line.day}\n") + _LEAST_CLIP_TOKENS
        if used <= tokens:
            return line
        kept = kept[: min(len(kept) - 1, len(kept) * tokens // used)]
    return None
