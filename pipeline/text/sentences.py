"""Texts to sentences, English and Chinese, with their place in the text.

A line ends a sentence: chat, lists and verse are written in lines. Inside a line the marks
``.!?。！？`` end one, save in abbreviations, initials, decimals, links, file names, inline code and
ellipses. Knows nothing of languages beyond the marks, so mixed texts need no choice.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class SpanKind(StrEnum):
    """What a piece of text is."""

    PROSE = "prose"
    CODE = "code"
    ROW = "row"
    HEADING = "heading"
    ITEM = "item"


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]`` without white space around it; a fenced code block is one span."""

    start: int
    end: int
    text: str
    kind: SpanKind = SpanKind.PROSE

    @property
    def body(self) -> str:
        """The text without the mark of a list item, a heading or a quotation."""
        return _MARK.sub("", self.text, count=1).strip() or self.text


_BULLET = (
    r"[-*+•·]\s+|[(（]?\d{1,3}(?:[.)](?:\s+|(?=[\u4e00-\u9fff]))|[）、])"
    r"|[(（][一二三四五六七八九十]{1,3}[)）]|[一二三四五六七八九十]{1,3}、"
)
_ITEM = re.compile(rf"\s*(?:>\s*)*(?:{_BULLET})")
_MARK = re.compile(rf"\s*(?:>\s*)*(?:#{{1,6}}\s+|(?:{_BULLET})\s*(?:\[[ xX]\]\s+)?)?")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_GUARDED = re.compile(r"`[^`]+`|(?:https?://|www\.)[^\s，。！？；（）“”<>]+")
_END = re.compile(r"[.!?。！？｡]+[\"'”’」』）)\]】》*_]*")
_ELLIPSIS = re.compile(r"\.{2,}|。{2,}")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_NEXT = re.compile(r"\s*(\S)")
_LAST_WORD = re.compile(r"[A-Za-z][A-Za-z.]*$")
_SPEECH_TAG = re.compile(r"[^，。！？,.!?\s]{0,6}(?:说|道|问|喊|答|笑|想)")
_NAME_BEFORE = re.compile(r"(?:^|[A-Z]\.\s?|[A-Z][a-z]+\s)$")

_NEVER_LAST = frozenset(
    {"mr", "mrs", "ms", "dr", "prof", "st", "vs", "e.g", "i.e", "eg", "ie", "cf", "jr", "sr"}
    | {"gen", "sen", "rep", "gov", "capt", "lt", "col", "sgt", "mt", "viz", "approx", "dept", "est"}
)
_BEFORE_NUMBER = frozenset(
    {"no", "nos", "fig", "vol", "p", "pp", "sec", "ch", "art", "eq", "ver", "tel", "ext", "ca"}
    | {"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"}
)
_BEFORE_LOWER_CASE = frozenset(
    {"etc", "inc", "ltd", "co", "corp", "a.m", "p.m", "u.s", "u.k", "ph.d", "al", "min", "max"}
)


def sentences(text: str) -> list[Span]:
    """The sentences in order; together they hold every character that is not white space."""
    return list(_blocks(text))


def _blocks(text: str) -> Iterator[Span]:
    """Lines cut into sentences, and fenced code blocks whole; an open fence runs to the end."""
    fence, start, end = "", 0, 0
    for line in _LINE.finditer(text):
        mark = _FENCE.match(line.group())
        if not fence and mark:
            fence, start = mark.group(1), line.start()
        elif not fence:
            yield from _line(text, line.start(), line.end())
        elif mark and mark.group(1).startswith(fence) and line.group().strip() == mark.group(1):
            yield from _span(text, start, line.end(), SpanKind.CODE)
            fence = ""
        end = line.end()
    if fence:
        yield from _span(text, start, end, SpanKind.CODE)


def _line(text: str, start: int, end: int) -> Iterator[Span]:
    line = text[start:end]
    kind = _kind(line)
    if kind in (SpanKind.ROW, SpanKind.HEADING):
        yield from _span(text, start, end, kind)
        return
    cut = 0
    for stop in _stops(line):
        yield from _span(text, start + cut, start + stop, kind)
        cut = stop
    yield from _span(text, start + cut, end, kind)


def _kind(line: str) -> SpanKind:
    bare = line.strip()
    if len(bare) > 2 and bare[0] == "|" == bare[-1]:
        return SpanKind.ROW
    if _HEADING.match(line):
        return SpanKind.HEADING
    return SpanKind.ITEM if _ITEM.match(line) else SpanKind.PROSE


def _span(text: str, start: int, end: int, kind: SpanKind) -> Iterator[Span]:
    """The span without the white space around it; none when nothing else is there."""
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    stripped = piece.strip()
    if stripped:
        yield Span(start, start + len(stripped), stripped, kind)


def _stops(line: str) -> Iterator[int]:
    """The offsets in the line after which a new sentence begins."""
    guarded = deque(_guarded(line))
    mark = _ITEM.match(line)
    first = mark.end() if mark else 0
    for end in _END.finditer(line, first):
        while guarded and guarded[0][1] <= end.start():
            guarded.popleft()
        is_guarded = bool(guarded) and guarded[0][0] <= end.start()
        if not is_guarded and _is_stop(line, end.start(), end.end()):
            yield end.end()


def _guarded(line: str) -> list[tuple[int, int]]:
    """Inline code and links, without the mark that closes the sentence after them."""
    spans = []
    for match in _GUARDED.finditer(line):
        length = len(match.group().rstrip(".!?\"')]*_"))
        spans.append((match.start(), match.start() + length))
    return spans


def _is_stop(line: str, start: int, end: int) -> bool:
    """Whether the marks at ``start..end`` end a sentence that something follows."""
    following = _NEXT.match(line, end)
    if following is None or _ELLIPSIS.match(line, start, end):
        return False
    follower, last = following.group(1), line[end - 1]
    if line[start] in "。！？｡":
        return not (last in '”」』"' and _SPEECH_TAG.match(line, end))
    if following.start(1) == end:
        sides = [bool(_HAN.match(side)) for side in (line[start - 1 : start], follower)]
        return all(sides) if line[start] == "." else any(sides)
    if line[start] == ".":
        return not _is_abbreviation(line[max(0, start - 40) : start], follower)
    return not (last in "\"'”’)" and follower.islower())


def _is_abbreviation(before: str, follower: str) -> bool:
    """Whether the full stop after ``before`` belongs to its last word."""
    found = _LAST_WORD.search(before)
    if not found:
        return False
    word = found.group().lower()
    if word in _NEVER_LAST:
        return True
    if word in _BEFORE_NUMBER:
        return follower.isdigit()
    if word in _BEFORE_LOWER_CASE:
        return not follower.isupper() and not _HAN.match(follower)
    is_initial = len(word) == 1 and found.group().isupper() and follower.isupper()
    return is_initial and bool(_NAME_BEFORE.search(before[: found.start()]))
