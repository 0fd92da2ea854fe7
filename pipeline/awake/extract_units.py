"""A message to the pieces that can become statements: sentences, rows, lists, code.

Greetings, thanks and interjections fall away; what cannot stand alone (it starts with "it" or
"but", or is a fragment) joins its neighbour. Knows nothing of speakers or dates.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.text.sentences import Span, SpanKind, sentences

MOST_JOINED = 3
"""Sentences that one statement holds at most."""
LONGEST_REQUEST = 1000
"""Characters of a sentence in which a request is looked for: the search is quadratic."""
SHORT_WORDS = 4
SHORT_HAN = 7


class UnitKind(StrEnum):
    """What a piece of a message is."""

    SAID = "said"
    ASKED = "asked"
    CODE = "code"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of a message in its own words; ``is_open`` where it leans on what came before."""

    text: str
    kind: UnitKind = UnitKind.SAID
    is_open: bool = False


_HAN = re.compile(r"[㐀-鿿]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_INTERJECTION = (
    r"hey there|hey|hi there|hi|hello|yo|wow|whoa|woah|oh|ooh|aw+|ah|haha\w*|lol|yeah|yep|yup|yes|"
    r"nope|sure(?: thing)?|ok(?:ay)?|alright|well|so|anyway|btw|by the way|thanks(?: so much| a lot"
    r"| again| a bunch)?|thank you(?: so much| very much)?|congrats(?: again)?|"
    r"congratulations|cool|(?:nice|great|good) (?:one|work|job)|well done|way to go|"
    r"nice|great|awesome|woohoo|yay|absolutely|definitely|of course|for sure|certainly|exactly|"
    r"totally|sounds good|got it|no problem|good morning|good evening|good afternoon|hmm+|um+|"
    r"good question|greetings|(?:morning|evening|afternoon)(?=(?: [a-z]+)?[,.!])|good(?=[,!.])|"
    r"omg|man|dude|right|i see|you know|no worries"
)
_CHINESE_INTERJECTION = (
    r"你好|您好|(?:大家|各位)(?:好|早|早上好|下午好|晚上好)|早上好|下午好|晚上好|早安|晚安|早|嗨|哈喽|嘿|哈哈+|呵呵|嗯+|哦+|噢|哇+|啊|唉|"
    r"好的|好滴|好嘞|好吧|好呀|好|行|可以|没问题|收到|明白了?|了解|知道了|OK|谢谢(?:你|您|大家)?|多谢|感谢|"
    r"太好了|太棒了|非常好|很好|真棒|加油|恭喜(?:你|您)?|"
    r"辛苦(?:大家|各位|你们?|您)?了?|(?:大家|各位)辛苦了?|记上|记下了?|不客气|没事|对|是的|是啊|同意|赞|当然(?:可以)?|再见|拜拜|对了|话说"
)
_NAME = (
    r"(?:,? ?[A-Z][a-z]+(?: and [A-Z][a-z]+)?|"
    r",? (?:everyone|everybody|guys|all|team|folks|both|again|man|buddy|bro|girl|there))?"
)
_LEADING = re.compile(
    rf"^(?:(?i:{_INTERJECTION}){_NAME}\s*(?:[,!—–…:]+|\.(?=\s)| - |-\s)\s*)+(?=\S)"
)
_ANNOUNCED_CHINESE = (
    r"(?:首先|先|再|另外|还有|顺便)?(?:说|讲|问|补充|提|交代|插)[一两几三]"
    r"(?:条|点|个|下|件|句|嘴)(?:事情?|话)?"
)
_LEADING_CHINESE = re.compile(
    rf"^(?:(?:{_CHINESE_INTERJECTION})[，。！!,~～、\s]+|{_ANNOUNCED_CHINESE}[，。：！:,]\s*)+(?=\S)"
)
_ONLY = re.compile(rf"^(?:(?i:{_INTERJECTION}){_NAME}[\s,.!?~…—–-]*)+$")
_ONLY_CHINESE = re.compile(
    rf"^(?:有?[一个件]*(?:好|坏|大|新)消息[！!。]*$|{_ANNOUNCED_CHINESE}[，。：！:,]*$)|"
    rf"^(?:(?i:{_CHINESE_INTERJECTION})[的了呀啊哦哈]?[A-Za-z]{{0,12}}[，。！!？?,.~～、\s]*)+$"
)
_EMPTY = re.compile(
    r"^(?:(?:it['’]s |it is )?(?:so |really )?(?:good|great|nice|lovely|awesome) (?:to (?:see|hear|"
    r"meet|talk|chat)|seeing|hearing|talking|chatting)\b.{0,45}|how(?:['’]s| is| are|['’]ve| have|"
    r" has)? (?:it going|you(?: been| doing)?|things|everything|life)\b.{0,25}|"
    r"what['’]?s (?:up|new|"
    r"going on)\b.{0,25}|long time no (?:see|talk|chat)\b.{0,20}|"
    r"(?:talk|see|chat|catch) (?:to |with )?"
    r"(?:you|ya) (?:soon|later|then|around)\b.{0,20}|take care\b.{0,30}|have a (?:great|good|nice|"
    r"lovely) \w+\b.{0,20}|(?:you['’]?re|you are) (?:very |so |most )?welcome\b.{0,20}|"
    r"(?:i )?hope you(?:['’]re| are)?(?: all)? (?:doing |had |have )?(?:a )?"
    r"(?:well|good|great|okay)\b"
    r".{0,25}|(?:really )?(?:glad|happy|sorry|great|good|nice|sad) to hear (?:it|that|from you)?\b"
    r".{0,25}|anything new\b.{0,20}|bye\b.{0,20}|(?:let me know|feel free)\b.{0,70}|"
    r"(?:thanks?(?: you)?(?: so much| a lot| again)?|cheers) for .{1,30}|me too|same here|"
    r"see (?:you|ya)\b.{0,12}|"
    r"you(?:['’]ve)? got this\b.{0,15}|(?:all the best|good luck|best of luck)\b.{0,40}|"
    r"keep (?:it up|me posted|in touch)\b.{0,20}|"
    r"(?:(?:big|good|great|bad|quick|small|sad|exciting|more|some|other|another|one|last|first) )+"
    r"(?:news|updates?|questions?|notes?|corrections?|announcements?|things?)"
    r"(?: (?:from|on|for) (?:me|us|my (?:side|end|part)|here|you))?"
    r"(?: (?:too|first|then|today|though|now|also|everyone|all|guys))*|"
    r"(?:two|three|a few|several|a couple of) (?:rules|things|questions|notes|points|updates)"
    r"(?: (?:first|then|more|now|from me|for you|though))*|"
    r"(?:guess|you know) what|here (?:we|i) go|fun fact|long story short|"
    r"(?:that|it|this)?(?:['’]s| is|s| ?sounds| ?looks|['’]ll be| (?:must|will) be| must have been|"
    r" must['’]ve been| is (?:gonna|going to) be)? ?(?:so |really |"
    r"just |pretty |totally |super )*(?:awesome|great|cool|amazing|nice|sweet|good|wonderful|"
    r"fantastic|incredible|lovely|impressive|inspiring|exciting|fun)(?:,? [A-Z]\w+)?)[\s.!?~]*$",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^(?:it|that|this|these|those|they|them|he|she|his|her|their|its|there|and|but|or|so|because|"
    r"cause|'cause|which|then|also|plus|same|too|both|another|one|instead|otherwise|however|"
    r"especially|even|here)\b(?:['’]s|['’]ll|['’]re|['’]d|['’]ve)?",
    re.IGNORECASE,
)
_OPEN_CHINESE = re.compile(
    r"^(?:它|他|她|这|那|其|但|而且|而|所以|因为|因此|并且|并|不过|然后|另外|还|也|同时|尤其|特别是|比如|例如|"
    r"否则|只是|可是|于是|接着|最后|以前|否)"
)
_ASKING = re.compile(r"^(?:请|麻烦|帮我|please\b)", re.IGNORECASE)
_QUESTION = re.compile(r"[?？][\s\"'”’」)）]*$")
_BARE_QUESTION = re.compile(r"(?:吗|呢|么)[。!！]?$")
_THEN_ASKS = re.compile(
    r"^(?P<said>(?=.*\b(?:i|i['’]\w+|my|we|our)\b).{15,}?)(?:,| -|;) (?:and |so |but )?"
    r"(?P<asked>(?:(?:can|could|would|will) you|please|what|how|which|is there|are there|do you|"
    r"should i|any)\b[^,]*(?:,[^,]*)?\?)$",
    re.IGNORECASE,
)
_THEN_ASKS_CHINESE = re.compile(
    r"^(?P<said>.*[我们咱].*[，；])(?P<asked>(?:请|麻烦|帮我)[^，]+[。！!]?|"
    r"(?:可以|能不能|能否|可不可以|你|您|有什么|有没有|该|应该|怎么|如何|什么|哪|要不要|是不是)[^，]*[？?])$"
)
_RULE_ROW = re.compile(r"^\|?[\s:|-]+\|?$")
_MENTION = re.compile(r"(?<![\w.])@[\w-]+")
_FILLER = re.compile(r", (?:you know|like|i mean),", re.IGNORECASE)
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")


def units(content: str) -> list[Unit]:
    """The pieces of a message in order; empty for a greeting."""
    return _joined(_pieces(sentences(content)))


def is_question(text: str) -> bool:
    """Whether the sentence ends as a question."""
    return bool(_QUESTION.search(text) or _BARE_QUESTION.search(text))


def is_small_talk(text: str) -> bool:
    """Whether the sentence says nothing that could be remembered."""
    bare = text.strip()
    rules = (_ONLY, _ONLY_CHINESE, _EMPTY)
    return not _WORD.search(_MENTION.sub("", bare)) or any(rule.match(bare) for rule in rules)


def without_interjections(text: str) -> str:
    """The sentence without "Wow, Jon!" or "好的，" in front; itself when nothing else is there."""
    if _ONLY.match(text) or _ONLY_CHINESE.match(text):
        return text
    bare = _LEADING_CHINESE.sub("", _LEADING.sub("", text))
    return text if bare in ("", text) else bare[:1].upper() + bare[1:]


def is_short(text: str) -> bool:
    """Whether the sentence is a fragment by its length."""
    han = len(_HAN.findall(text))
    return han < SHORT_HAN and len(_WORD.findall(_HAN.sub(" ", text))) < SHORT_WORDS


def _pieces(spans: Sequence[Span]) -> list[Unit]:
    found: list[Unit] = []
    header: list[str] | None = None
    heading = ""
    for span in spans:
        if span.kind is SpanKind.ROW:
            header = _row(span.text, header, found)
            continue
        header = None
        if span.kind is SpanKind.HEADING:
            heading = span.body
        elif span.kind is SpanKind.CODE:
            found.append(Unit(span.text, UnitKind.CODE))
        else:
            _prose(span, heading, found)
    return found


def _row(text: str, header: list[str] | None, found: list[Unit]) -> list[str]:
    """A table row told with the names of its columns; the first row gives the names."""
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    if header is None:
        return cells
    if not _RULE_ROW.match(text):
        pairs = [_cell(name, cell) for name, cell in _zipped(header, cells) if cell]
        found.append(Unit("; ".join(pairs), UnitKind.ROW))
    return header


def _zipped(header: list[str], cells: list[str]) -> list[tuple[str, str]]:
    names = header + [""] * (len(cells) - len(header))
    return list(zip(names, cells, strict=False))


def _cell(name: str, cell: str) -> str:
    return f"{name}: {cell}" if name else cell


def _prose(span: Span, heading: str, found: list[Unit]) -> None:
    for text in _parted(_FILLER.sub(",", _EMPHASIS.sub(r"\2", span.body))):
        _sentence(without_interjections(text), span, heading, found)


def _parted(text: str) -> list[str]:
    """A statement and the request that follows it in the same sentence."""
    for rule, mark in ((_THEN_ASKS, "."), (_THEN_ASKS_CHINESE, "。")):
        found = rule.match(text) if len(text) < LONGEST_REQUEST else None
        if found:
            asked = found["asked"]
            return [f"{found['said'].rstrip(',，;； ')}{mark}", asked[:1].upper() + asked[1:]]
    return [text]


def _sentence(text: str, span: Span, heading: str, found: list[Unit]) -> None:
    if span.kind is SpanKind.ITEM and found and found[-1].text.endswith((":", "：", ";", "；")):
        lead = found.pop()
        found.append(Unit(f"{lead.text} {_closed(text)}", lead.kind, lead.is_open))
    elif is_question(text) and not is_small_talk(text):
        found.append(Unit(text, UnitKind.ASKED))
    elif not is_small_talk(text):
        leans = _OPEN.match(text) or _OPEN_CHINESE.match(text) or is_short(text)
        is_open = bool(leans) and not _ASKING.match(text)
        lead_in = f"{heading}: " if heading and span.kind is SpanKind.ITEM else ""
        found.append(Unit(lead_in + text, UnitKind.SAID, is_open))


def _closed(item: str) -> str:
    """A list item as a member of a sentence that may go on."""
    return item.rstrip(".。;；,，") + ";"


def _joined(pieces: Sequence[Unit]) -> list[Unit]:
    """Open sentences with the one before; a short first one with the one after."""
    found: list[Unit] = []
    sizes: list[int] = []
    for piece in pieces:
        before = found[-1] if found else None
        if before and _may_join(before, piece, first=len(found) == 1) and sizes[-1] < MOST_JOINED:
            is_open = before.is_open and (len(found) == 1)
            found[-1] = Unit(_glued(before.text, piece.text), UnitKind.SAID, is_open)
            sizes[-1] += 1
        else:
            found.append(piece)
            sizes.append(1)
    return [Unit(_ended(unit.text), unit.kind, unit.is_open) for unit in found]


def _may_join(before: Unit, piece: Unit, *, first: bool) -> bool:
    said = before.kind is piece.kind is UnitKind.SAID
    return said and (piece.is_open or (first and is_short(before.text)))


def _glued(before: str, after: str) -> str:
    return before + after if before[-1:] in "。！？；，" else f"{before} {after}"


def _ended(text: str) -> str:
    return text[:-1] + "." if text.endswith(";") else text
