"""How much of texts compression keeps: tokens, numbers and negations. Pure metrics, no models.

Numbers and negations are told here by lists and patterns of their own, in English and Chinese, so
that what the compressor forces is not judged by what it forces. ``one``, ``一`` in ``一个`` and the
like are articles, ``不`` in ``不过`` and the like is no negation.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SHORT_TOKENS = 20
"""Below this, one token is more than five points of the ratio."""

WITHIN = 0.02
"""How far a kept ratio may lie from the rate that was asked for."""

_DIGITS = re.compile(r"\d+(?:[.,:/]\d+)*")
_SPELLED = re.compile(
    r"(?<![A-Za-z])(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|"
    r"fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    r"ninety|hundreds?|thousands?|millions?|billions?|dozens?|half|twice)(?![A-Za-z'’])",
    re.IGNORECASE,
)
_HAN_DIGIT = "零〇一二两三四五六七八九十百千万亿"
_HAN_MEASURE = (
    "个位名天年月日号点时分秒岁周次遍杯碗瓶份件条张本台辆只间斤克元块米里层楼倍折成季期轮"
)
_HAN_NUMBER = re.compile(
    rf"(?:[{_HAN_DIGIT}]*[二两三四五六七八九十][{_HAN_DIGIT}]*|[{_HAN_DIGIT}]{{2,}})(?=[{_HAN_MEASURE}])"
)
_NOT_COUNTED = re.compile(
    r"星期[一二三四五六]|周[一二三四五六]|[一统唯同专逐单]一|千万|万一|十分|百分"
)
_NEGATION = re.compile(
    r"(?<![A-Za-z])(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|"
    r"(?:do|does|did|is|are|was|were|have|has|had|wo|would|ca|could|should|must|need|ai|might)"
    r"n['’]t)(?![A-Za-z])",
    re.IGNORECASE,
)
_HAN_NEGATION = re.compile(r"不|没|勿|别|未|无|非")
_SPOKEN = (
    "不过 不仅 不但 不管 不论 不断 不久 不同 不少 不然 不禁 不妨 不愧 不停 不时 不止 不错 不好意思 "
    "差不多 对不起 了不起 忍不住 来不及 只不过 不得不 不得 不见 不如 不足 "
    "别人 别的 别墅 别名 特别 区别 分别 级别 类别 性别 告别 个别 差别 识别 辨别 离别 鉴别 "
    "未来 未必 未婚 未免 无论 无锡 无聊 无奈 无意 无比 无非 无数 无线 无限 无疑 毫无 无穷 "
    "是不是 有没有 能不能 会不会 要不要 可不可以 好不好 对不对 行不行 知不知道 "
    "非常 非洲 非得 并非 除非 非要 是非 沉没 没收 淹没 出没 埋没 没落"
)
_NO_NEGATION = re.compile("|".join(sorted(_SPOKEN.split(), key=len, reverse=True)))


def numbers(text: str) -> Counter[str]:
    """The numbers of a text: runs of digits, spelled ones, Chinese numerals before a measure."""
    counted = _NOT_COUNTED.sub(" ", text)
    found = [*_DIGITS.findall(text), *_SPELLED.findall(text), *_HAN_NUMBER.findall(counted)]
    return Counter(each.lower() for each in found)


def negations(text: str) -> Counter[str]:
    """The negations of a text, Chinese ones sign by sign."""
    denying = _NO_NEGATION.sub(" ", text)
    found = [*_NEGATION.findall(text), *_HAN_NEGATION.findall(denying)]
    return Counter(each.lower().replace("’", "'") for each in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One text before and after.

    ``tokens`` and ``forced`` count the original and what of it must stay, ``left`` what stayed.
    ``is_whole`` says that it has too few words to choose from, ``is_again`` that what the rate
    leaves of it is over the limit of one text, so that less is chosen.
    """

    text: str
    compressed: str
    tokens: int
    left: int
    forced: int
    is_whole: bool = False
    is_again: bool = False
    fallback: str | None = None

    @property
    def ratio(self) -> float:
        """The share of tokens that stayed; 1 for a text without any."""
        return self.left / self.tokens if self.tokens else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What of one text was lost."""

    text: str
    compressed: str
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateReport:
    """What one rate kept.

    ``ratio`` is the share of all tokens of the judged texts, ``mean`` the mean of their own
    shares, ``within`` the share of them within two points of the rate. Apart from them are short
    texts, those whose ``forced`` words alone exceed the rate, those kept ``whole`` for want of
    words to choose from, those over the limit, which are chosen ``again`` at half the rate, and
    those that fell back.
    """

    rate: float
    texts: int
    ratio: float
    mean: float
    within: float
    short: int
    forced: int
    whole: int
    again: int
    fallbacks: int
    numbers: int
    negations: int
    lost_numbers: tuple[Loss, ...]
    lost_negations: tuple[Loss, ...]

    @property
    def numbers_kept(self) -> float:
        """The share of numbers kept, in 0..1."""
        return _share(self.lost_numbers, self.numbers)

    @property
    def negations_kept(self) -> float:
        """The share of negations kept, in 0..1."""
        return _share(self.lost_negations, self.negations)


def report(kept: Sequence[Kept], *, rate: float) -> RateReport:
    """What the rate kept of all texts."""
    apart = Counter(_apart(each, rate) for each in kept)
    judged = [each for each in kept if _apart(each, rate) is None]
    lost_numbers = [_loss(each, numbers(each.text), numbers(each.compressed)) for each in kept]
    lost_negations = [
        _loss(each, negations(each.text), negations(each.compressed)) for each in kept
    ]
    total = sum(each.tokens for each in judged)
    near = sum(abs(each.ratio - rate) <= WITHIN for each in judged)
    return RateReport(
        rate=rate,
        texts=len(judged),
        ratio=sum(each.left for each in judged) / total if total else rate,
        mean=sum(each.ratio for each in judged) / len(judged) if judged else rate,
        within=near / len(judged) if judged else 1.0,
        short=apart["short"],
        forced=apart["forced"],
        whole=apart["whole"],
        again=apart["again"],
        fallbacks=apart["fallback"],
        numbers=sum(numbers(each.text).total() for each in kept),
        negations=sum(negations(each.text).total() for each in kept),
        lost_numbers=tuple(_some(lost_numbers)),
        lost_negations=tuple(_some(lost_negations)),
    )


def _apart(kept: Kept, rate: float) -> str | None:
    """Why the rate cannot be held a text to; None where it can."""
    if kept.fallback is not None:
        return "fallback"
    if kept.tokens < SHORT_TOKENS:
        return "short"
    if kept.forced > round(rate * kept.tokens):
        return "forced"
    if kept.is_whole:
        return "whole"
    return "again" if kept.is_again else None


def _loss(kept: Kept, before: Counter[str], after: Counter[str]) -> Loss:
    lost = tuple(sorted((before - after).elements()))
    return Loss(text=kept.text, compressed=kept.compressed, lost=lost)


def _some(losses: Iterable[Loss]) -> list[Loss]:
    return [each for each in losses if each.lost]


def _share(losses: Sequence[Loss], total: int) -> float:
    return 1.0 - sum(len(each.lost) for each in losses) / total if total else 1.0
