"""What a chat model's reply holds, whatever stands around it, and what can be wrong with it.

A reply may be fenced, wrapped in prose, broken off, null or no JSON at all.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.prompts import PromptLanguage

MOST_TRIES = 2_000
"""Places where a JSON value may begin that are looked at in one reply."""

OBJECT = re.compile(r"\{")
"""Where an object begins."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_SPELLED_PAIR = re.compile(r"\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w")
_SPELLED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]\w\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """What is wrong with a reply: a short word to count it by, and a sentence per language.

    A hint says what to do otherwise. ``is_once`` holds where asking again more than once is of no
    use.
    """

    reason: str
    en: str
    zh: str
    hint_en: str = ""
    hint_zh: str = ""
    is_once: bool = False

    def told(self, language: PromptLanguage) -> str:
        """The sentence with its hint."""
        if language == "zh":
            return f"{self.zh}；{self.hint_zh}" if self.hint_zh else self.zh
        return f"{self.en}; {self.hint_en}" if self.hint_en else self.en


EMPTY = Flaw(reason="empty reply", en="it was empty", zh="回复是空的")
UNSPEAKABLE = Flaw(
    reason="empty reply",
    en="it held nothing but lone surrogates, which are no characters",
    zh="其中只有不成字符的代理码位",
)
UNREADABLE = Flaw(reason="unreadable", en="it was no reply at all", zh="根本不是回复")
TOO_LONG = Flaw(reason="too long", en="it was far too long", zh="回复太长")


def storable(text: str) -> str:
    """The text without NUL and lone surrogates; two that belong together are one character."""
    if text.isascii():
        return text.replace("\0", "")
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    return _SURROGATES.sub("", paired).replace("\0", "")


def visible(text: str) -> str:
    """The text as a store can keep it, where what no text may hold is spelled out (``\\ud83d``)."""
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    spelled = _SURROGATES.sub(lambda found: f"\\u{ord(found.group()):04x}", paired)
    return spelled.replace("\0", "\\u0000")


def has_lone_surrogate(text: str) -> bool:
    """Whether the text, or JSON in it, holds half of a character."""
    return bool(_SPELLED_SURROGATE.search(_SPELLED_PAIR.sub("", visible(text))))


def json_values(text: str, opening: re.Pattern[str]) -> Iterator[object]:
    """JSON values in the text, one after another; what is inside one is not told again.

    Args:
        opening: where a value may begin.
    """
    decoder = json.JSONDecoder(strict=False)
    at, tries = 0, 0
    while tries < MOST_TRIES and (match := opening.search(text, at)):
        tries += 1
        try:
            value, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            at = match.start() + 1
            continue
        yield value
