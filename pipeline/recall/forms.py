"""The form that a question asks of its context: plain, in order of time, or over the whole.

Recognised by the words of the question, in English and Chinese. Knows nothing of entries.
"""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import chain, zip_longest
from typing import TypeVar

STRETCHES = 10
"""The stretches of time of which a summary takes something each, in turns."""

_ORDER = re.compile(
    r"\b(?:in (?:what|which|the|chronological) order|order (?:of|in which)|in order of|time ?line|"
    r"chronolog\w*|sequence (?:of|in which)|"
    r"(?:what|which|who)\b.{0,40} (?:came|happened) (?:first|last)|"
    r"happen(?:ed)? (?:before|after)|step by step|how did .{1,80} (?:evolve|develop|progress))\b"
    r"|时间线|时间顺序|先后|顺序|按时间|依次|先发生|后发生|哪个(?:先|后|在先|在后)|一步步|来龙去脉",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:summar(?:y|i[sz]e|i[sz]ing|ies)|sum up|overview|recap|wrap up|in a nutshell|"
    r"gist of|main points)\b|总结|概括|概述|摘要|归纳|回顾一下|整体情况",
    re.IGNORECASE,
)

T = TypeVar("T")


class Form(StrEnum):
    """How a context is laid out, and what is chosen for it."""

    PLAIN = "plain"
    TIMELINE = "timeline"
    SUMMARY = "summary"


def form_of(question: str) -> Form:
    """The form that the words of a question ask for; a summary in order is a summary."""
    if _WHOLE.search(question):
        return Form.SUMMARY
    return Form.TIMELINE if _ORDER.search(question) else Form.PLAIN


def spread(ranked: Sequence[T], *, place: Callable[[T], object]) -> list[T]:
    """The same in turns of all stretches of time, each stretch in the given order.

    Args:
        ranked: best first.
        place: where each lies in time, comparable.
    """
    in_time = sorted(range(len(ranked)), key=lambda number: (place(ranked[number]), number))
    stretches: list[list[int]] = [[] for _ in range(STRETCHES)]
    for position, number in enumerate(in_time):
        stretches[position * STRETCHES // len(ranked)].append(number)
    turns = zip_longest(*(sorted(stretch) for stretch in stretches))
    return [ranked[number] for number in chain.from_iterable(turns) if number is not None]
