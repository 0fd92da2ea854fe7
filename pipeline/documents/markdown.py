"""Markdown and plain text to sections: headings, fenced code, tables, front matter, and prose.

In plain text a heading is a line with a rule under it, or a chapter by its number. Nothing is left
out: what has no form of its own is a paragraph.
"""

import re
from collections.abc import Sequence

from pipeline.documents.parts import Code, Document, Outline, Prose, Rows, title_of

_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})\s*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$")
_RULE_ROW = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_CELL_END = re.compile(r"(?<!\\)\|")
_FRONT = re.compile(r"\s*([\w][\w .-]{0,40}?)\s*:\s+(.*\S)\s*$")
_CHAPTER = re.compile(
    r"\s*(?:(?P<high>第[一二三四五六七八九十百零〇两\d]+[编篇部卷章]|"
    r"(?:Chapter|Part|CHAPTER|PART) (?:\d+|[IVXLC]+))|第[一二三四五六七八九十百零〇两\d]+[节回]|"
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3})\.?(?=\s+\S))[\s:：、.]*\S?.{0,60}$"
)
_ENDS = tuple(".。!！?？;；,，")
_SETEXT = {"=": 1, "-": 2}


def read_markdown(text: str, *, title: str) -> Document:
    """The document; ``title`` names it where it has no title of its own."""
    return _read(text, title=title, is_plain=False)


def read_plain(text: str, *, title: str) -> Document:
    """The document of a text without marks; ``title`` names it where it has none."""
    return _read(text, title=title, is_plain=True)


def _read(text: str, *, title: str, is_plain: bool) -> Document:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").split("\n")
    front, body = ({}, lines) if is_plain else _front(lines)
    outline = Outline()
    if front:
        outline.add(Rows(tuple(front), (tuple(front.values()),)))
    reader = _Reader(outline, is_plain=is_plain)
    reader.read(body)
    sections = outline.sections()
    return Document(
        title=front.get("title") or title_of(sections, default=title),
        written=front.get("date"),
        sections=sections,
    )


def _front(lines: Sequence[str]) -> tuple[dict[str, str], Sequence[str]]:
    """What stands between two rules at the top, if all of it is ``key: value``."""
    if not lines or lines[0].strip() != "---" or "---" not in [one.strip() for one in lines[1:]]:
        return {}, lines
    end = 1 + [one.strip() for one in lines[1:]].index("---")
    pairs = [_FRONT.match(line) for line in lines[1:end] if line.strip()]
    if not pairs or not all(pairs):
        return {}, lines
    found = {pair[1]: pair[2].strip("\"'") for pair in pairs if pair is not None}
    return found, lines[end + 1 :]


class _Reader:
    """Lines to blocks; ``_held`` are the lines of the present paragraphs."""

    def __init__(self, outline: Outline, *, is_plain: bool) -> None:
        self._outline = outline
        self._is_plain = is_plain
        self._held: list[str] = []

    def read(self, lines: Sequence[str]) -> None:
        """Adds all of them to the outline."""
        at = 0
        while at < len(lines):
            at = self._step(lines, at)
        self._end()

    def _step(self, lines: Sequence[str], at: int) -> int:
        """The place of the next line."""
        line = lines[at]
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if not self._is_plain and (heading := _HEADING.match(line)):
            return self._heading(len(heading[1]), heading[2], at + 1)
        if self._is_title(line, below):
            return self._heading(_SETEXT[below.strip()[0]], line, at + 2)
        if self._is_plain:
            level = self._chapter(line)
            return self._heading(level, line, at + 1) if level else self._hold(line, at)
        if fence := _FENCE.match(line):
            return self._code(lines, at + 1, fence[1], fence[2])
        if "|" in line and "|" in below and _RULE_ROW.match(below):
            return self._table(lines, at)
        return self._hold(line, at)

    def _is_title(self, line: str, below: str) -> bool:
        is_alone = not self._held or not self._held[-1].strip()
        starts = line.strip()[:1]
        return bool(is_alone and starts and starts not in "|-*>" and _UNDERLINE.match(below))

    def _chapter(self, line: str) -> int | None:
        is_alone = not self._held or not self._held[-1].strip()
        found = _CHAPTER.match(line)
        if found is None or not is_alone or line.rstrip().endswith(_ENDS):
            return None
        if found["number"]:
            return 1 + found["number"].count(".")
        return 1 if found["high"] else 2

    def _heading(self, level: int, text: str, after: int) -> int:
        self._end()
        self._outline.heading(level, text.strip())
        return after

    def _hold(self, line: str, at: int) -> int:
        self._held.append(line)
        return at + 1

    def _code(self, lines: Sequence[str], at: int, mark: str, language: str) -> int:
        self._end()
        closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}\s*$")
        end = next((n for n in range(at, len(lines)) if closing.match(lines[n])), len(lines))
        if code := "\n".join(lines[at:end]).strip("\n"):
            self._outline.add(Code(code, language))
        return end + 1

    def _table(self, lines: Sequence[str], at: int) -> int:
        self._end()
        end = at + 2
        while end < len(lines) and "|" in lines[end]:
            end += 1
        rows = tuple(_cells(line) for line in lines[at + 2 : end])
        self._outline.add(Rows(_cells(lines[at]), rows))
        return end

    def _end(self) -> None:
        text = "\n".join(self._held).strip()
        self._held = []
        if text:
            self._outline.add(Prose(text))


def _cells(line: str) -> tuple[str, ...]:
    parts = _CELL_END.split(line.strip().removeprefix("|"))
    if parts and not parts[-1].strip():
        parts.pop()
    return tuple(part.strip().replace("\\|", "|") for part in parts)
