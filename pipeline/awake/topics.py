"""A short label for what a segment is about, in its own language, from its own words.

Terms are weighed by how often they come and how rare they are: Chinese words by jieba's
dictionary, others by leaving out the common ones. A baseline without a language model: it names
words that were said and finds no heading for them.
"""

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence

from pipeline.messages import Message, Role
from pipeline.text.dictionary import chinese_words
from pipeline.text.languages import language
from pipeline.text.stems import stem

_HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_LATIN = re.compile(r"[^\W\d_]{3,}(?:['’-][^\W\d_]+)*")
_NOISE = re.compile(r"```.*?(?:```|\Z)|https?://\S+|\S+@\S+|@\w+", re.DOTALL)
_NOISE_SIGNS = ("```", "http", "@")
"""One of them is in all noise: looking for it first is quicker."""
_COMMON = (
    "the and but for not you your yours his her hers its our ours their theirs him she they them "
    "this that these those there here what when where which who whom whose why how all any both "
    "each few more most other some such only own same than too very can will just should now are "
    "was were been being have has had having does did doing would could may might must shall let "
    "get got getting gets give gave given going goes gone went come came coming make made making "
    "take took taken taking know knew known think thought see saw seen look looking want wanted "
    "like liked love loved need needed feel felt feeling say said saying tell told talk talking "
    "really actually maybe probably definitely totally also still even ever never always often "
    "sometimes again already yet soon later today tomorrow yesterday tonight week month year time "
    "day days thing things stuff lot lots much many way good great nice cool awesome amazing fun "
    "sure yeah yep okay thanks thank please sorry hello hey wow yes well right kind sort bit new "
    "one two first last next long little big people person someone something anything everything "
    "nothing everyone about after before because while into with without from over under between "
    "through during against then once out off down try trying tried use used using help keep put "
    "start started happy glad hear heard hope best better i'm i've i'll i'd it's don't didn't "
    "doesn't can't that's you're we're they're what's let's isn't wasn't there's won't couldn't"
)
_COMMON_WORDS = frozenset(_COMMON.split())
_HAN_COMMON = (
    "一个 一下 一些 一起 一样 没有 什么 怎么 我们 你们 他们 她们 自己 大家 这个 那个 这些 那些 "
    "可以 可能 应该 需要 知道 觉得 感觉 喜欢 今天 明天 昨天 现在 时候 时间 已经 还是 还有 就是 "
    "不是 但是 因为 所以 如果 然后 或者 以及 非常 真的 谢谢 你好 好的 是的 对于 关于 进行 "
    "使用 推荐 建议 问题 东西 事情 今年 去年 明年 上周 下周 最近 以后 之后 之前 开始 希望 准备"
)
_HAN_COMMON_WORDS = frozenset(_HAN_COMMON.split())
_NAME_BONUS = 1.5
_PAIR_BONUS = 2.5


def topic_of(messages: Sequence[Message], *, roles: Container[Role]) -> str:
    """The label of what these roles say: what others say is nothing to be shown to a model."""
    return topic_label([each.content for each in messages if each.role in roles])


def topic_label(texts: Sequence[str], *, terms: int = 3) -> str:
    """Up to ``terms`` telling terms in the order they were said; empty where none is telling."""
    text = "\n".join(texts)
    if any(sign in text for sign in _NOISE_SIGNS):
        text = _NOISE.sub(" ", text)
    is_chinese = language(text) == "zh"
    found = list(_chinese(text) if is_chinese else _others(text))
    weights: defaultdict[str, float] = defaultdict(float)
    for term, weight in found:
        weights[term] += weight
    best = sorted(weights, key=lambda term: (-weights[term], _first(text, term)))
    chosen = _distinct(best, terms)
    return ("、" if is_chinese else ", ").join(sorted(chosen, key=lambda t: _first(text, t)))


def _first(text: str, term: str) -> int:
    return text.find(term) % (len(text) + 1)


def _distinct(terms: Sequence[str], limit: int) -> list[str]:
    """The first terms, none of them contained in another that was taken."""
    chosen: list[str] = []
    for term in terms:
        if len(chosen) < limit and not any(
            term.casefold() in other.casefold() or other.casefold() in term.casefold()
            for other in chosen
        ):
            chosen.append(term)
    return chosen


def _chinese(text: str) -> Iterator[tuple[str, float]]:
    for run in _HAN_RUN.finditer(text):
        for word in chinese_words().cut(run.group()):
            if len(word) > 1 and word not in _HAN_COMMON_WORDS:
                yield word, _rarity(word)
    for match in _LATIN.finditer(text):
        if match.group().casefold() not in _COMMON_WORDS and match.group()[0].isupper():
            yield match.group(), _rarity(match.group())


def _rarity(word: str) -> float:
    """Minus the log of the word's share in jieba's corpus; unknown words count as once seen."""
    known = chinese_words()
    return math.log(known.total / max(1, known.FREQ.get(word) or 1))


def _others(text: str) -> Iterator[tuple[str, float]]:
    """Words, and pairs of neighbours that come more than once, in their most common spelling."""
    found = [(match.group(), match.start()) for match in _LATIN.finditer(text)]
    folded = [word.casefold() for word, _ in found]
    telling = [each for each, low in zip(found, folded, strict=True) if low not in _COMMON_WORDS]
    stems = [stem(low) for low in folded if low not in _COMMON_WORDS]
    spelling = _spellings(stems, [word for word, _ in telling])
    for (word, start), root in zip(telling, stems, strict=True):
        is_name = word[0].isupper() and not _opens_sentence(text, start)
        yield spelling[root], _NAME_BONUS if is_name else 1.0
    pairs = Counter(
        f"{first} {second}"
        for (first, start), (second, next_start) in itertools.pairwise(telling)
        if text[start + len(first) : next_start] == " "
    )
    yield from ((pair, _PAIR_BONUS * count) for pair, count in pairs.items() if count > 1)


def _spellings(stems: Sequence[str], words: Sequence[str]) -> dict[str, str]:
    best: dict[str, tuple[int, str]] = {}
    for (root, word), count in Counter(zip(stems, words, strict=True)).items():
        if root not in best or count > best[root][0]:
            best[root] = count, word
    return {root: word for root, (_, word) in best.items()}


def _opens_sentence(text: str, start: int) -> bool:
    while start and text[start - 1] in " \"'“‘(*->•":
        start -= 1
    return not start or text[start - 1] in ".!?。！？\n:："
