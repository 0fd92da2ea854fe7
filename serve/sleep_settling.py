"""Between deciding and writing: what a decision of the same run has overtaken is decided again.

So a run leaves nothing open that only it itself has caused, and the next one has nothing to do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pipeline.entries import Case, Entry, Ignore, Update
from pipeline.ids import EntryId
from pipeline.ports import Clock
from pipeline.runs import LedgerItem
from pipeline.sleep.absorb import absorbed, absorbed_by
from pipeline.sleep.apply import apply
from pipeline.sleep.settle import is_overtaken, renewed
from serve.sleep_stages import Cases, Decided

REPLACED = Ignore(reason="what it would rest on was replaced in this run")


class Decides(Protocol):
    """The decide stage, as Deciding does it."""

    def decide(self, chunk: Cases) -> Decided:
        """A decision, or the reason of its failure, for every case."""
        ...


@dataclass(slots=True)
class _Settled:
    """Items on their way, and the entries as they are after the items so far."""

    items: list[LedgerItem]
    texts: list[str | None]
    changed: dict[EntryId, Entry]
    model_calls: int = 0
    tokens: int = 0
    absorb: bool = False


def settle(
    chunks: Sequence[Decided], *, deciding: Decides, clock: Clock, absorb: bool = False
) -> list[Decided]:
    """The chunks of one collection, in order, with every decision resting on what then holds.

    Args:
        chunks: all chunks of the collection, in any order.
        deciding: asked one target at a time, only for what was overtaken.
        absorb: whether an update lets rest what it holds whole.
    """
    changed: dict[EntryId, Entry] = {}
    settled: list[Decided] = []
    for chunk in sorted(chunks, key=lambda one: one.chunk):
        made = _Settled(items=[], texts=[], changed=changed, absorb=absorb)
        for case, item, text in zip(chunk.cases, chunk.items, chunk.texts, strict=True):
            _take(made, chunk, case, item, text, deciding, clock)
        settled.append(
            replace(
                chunk,
                items=tuple(made.items),
                texts=tuple(made.texts),
                model_calls=chunk.model_calls + made.model_calls,
                tokens=chunk.tokens + made.tokens,
            )
        )
    return settled


def _take(
    made: _Settled,
    chunk: Decided,
    case: Case,
    item: LedgerItem,
    text: str | None,
    deciding: Decides,
    clock: Clock,
) -> None:
    if item.decision is not None and is_overtaken(item.decision, made.changed):
        again = renewed(case, made.changed)
        if again is None:
            item, text = replace(item, decision=REPLACED), None
        else:
            case, reply = again, deciding.decide(_alone(chunk, again))
            (item,), (text,) = reply.items, reply.texts
            made.model_calls += reply.model_calls
            made.tokens += reply.tokens
    made.items.append(_changed(made, case, item, clock))
    made.texts.append(text)


def _changed(made: _Settled, case: Case, item: LedgerItem, clock: Clock) -> LedgerItem:
    """The item with what it absorbs; ``made`` follows what it changes."""
    if item.decision is None:
        return item
    after = apply(case.target, item.decision, _entries(case), now=clock.now())
    if after.version == case.target.version:
        return item
    made.changed[after.id] = after
    if not made.absorb or not isinstance(item.decision, Update):
        return item
    used = [_entries(case)[one] for one in item.decision.used]
    gone = absorbed_by(after, used)
    made.changed.update(
        (entry.id, absorbed(entry, after, now=clock.now())) for entry in used if entry.id in gone
    )
    return replace(item, absorbed=gone)


def _alone(chunk: Decided, case: Case) -> Cases:
    return Cases(scope=chunk.scope, chunk=0, of=1, through=chunk.through, cases=(case,))


def _entries(case: Case) -> dict[EntryId, Entry]:
    return {candidate.entry.id: candidate.entry for candidate in case.candidates}
