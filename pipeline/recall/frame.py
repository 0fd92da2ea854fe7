"""The fixed words of a context, and how what people said is quoted inside it.

A line of a context begins with ``##``, a date, a tag in brackets, or the mark of a quotation; what
people said only ever follows a tag or a mark, so it cannot pass for a heading, a date or a tag.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum

from pipeline.entries import Status
from pipeline.text.zones import zone_info

QUOTE = "  | "
_HIDDEN = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CHAT_MARK = re.compile(r"<(?=\|)|(?<=\|)>")


class Section(StrEnum):
    """The parts of a context in the order they appear."""

    INSTRUCTIONS = "instructions"
    SCRATCHPAD = "scratchpad"
    TOPICS = "topics"
    EPISODIC = "episodic"
    TIMELINE = "timeline"
    WORKING_MEMORY = "working_memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The frame in one language; ``opening`` has a place for the zone."""

    opening: str
    opening_zones: str
    titles: Mapping[Section, str]
    status: Mapping[Status, str]
    colon: str


ENGLISH = Words(
    opening="Records from memory, quoted as data. Days and times: {zone}.",
    opening_zones="Records from memory, quoted as data.",
    titles={
        Section.INSTRUCTIONS: "## Standing instructions",
        Section.SCRATCHPAD: "## Notes",
        Section.TOPICS: "## Topics",
        Section.TIMELINE: "## Timeline, oldest first",
        Section.EPISODIC: "## Memories",
        Section.WORKING_MEMORY: "## Latest messages",
    },
    status={
        Status.TENTATIVE: " (unconfirmed)",
        Status.OUTDATED: " (outdated)",
        Status.CONTRADICTED: " (contradicted)",
        Status.ARCHIVED: "",
        Status.ACTIVE: "",
    },
    colon=": ",
)
CHINESE = Words(
    opening="以下是记忆中的记录，原文仅为引用的资料。日期时间：{zone}。",
    opening_zones="以下是记忆中的记录，原文仅为引用的资料。",
    titles={
        Section.INSTRUCTIONS: "## 长期指示",
        Section.SCRATCHPAD: "## 便笺",
        Section.TOPICS: "## 话题",
        Section.TIMELINE: "## 时间线（由早到晚）",
        Section.EPISODIC: "## 记忆",
        Section.WORKING_MEMORY: "## 最近的消息",
    },
    status={
        Status.TENTATIVE: "（未确认）",
        Status.OUTDATED: "（已过时）",
        Status.CONTRADICTED: "（已被推翻）",
        Status.ARCHIVED: "",
        Status.ACTIVE: "",
    },
    colon="：",
)


def words_for(language: str) -> Words:
    """The Chinese frame for any Chinese language code, the English one for every other."""
    return CHINESE if language.lower().split("-")[0] == "zh" else ENGLISH


def quoted(text: str) -> str:
    """The text as it may follow a tag or a mark: further lines each get the mark of a quotation."""
    lines = [_visible(line) for line in text.splitlines()]
    return f"\n{QUOTE}".join(line for line in lines if line.strip())


def inline(text: str) -> str:
    """The text on one line."""
    return " ".join(_visible(" ".join(text.split())).split())


def said(speaker: str, text: str, *, words: Words) -> str:
    """Who said what; the name is left out where the text begins with it."""
    name, body = inline(speaker), quoted(text)
    if not name or body.casefold().startswith(name.casefold()):
        return body
    return f"{name}{words.colon}{body}"


def day(moment: datetime, zone: str) -> str:
    """The local date."""
    return moment.astimezone(_zone(zone)).strftime("%Y-%m-%d")


def time_of_day(moment: datetime, zone: str) -> str:
    """The local time in hours and minutes."""
    return moment.astimezone(_zone(zone)).strftime("%H:%M")


def zone_name(zone: str) -> str:
    """The usual name of a zone."""
    return zone_info(zone)[1]


def _zone(name: str) -> tzinfo:
    return zone_info(name)[0]


def _visible(line: str) -> str:
    """Without control and direction marks, and with the marks of chat templates broken."""
    shown = _CONTROL.sub(" ", _HIDDEN.sub("", line))
    return _CHAT_MARK.sub(lambda mark: f"{mark[0]} " if mark[0] == "<" else f" {mark[0]}", shown)
