"""How answers are scored: by the words they share with the right one, by order, and by a judge.

Sources: LoCoMo (arXiv 2402.17753) for the F1 of stemmed words, BEAM (arXiv 2510.27246) for rubrics
and order, LongMemEval (arXiv 2410.10813) for yes and no. Where we differ from BEAM's published
code: half a point stays half a point, and the judge is shown the question. Knows nothing of models.
"""

import re
import string
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import snowballstemmer

from pipeline.errors import MalformedReply
from pipeline.messages import Json
from pipeline.prompts.replies import OBJECT, json_values
from pipeline.text.dictionary import chinese_words

MULTI_HOP = "1"
OPEN_DOMAIN = "3"
ADVERSARIAL = "5"
NOT_MENTIONED = ("no information available", "not mentioned")
"""What an answer says, in LoCoMo, where the conversation holds none."""

RUBRIC_SCORES = (0.0, 0.5, 1.0)

_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")
_CJK = re.compile(r"[㐀-鿿豈-﫿]")
_SIGNS = str.maketrans("", "", string.punctuation + "。，、？！；：“”‘’（）《》")
_STEMMER = snowballstemmer.stemmer("porter")
_LOCK = threading.Lock()
"""A stemmer keeps the word it works on in itself."""


# LoCoMo -----------------------------------------------------------------------------------------


def answer_words(text: str) -> list[str]:
    """The words that count: lower case, without signs and articles, stemmed; Chinese by jieba."""
    plain = _ARTICLES.sub(" ", text.lower().replace(",", "").translate(_SIGNS))
    found: list[str] = []
    for word in plain.split():
        found += chinese_words().cut(word) if _CJK.search(word) else [_stem(word)]
    return found


def _stem(word: str) -> str:
    with _LOCK:
        return str(_STEMMER.stemWord(word))


def word_f1(answer: str, gold: str) -> float:
    """The F1 of the words of an answer and of the right one, in 0..1."""
    ours, theirs = answer_words(answer), answer_words(gold)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * shared / (len(ours) + len(theirs)) if shared else 0.0


def locomo_score(answer: str, gold: str, *, category: str) -> float:
    """LoCoMo's own score of an answer, in 0..1, by the rule of its category.

    Multi-hop answers are lists with commas: the mean over right parts of the best F1. Of an
    open-domain answer the part before the first semicolon counts. An adversarial question is
    answered by saying that there is no answer.
    """
    if category == ADVERSARIAL:
        return float(any(words in answer.lower() for words in NOT_MENTIONED))
    if category == MULTI_HOP:
        ours, theirs = answer.split(","), gold.split(",")
        return sum(max(word_f1(one, part) for one in ours) for part in theirs) / len(theirs)
    return word_f1(answer, gold.partition(";")[0] if category == OPEN_DOMAIN else gold)


# What judges say --------------------------------------------------------------------------------


def rubric_score(reply: str) -> float:
    """The ``score`` of a judge's JSON: 0, 0.5 or 1.

    Raises:
        MalformedReply: there is no such score in it.
    """
    for value in json_values(reply, OBJECT):
        score = value.get("score") if isinstance(value, dict) else None
        if isinstance(score, int | float) and not isinstance(score, bool):
            if float(score) in RUBRIC_SCORES:
                return float(score)
            raise MalformedReply(f"expected a score of 0, 0.5 or 1, got {score}", raw=reply)
    raise MalformedReply(f"expected JSON with a score, got {reply[:60]!a}", raw=reply)


def is_yes(reply: str) -> bool:
    """Whether a judge says yes.

    Raises:
        MalformedReply: it says neither yes nor no.
    """
    found = re.search(r"\b(yes|no)\b", reply.lower())
    if found is None:
        raise MalformedReply(f"expected yes or no, got {reply[:60]!a}", raw=reply)
    return found[1] == "yes"


# Order ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderScore:
    """How well events were told in order: ``tau`` in 0..1 where 0.5 is chance, ``f1`` in 0..1."""

    tau: float
    f1: float

    @property
    def score(self) -> float:
        """Both together: what is told in order but not whole, or whole but not in order, counts
        less."""
        return self.tau * self.f1


def order_score(told: Sequence[int | None], *, events: int) -> OrderScore:
    """The order of told events against the right one.

    Args:
        told: per line of an answer the event it tells, in 0..events-1; None where it tells none.
        events: how many there are, numbered in the right order.

    Kendall's tau-b goes over the events and the lines that tell none; what one side lacks ties at
    its end. A line that tells an event again tells none.
    """
    place: dict[int, int] = {}
    extra = []
    for at, event in enumerate(told):
        if event is None or event in place:
            extra.append(at)
        else:
            place[event] = at
    right = [*range(events), *(events for _ in extra)]
    ours = [*(place.get(event, len(told)) for event in range(events)), *extra]
    hits = len(place)
    f1 = 2 * hits / (len(told) + events) if told and events else 0.0
    return OrderScore(tau=(kendall_tau_b(right, ours) + 1) / 2, f1=f1)


def kendall_tau_b(first: Sequence[float], second: Sequence[float]) -> float:
    """Kendall's rank correlation with ties, in -1..1; 0 where one side is all ties."""
    a = np.sign(np.subtract.outer(np.array(first), np.array(first)))
    b = np.sign(np.subtract.outer(np.array(second), np.array(second)))
    pairs = float(np.sqrt(np.sum(a * a) * np.sum(b * b)))
    return float(np.sum(a * b)) / pairs if pairs else 0.0


# All together -----------------------------------------------------------------------------------


def by_group(scores: Sequence[tuple[str, float]]) -> Mapping[str, Json]:
    """Means by group, the mean of the groups (``average``) and of all scores (``overall``)."""
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for group, score in scores:
        groups[group].append(score)
    means = {group: _mean(values) for group, values in sorted(groups.items())}
    return {
        "n": len(scores),
        "groups": {
            group: {"n": len(groups[group]), "score": round(mean, 4)}
            for group, mean in means.items()
        },
        "average": round(_mean(list(means.values())), 4),
        "overall": round(_mean([score for _, score in scores]), 4),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
