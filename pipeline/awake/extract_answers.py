"""A long answer of an assistant to its few leading sentences, so that answers do not flood.

Kept are the first sentence, the heads of what it lists and its most telling sentence; questions
and offers of more help fall away. Knows nothing of speakers or dates.
"""

import re

from pipeline.awake.extract_units import is_question, is_small_talk, without_interjections
from pipeline.text.sentences import Span, SpanKind, sentences

MOST = 3
"""Statements from one answer at most."""
MOST_HEADS = 12
HEAD_CHARS = 60
SHORT_SENTENCES = 2

_INLINE = re.compile(
    r"(?<=[:：。.;；!！])\s*(?=(?:\d{1,2}[.、)）](?:\s+\S|[^\d\s])|[一二三四五六七八九十]{1,2}、|"
    r"[IVX]{1,4}\. ))"
)
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_HEAD = re.compile(r"^(?P<head>[^:：\n。]{2,60}?)\s*[:：](?!\d)")
_NUMERAL = re.compile(r"^(?:[IVX]{1,4}\.|[一二三四五六七八九十]{1,2}、|\d{1,2}[.、)）])\s*")
_STEP = re.compile(
    r"^(?:Step|Phase|Part|Day|Week|第)\s*[\d一二三四五六七八九十]+[步天周]?\s*[:：.]\s*"
)
_GENERAL = frozenset(
    {"note", "notes", "tip", "tips", "summary", "other", "others", "example", "suggestion"}
    | {"suggestions", "recommended", "overview", "conclusion", "goal", "goals", "step"}
    | {
        "推荐",
        "标准",
        "注意",
        "建议",
        "总结",
        "其他",
        "提示",
        "例如",
        "说明",
        "目标",
        "避免",
        "原因",
    }
)
_OFFER = re.compile(
    r"^(?:let me know|feel free|if you (?:have|need|want|would)|would you like|i hope this|"
    r"happy to|good luck|enjoy\b|here(?:['’]s| is| are) |certainly|sure|absolutely|of course|"
    r"如果(?:你|您)?(?:需要|有|想|愿意)|需要我|希望(?:这|对)|随时)",
    re.IGNORECASE,
)
_TELLING = re.compile(r"\d+|[A-Z][a-z]+ [A-Z][a-z]+|“[^”]+”|\"[^\"]+\"|《")
_HAN = re.compile(r"[㐀-鿿]")


def leading(content: str) -> list[str]:
    """At most three texts: the first sentence, what the answer lists, its most telling sentence."""
    spans = sentences(_INLINE.sub("\n", content))
    said = [text for span in spans if (text := _sentence(span))]
    if len(spans) <= SHORT_SENTENCES:
        return said
    listed = _listed(spans)
    first = said[0] if said else ""
    rest = [text for text in said[1:] if text != listed]
    telling = max(rest, key=_weight, default="")
    return [text for text in dict.fromkeys([first, listed, telling]) if text][:MOST]


def _weight(text: str) -> tuple[int, int]:
    return len(_TELLING.findall(text)), -len(text)


def _plain(span: Span) -> str:
    """The span's text without marks, numerals and emphasis."""
    return _NUMERAL.sub("", _EMPHASIS.sub(r"\2", span.body)).strip("* \t")


def _sentence(span: Span) -> str:
    """A sentence that says something; empty for code, rows, headings, titles and offers."""
    if span.kind not in (SpanKind.PROSE, SpanKind.ITEM):
        return ""
    text = without_interjections(_plain(span)).strip()
    empty = is_small_talk(text) or is_question(text) or _OFFER.match(text)
    return "" if empty or text.endswith((":", "：")) else text


def _listed(spans: list[Span]) -> str:
    """The title and the heads of what is listed, as one text; empty for fewer than two."""
    marked = [span for span in spans if span.body != span.text]
    prose = [span for span in spans if span.kind is SpanKind.PROSE]
    found = [_head(span) for span in (marked if len(marked) > 1 else prose)]
    heads = list(dict.fromkeys(h for h in found if h and h.lower() not in _GENERAL))[:MOST_HEADS]
    if len(heads) < 2:
        return ""
    titles = [_plain(span) for span in spans[:4] if _is_title(span)]
    title = without_interjections(titles[0]) if titles else ""
    title = "" if _OFFER.match(title) else title
    chinese = bool(_HAN.search(heads[0]))
    listed = ("；" if chinese else "; ").join(head for head in heads if not title.startswith(head))
    return f"{title}{'' if chinese or not title else ' '}{listed}{'。' if chinese else '.'}"


def _is_title(span: Span) -> bool:
    return span.kind is SpanKind.PROSE and span.text.endswith((":", "："))


def _head(span: Span) -> str:
    """The name of a list item, a heading or a labelled sentence; empty where it has none."""
    text = _STEP.sub("", _plain(span))
    if _OFFER.match(text):
        return ""
    found = _HEAD.match(text)
    if found and span.kind is not SpanKind.HEADING:
        return found["head"].strip()
    is_listed = span.kind is not SpanKind.PROSE and len(text) <= HEAD_CHARS
    return text.rstrip(".。;；!！:：") if is_listed else ""
