"""A batch of segments to standalone, dated statements by rules: the part without any model.

Source: arXiv 2510.18866 (LightMem), section 3.2, where a language model does this; here sentences
are retold in the third person, dated and typed by rules. System and tool messages give nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.awake.extract_answers import leading
from pipeline.awake.extract_attributes import attributes
from pipeline.awake.extract_content import has_content
from pipeline.awake.extract_entities import entities
from pipeline.awake.extract_phrases import Phrases, phrases_for
from pipeline.awake.extract_recast import recast
from pipeline.awake.extract_split import Measure, split
from pipeline.awake.extract_units import Unit, UnitKind, is_short, units
from pipeline.awake.kinds import is_unsure, kind_of
from pipeline.awake.pronouns import Voices, retold
from pipeline.entries import Kind, Statement, Status
from pipeline.ids import MessageId
from pipeline.messages import Batch, Message, Role, Segment
from pipeline.text.dates import resolve_dates
from pipeline.text.languages import language

_ROLE_NAMES = frozenset({"user", "human", "assistant", "ai", "bot", "model", "用户", "助手"})
CODE_SHARE = 8
"""Code is worth little in parts: a block is split only beyond this many times the limit."""
LONGEST_ANSWER = 150
_BESIDE_YEAR = re.compile(r"(?<=[A-Za-z])(?=\d{4}年)")
_SPEAKING = (Role.USER, Role.ASSISTANT)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """A message with what is needed to retell it."""

    message: Message
    topic: str
    language: str
    voices: Voices
    phrases: Phrases
    other_is_assistant: bool
    question: Message | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A retold statement before it is dated, with the words it was said in."""

    text: str
    said: str
    sources: tuple[MessageId, ...]
    kind: Kind | None = None
    is_verbatim: bool = False


def statements(batch: Batch, *, measure: Measure, limit: int) -> list[Statement]:
    """The statements of a batch in the order of saying.

    Args:
        batch: segments; messages of one conversation follow each other.
        measure: the length of a text, in tokens.
        limit: the tokens that one statement may hold; a longer one is split, never cut.
    """
    found: list[Statement] = []
    taken: Counter[MessageId] = Counter()
    for setting in _settings(batch):
        for told in _retold(setting):
            most = limit * CODE_SHARE if told.is_verbatim else limit
            first, draft = told.sources[0], _draft(told, setting)
            for piece in split(draft.text, measure=measure, limit=most):
                named = draft if told.is_verbatim else _described(draft, setting, piece)
                found.append(replace(named, text=piece, ordinal=taken[first]))
                taken[first] += 1
    return found


def _settings(batch: Batch) -> Iterator[_Setting]:
    before: dict[str, Message] = {}
    speakers = _speakers(batch.segments)
    for segment in batch.segments:
        for message in segment.messages:
            if message.role in _SPEAKING:
                others = [s for s in speakers[segment.conversation] if s != _who(message)]
                yield _setting(message, segment.topic, others, before.get(segment.conversation))
                before[segment.conversation] = message


def _speakers(segments: Sequence[Segment]) -> dict[str, list[tuple[Role, str]]]:
    """Who speaks in each conversation of the batch, in order of appearance."""
    found: dict[str, dict[tuple[Role, str], None]] = {}
    for segment in segments:
        known = found.setdefault(segment.conversation, {})
        known.update({_who(m): None for m in segment.messages if m.role in _SPEAKING})
    return {conversation: list(known) for conversation, known in found.items()}


def _who(message: Message) -> tuple[Role, str]:
    return message.role, message.speaker


def _setting(
    message: Message, topic: str, others: list[tuple[Role, str]], before: Message | None
) -> _Setting:
    spoken = language(message.content)
    words = phrases_for(spoken)
    other = others[0] if len(others) == 1 else _default_other(message, others)
    return _Setting(
        message=message,
        topic=topic,
        language=spoken,
        voices=Voices(
            speaker=_name(*_who(message), words),
            addressee=None if other is None else _name(*other, words),
        ),
        phrases=words,
        other_is_assistant=other is not None and other[0] is Role.ASSISTANT,
        question=before if before is not None and _who(before) != _who(message) else None,
    )


def _default_other(message: Message, others: list[tuple[Role, str]]) -> tuple[Role, str] | None:
    """Someone known only as the user speaks to the assistant, and the other way round."""
    if others or message.speaker.casefold() not in _ROLE_NAMES:
        return None
    asks = message.role is Role.USER
    return (Role.ASSISTANT, "assistant") if asks else (Role.USER, "user")


def _name(role: Role, speaker: str, words: Phrases) -> str:
    """The speaker as sentences name it; one known only by the role gets its common noun."""
    if speaker.casefold() in _ROLE_NAMES:
        return words.assistant if role is Role.ASSISTANT else words.user
    return speaker


def _retold(setting: _Setting) -> Iterator[_Told]:
    if setting.message.role is Role.ASSISTANT:
        yield from _answered(setting)
        return
    pieces = _recast(setting, units(setting.message.content))
    first = next((u for u in pieces if u.kind is not UnitKind.ASKED), None)
    asked = _open_question(setting, first)
    if asked is not None:
        yield _paired(setting, asked, first)
        pieces = [u for u in pieces if u is not first]
    for unit in pieces:
        yield from _told(setting, unit)


def _recast(setting: _Setting, pieces: Sequence[Unit]) -> list[Unit]:
    """The pieces put for retelling, without those that only gave the speaker's known name."""
    speaker, spoken = setting.voices.speaker, setting.language
    told = (
        replace(unit, text=recast(unit.text, speaker=speaker, language=spoken))
        if unit.kind is UnitKind.SAID
        else unit
        for unit in pieces
    )
    return [unit for unit in told if unit.text]


def _answered(setting: _Setting) -> Iterator[_Told]:
    """What an assistant said of its own; echoes, agreement and promises to remember are none."""
    before = setting.question.content if setting.question else ""
    is_answer = _wants_to_know(setting, before)
    names = tuple(name for name in (setting.voices.speaker, setting.voices.addressee) if name)
    for text in leading(setting.message.content):
        if not has_content(text, before=" ".join((before, *names)), is_answer=is_answer):
            continue
        told = setting.phrases.tells(setting.voices, _third(setting, text))
        yield _Told(text=told, said=text, sources=(setting.message.id,))


def _wants_to_know(setting: _Setting, before: str) -> bool:
    """Whether the message asks for information, not only for something to be done."""
    asked = [unit.text for unit in units(before) if unit.kind is UnitKind.ASKED]
    return any(setting.phrases.request(text) is None for text in asked)


def _open_question(setting: _Setting, first: Unit | None) -> str | None:
    """The question before that this message needs beside it, in the third person."""
    before = setting.question
    if before is None or (first is not None and not _leans(setting, first, before)):
        return None
    asked = [unit.text for unit in units(before.content) if unit.kind is UnitKind.ASKED]
    if not asked or (first is None and not setting.phrases.answers(setting.message.content)):
        return None
    voices = Voices(speaker=_name(*_who(before), setting.phrases), addressee=setting.voices.speaker)
    return retold(asked[-1], voices, language=setting.language)


def _leans(setting: _Setting, first: Unit, before: Message) -> bool:
    """Whether an answer is too bare to stand alone; assistants end with questions as a habit."""
    if not first.is_open or len(first.text) > LONGEST_ANSWER:
        return False
    said = setting.message.content
    return before.role is not Role.ASSISTANT or setting.phrases.answers(said) or is_short(said)


def _paired(setting: _Setting, asked: str, first: Unit | None) -> _Told:
    said = setting.message.content.strip() if first is None else first.text
    before = setting.question
    assert before is not None
    asker = _name(*_who(before), setting.phrases)
    text = setting.phrases.answered(setting.voices, asker, asked, _third(setting, said))
    return _Told(text=text, said=said, sources=(setting.message.id, before.id))


def _told(setting: _Setting, unit: Unit) -> Iterator[_Told]:
    words, voices = setting.phrases, setting.voices
    sources = (setting.message.id,)
    match unit.kind:
        case UnitKind.CODE:
            text = words.shared_code(voices, unit.text)
            yield _Told(text=text, said="", sources=sources, kind=Kind.FACT, is_verbatim=True)
        case UnitKind.ROW:
            yield _Told(text=words.shared_row(voices, unit.text), said=unit.text, sources=sources)
        case UnitKind.ASKED:
            yield from _asked(setting, unit)
        case UnitKind.SAID:
            yield from _said(setting, unit)


def _said(setting: _Setting, unit: Unit) -> Iterator[_Told]:
    sources = (setting.message.id,)
    wanted = setting.phrases.request(unit.text) if setting.other_is_assistant else None
    if wanted is not None:
        text = setting.phrases.requests(setting.voices, _third(setting, wanted))
        yield _Told(text=text, said=unit.text, sources=sources, kind=_kind_of_request(unit.text))
        return
    text = setting.phrases.with_subject(setting.voices, unit.text, _third(setting, unit.text))
    yield _Told(text=text, said=unit.text, sources=sources)


def _kind_of_request(said: str) -> Kind:
    return Kind.INSTRUCTION if kind_of(said) is Kind.INSTRUCTION else Kind.TASK


def _asked(setting: _Setting, unit: Unit) -> Iterator[_Told]:
    """A question to an assistant is what the user wanted; one between people waits for its answer
    unless it says much by itself.
    """
    words, voices = setting.phrases, setting.voices
    if not setting.other_is_assistant and not words.is_telling(unit.text):
        return
    wanted = words.request(unit.text) if setting.other_is_assistant else None
    if wanted is not None:
        text = words.requests(voices, _third(setting, wanted.rstrip("?？")))
    else:
        text = words.asks(voices, _third(setting, unit.text))
    yield _Told(text=text, said=unit.text, sources=(setting.message.id,), kind=Kind.TASK)


def _third(setting: _Setting, text: str) -> str:
    return retold(text, setting.voices, language=setting.language)


def _dated(told: _Told, setting: _Setting) -> str:
    message = setting.message
    if told.is_verbatim:
        return told.text
    dated = resolve_dates(
        told.text, said_at=message.said_at, zone=message.zone, language=setting.language
    )
    return _BESIDE_YEAR.sub(" ", dated)


def _draft(told: _Told, setting: _Setting) -> Statement:
    """The whole statement, before it is split and its names are read."""
    message = setting.message
    return Statement(
        text=_dated(told, setting),
        kind=told.kind or kind_of(told.said),
        speaker=message.speaker,
        said_at=message.said_at,
        zone=message.zone,
        language=setting.language,
        sources=told.sources,
        sequence=message.sequence,
        ordinal=0,
        status=Status.TENTATIVE if is_unsure(told.said) else Status.ACTIVE,
        topic=setting.topic,
    )


def _described(draft: Statement, setting: _Setting, text: str) -> Statement:
    """The statement with the attributes and names of this text."""
    voices = setting.voices
    known = frozenset(name for name in (voices.speaker, voices.addressee) if name)
    return replace(
        draft,
        attributes=attributes(text, voices.speaker, language=setting.language),
        entities=entities(text, known=known),
    )
