"""A long answer of an assistant to its few leading sentences, so that answers do not flood.

Kept are the first sentence, the heads of lists and what names numbers or names; questions and
offers of more help fall away. Knows nothing of speakers or dates.
"""

import re

from pipeline.awake.extract_units import is_question, is_small_talk, without_interjections
from pipeline.text.sentences import Span, SpanKind, sentences

MOST = 3
"""Statements from one answer at most."""
MOST_HEADS = 12
HEAD_CHARS = 60
SHORT_SENTENCES = 2

_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_HEAD = re.compile(r"^(?:\*\*|__)?(?P<head>[^*:：\n]{2,60}?)(?:\*\*|__)?\s*[:：]")
_OFFER = re.compile(
    r"^(?:let me know|feel free|if you (?:have|need|want|would)|would you like|i hope this|"
    r"happy to|good luck|enjoy\b|here(?:['’]s| is| are) |certainly|sure|absolutely|of course|"
    r"如果你?您?(?:需要|有|想|愿意)|需要我|希望(?:这|对)|随时)",
    re.IGNORECASE,
)
_TELLING = re.compile(r"\d|[A-Z][a-z]+ [A-Z][a-z]+|“[^”]+”|\"[^\"]+\"|《")


def leading(content: str) -> list[str]:
    """At most three texts: the first sentence, what the answer lists, its most telling sentence."""
    spans = sentences(content)
    said = [text for span in spans if (text := _sentence(span))]
    if len(said) <= SHORT_SENTENCES:
        return said
    heads = _heads(spans)
    telling = max(said[1:], key=lambda text: (len(_TELLING.findall(text)), -len(text)))
    listed = "; ".join(heads) if len(heads) > 1 else ""
    return [text for text in dict.fromkeys([said[0], listed, telling]) if text][:MOST]


def _sentence(span: Span) -> str:
    """A sentence that says something; empty for code, rows, headings, items and offers."""
    if span.kind not in (SpanKind.PROSE, SpanKind.ITEM):
        return ""
    text = without_interjections(_EMPHASIS.sub(r"\2", span.body)).strip()
    empty = is_small_talk(text) or is_question(text) or _OFFER.match(text)
    return "" if empty or text.endswith((":", "：")) else text


def _heads(spans: list[Span]) -> list[str]:
    """The names of list items and headings, or of labelled sentences where there is no list."""
    heads: list[str] = []
    for span in spans:
        found = _HEAD.match(span.body)
        if span.kind is SpanKind.HEADING and not found:
            heads.append(span.body.strip("*# "))
        elif found and span.kind in (SpanKind.ITEM, SpanKind.PROSE, SpanKind.HEADING):
            heads.append(found["head"].strip())
        elif span.kind is SpanKind.ITEM:
            heads.append(_EMPHASIS.sub(r"\2", span.body).rstrip(".。"))
    short = [head for head in heads if len(head) <= HEAD_CHARS]
    return list(dict.fromkeys(short))[:MOST_HEADS]
