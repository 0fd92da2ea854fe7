"""Which of two that disagree stands, and what an agent could ask where memory is not of one mind.

Of facts the newest stands, and the layer decides between two of one instant. Of instructions the
layer decides first, and what the question itself asks for stands above all. Knows nothing of
stores and models.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum, StrEnum

from pipeline.awake.kinds import kind_of
from pipeline.entries import Attributes, Entry, Kind, Status
from pipeline.ids import EntryId, MessageId
from pipeline.messages import Message, Role
from pipeline.recall.frame import day, inline, words_for
from pipeline.recall.layers import is_pending
from pipeline.recall.lines import Remembered
from pipeline.scratchpad import Item
from pipeline.sleep.contradictions import Claim, contrary
from pipeline.text.sentences import sentences

MOST_UNSURE = 5
"""Tentative memories that are asked about, the best ranked first."""
_SEPARATE = (Kind.EVENT, Kind.SUMMARY)
"""Kinds of which two that differ are about two things."""


class Layer(IntEnum):
    """Where something is known from, the weakest first."""

    EPISODIC = 0
    SCRATCHPAD = 1
    WORKING_MEMORY = 2
    QUESTION = 3


class Reason(StrEnum):
    """Why something is asked: two disagree, or one was said unsurely."""

    CONTRADICTORY = "contradictory"
    TENTATIVE = "tentative"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Something said, the layer it is known from, and what it rests on; ``speaker`` may be None."""

    layer: Layer
    text: str
    kind: Kind
    said_at: datetime
    zone: str = "UTC"
    speaker: str | None = None
    attributes: Attributes | None = None
    entries: tuple[EntryId, ...] = ()
    messages: tuple[MessageId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """What stands, what it stands against (None where it is only unsure), and what to ask."""

    reason: Reason
    stands: Evidence
    against: Evidence | None
    question: str


def stronger(one: Evidence, other: Evidence) -> Evidence:
    """Which of two that disagree stands; the first of two that are equal in everything."""
    if one.kind is Kind.INSTRUCTION and other.kind is Kind.INSTRUCTION:
        return max(one, other, key=lambda each: (each.layer, each.said_at))
    return max(one, other, key=lambda each: (each.said_at, each.layer))


def of_question(text: str) -> list[Evidence]:
    """The instructions that a question itself gives."""
    now = datetime.max.replace(tzinfo=UTC)
    return [
        Evidence(layer=Layer.QUESTION, text=said, kind=Kind.INSTRUCTION, said_at=now)
        for said in _sentences(text)
        if kind_of(said) is Kind.INSTRUCTION
    ]


def of_messages(messages: Sequence[Message]) -> list[Evidence]:
    """What people said in messages that no entry holds yet, a sentence each."""
    return [
        Evidence(
            layer=Layer.WORKING_MEMORY,
            text=said,
            kind=kind_of(said),
            said_at=message.said_at,
            zone=message.zone,
            messages=(message.id,),
        )
        for message in messages
        if message.role is Role.USER and is_pending(message)
        for said in _sentences(message.content)
    ]


def of_item(item: Item, *, is_instruction: bool) -> Evidence:
    """A scratchpad item."""
    return Evidence(
        layer=Layer.SCRATCHPAD,
        text=item.text,
        kind=Kind.INSTRUCTION if is_instruction else Kind.FACT,
        said_at=item.said_at,
        entries=item.entries,
        messages=item.sources,
    )


def of_entry(entry: Entry) -> Evidence:
    """A found entry."""
    return Evidence(
        layer=Layer.EPISODIC,
        text=entry.text,
        kind=entry.kind,
        said_at=entry.said_at,
        zone=entry.zone,
        speaker=entry.speaker,
        attributes=entry.attributes,
        entries=(entry.id,),
        messages=entry.sources,
    )


def conflicts(
    evidence: Sequence[Evidence], unsure: Sequence[Remembered], *, language: str
) -> list[Conflict]:
    """Contradictions within the evidence, then what was said unsurely, each with a question.

    Args:
        unsure: memories, the best first; those that are tentative are asked about.
        language: of the questions to ask; Chinese, or English for every other.
    """
    zh = words_for(language) is words_for("zh")
    found = list(_contradictory(evidence, zh=zh))
    tentative = [one.entry for one in unsure if one.entry.status is Status.TENTATIVE]
    return found + [_unsure(of_entry(entry), zh=zh) for entry in tentative[:MOST_UNSURE]]


def _contradictory(evidence: Sequence[Evidence], *, zh: bool) -> Iterator[Conflict]:
    claims = [
        Claim(
            id=f"{number:06d}",
            group="instruction" if one.kind is Kind.INSTRUCTION else "fact",
            text=_bare(one),
            said_at=one.said_at,
            speaker=one.speaker,
            attributes=one.attributes,
        )
        for number, one in enumerate(evidence)
        if one.kind not in _SEPARATE
    ]
    for older, newer in contrary(claims):
        one, other = evidence[int(older)], evidence[int(newer)]
        stands = stronger(other, one)
        against = one if stands is other else other
        yield Conflict(
            reason=Reason.CONTRADICTORY,
            stands=stands,
            against=against,
            question=_which(stands, against, zh=zh),
        )


def _bare(one: Evidence) -> str:
    """What was said, without who said it ("Mara asked: ...")."""
    if not one.speaker:
        return one.text
    return re.sub(rf"^{re.escape(one.speaker)}[^:：]{{0,16}}[:：]\s*", "", one.text)


def _which(stands: Evidence, against: Evidence, *, zh: bool) -> str:
    now, before = inline(stands.text), inline(against.text)
    if stands.kind is Kind.INSTRUCTION and against.kind is Kind.INSTRUCTION:
        if zh:
            return f"您之前要求：“{before}”，又要求：“{now}”。以后以后者为准吗？"
        return f'You asked for "{before}" and for "{now}". Shall the second hold from now on?'
    if zh:
        return f"{_when(against)}的记录是“{before}”，{_when(stands)}是“{now}”。哪一个对？"
    when = _when(against), _when(stands)
    return f'On {when[0]} I noted "{before}", on {when[1]} "{now}". Which one holds?'


def _unsure(one: Evidence, *, zh: bool) -> Conflict:
    question = (
        f"{_when(one)}的记录是“{inline(one.text)}”，但当时不确定。现在确定了吗？"
        if zh
        else f'On {_when(one)} I noted "{inline(one.text)}", which was not certain. Is it so?'
    )
    return Conflict(reason=Reason.TENTATIVE, stands=one, against=None, question=question)


def _when(one: Evidence) -> str:
    return day(one.said_at, one.zone)


def _sentences(text: str) -> list[str]:
    return [span.body for span in sentences(text)]
