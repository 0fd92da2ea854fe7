"""Times and dates in what people write.

``parse_time`` reads a written time; ``resolve_dates`` makes relative dates in a text absolute, so
that a statement keeps its meaning when it is read later. Relative dates are resolved against the
day the text was said, in the zone it was said in, never against now. Where the direction of a bare
weekday cannot be told from its sentence, and in code, links, titles and quotations, the words stay
as they are: a date left relative is better than a wrong one.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date, datetime

from pipeline.text.daterules import Place, Rules
from pipeline.text.dates_en import ENGLISH
from pipeline.text.dates_zh import CHINESE
from pipeline.text.times import parse_time
from pipeline.text.zones import zone_info

__all__ = ["parse_time", "resolve_dates"]

_KEPT = re.compile(
    r"(?:```|~~~)[\s\S]*?(?:```|~~~|\Z)|`[^`\n]+`|(?:https?://|www\.)\S+|[\w.+-]{1,64}@[\w.-]+"
    r"|《[^》\n]*》|“[^”\n]{1,300}”|「[^」\n]{1,300}」|『[^』\n]{1,300}』|\"[^\"\n]{1,300}\""
    r"|^[ \t]*>.*$",
    re.MULTILINE,
)


def resolve_dates(text: str, *, said_at: datetime, zone: str, language: str) -> str:
    """The text with relative dates made absolute: "yesterday" becomes "on 7 May 2023".

    Args:
        text: a sentence or more; English and Chinese dates in it are understood.
        said_at: when it was said, timezone-aware.
        zone: where it was said, an IANA name or an offset.
        language: of the text; dates in other languages than ``en``, ``zh``, ``und`` stay.

    Raises:
        InputError: the zone is unknown.
    """
    languages = _languages(text, language)
    if not languages:
        return text
    day = said_at.astimezone(zone_info(zone)[0]).date()
    kept = [match.span() for match in _KEPT.finditer(text)]
    found = [new for rules in languages for new in _replacements(text, rules, day)]
    found = [new for new in found if not _is_in(kept, new[0])]
    pieces, at = [], 0
    for start, end, new in sorted(found, key=lambda item: (item[0], -item[1])):
        if start >= at:
            pieces += [text[at:start], new]
            at = end
    return "".join([*pieces, text[at:]])


def _languages(text: str, language: str) -> list[Rules]:
    """The rules of the languages that can occur and whose words do."""
    is_english = language in ("en", "zh", "und") and ENGLISH.hint.search(text)
    is_chinese = language in ("en", "zh", "und") and CHINESE.hint.search(text)
    return [*([ENGLISH] if is_english else []), *([CHINESE] if is_chinese else [])]


def _replacements(text: str, rules: Rules, day: date) -> Iterator[tuple[int, int, str]]:
    """Start, end and new text of each relative date; one that leaves the calendar gives none."""
    chance = [match.span() for match in rules.chance.finditer(text)]
    lowered = text.lower()
    for rule in rules.rules:
        if rule.words and not any(word in lowered for word in rule.words):
            continue
        for match in rule.pattern.finditer(text):
            if _is_in(chance, match.start()):
                continue
            try:
                new = rule.write(Place(match=match, day=day))
            except (OverflowError, ValueError):
                continue
            if new is not None:
                yield match.start(), match.end(), new


def _is_in(spans: Sequence[tuple[int, int]], at: int) -> bool:
    index = bisect_right(spans, (at, float("inf"))) - 1
    return index >= 0 and at < spans[index][1]
