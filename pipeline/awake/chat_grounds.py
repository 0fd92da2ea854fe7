"""Whether the words of a chat model's statement come from what was said, by how many of them do.

Counted are content words: stems in Latin script, characters in Chinese. One is found where the
messages, the speakers' names, the resolved dates or a few messages before hold it, or in Latin
script one that begins with the same four letters. A statement of which less than ``LEAST`` is
found was invented, and so was one with a clause of ``OWN_CLAUSE`` content words of which none is.
Words by which one tells what another said (mentions, believes, 表示) and the commonest ones do not
count. What cannot be told: one or two words changed among many that were said, since models
paraphrase; and who of those who speak did it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from pipeline.text.dictionary import known_words
from pipeline.text.stems import stem

LEAST = 0.28
LEAST_HAN = 0.35
OWN_CLAUSE = 3
_OWN_CLAUSE_HAN = 4
_ALIKE = 4

_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_CLAUSES = re.compile(
    r"[,;:.!?]\s|[，；：。！？、]|\b(?:and|but|because|while|which|who|so|although|when)\b"
)
_SMALL_WORDS = """
a an the this that these those there here it its he him his she her hers they them their we us our
you your i me my mine who whom whose which what where why how or if as than then since until though
also too very more most much many some any all each every both either neither other another such
same own of in on at by for from to with without about after before during over under between into
onto out up down off through around against along across upon towards toward near within among is am
are was were be been being do does did done doing have has had having will would shall should can
could may might must ought need needs not no never nor none nothing nobody only just even still yet
again ever already now today currently recently later ago soon always often sometimes usually once s
t re ve ll d m don doesn didn isn wasn aren weren won can couldn wouldn shouldn haven hasn hadn
like love enjoy want wish hope plan feel felt feeling think thought believe find found say said tell
told talk mention express share describe know known use using get got make made making take took go
goes going went gone come came give gave see saw seen keep kept put try tries start begin began
become became one two thing something someone anything everything people person way time day week
month year lot kind part bit new good great first last next user assistant speaker conversation name
named called specific particularly especially various different several value appreciate consider
include including involve seem suggest recommend ask agree interest prefer favorite favourite able
look help offer show support encourage motivate inspire grateful gratitude thankful concern invite
open advise inquire excited happy proud positive experience discuss admire emphasize highlight
important determined impress focus response reply remind please
"""
_SMALL = frozenset(each for word in _SMALL_WORDS.split() for each in (word, stem(word)))
_SMALL_HAN_WORDS = """
的 了 是 在 也 还 和 都 就 已经 着 过 我 你 您 他 她 它 我们 你们 他们 她们 这 那 个 一 一个 很 太
真 有 没 没有 不 会 能 要 可以 被 把 给 让 得 地 与 及 并 且 而 但 或 从 到 对 为 以 于 向 将 曾
曾经 正在 目前 现在 最近 喜欢 爱 想 希望 打算 计划 觉得 认为 表示 说 提到 告诉 知道 需要 用户 助手
说话人 自己 因为 所以 但是 非常 比较 一些 一直 经常 通常 有时 之后 之前 时候 其 她的 他的 该 此 去
来 做 用 人 年 月 日 号 周 天 上 下 里 中 后 前 不是 不会 不能
"""
_SMALL_HAN = frozenset(_SMALL_HAN_WORDS.split())


def is_grounded(
    text: str, said: Sequence[str], *, before: Sequence[str], speakers: Iterable[str]
) -> bool:
    """Whether enough of the statement's content words were said.

    Args:
        said: the texts of its messages, also with their dates resolved.
        before: texts that came before them, such as the question that they answer.
    """
    held = _Held.of((*said, *before, *speakers))
    named = _Held.of(tuple(speakers))
    is_han = bool(_HAN.search(text))
    least, own = (LEAST_HAN, _OWN_CLAUSE_HAN) if is_han else (LEAST, OWN_CLAUSE)
    found = [[held.has(word) for word in _content(part, named)] for part in _CLAUSES.split(text)]
    if any(len(part) >= own and not any(part) for part in found):
        return False
    every = [each for part in found for each in part]
    return not every or sum(every) >= least * len(every)


def content_words(text: str, *, speakers: Iterable[str]) -> frozenset[str]:
    """The content words of a text, as they are compared, without the speakers' names."""
    return frozenset(_content(text, _Held.of(tuple(speakers))))


class _Held:
    """The content words of texts, and how the longer ones begin."""

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._beginnings = frozenset(word[:_ALIKE] for word in words if len(word) >= _ALIKE)

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, texts: tuple[str, ...]) -> "_Held":
        """All words of the texts, small ones too."""
        return cls(frozenset(word for text in texts for word in _words(text)))

    def has(self, word: str) -> bool:
        """Whether it is there, or one that begins alike."""
        return word in self._words or (len(word) >= _ALIKE and word[:_ALIKE] in self._beginnings)

    def is_exactly(self, word: str) -> bool:
        """Whether it is there itself."""
        return word in self._words


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text.casefold()):
        yield stem(match.group())
    for match in _HAN.finditer(text):
        yield from match.group()


def _content(text: str, named: _Held) -> list[str]:
    """The distinct content words, without the names of those who speak."""
    latin = (stem(match.group()) for match in _WORD.finditer(text.casefold()))
    han = (word for match in _HAN.finditer(text) for word in known_words(match.group()))
    signs = (sign for word in han if word not in _SMALL_HAN for sign in word)
    kept = [word for word in latin if len(word) > 1 and word not in _SMALL]
    kept += [sign for sign in signs if sign not in _SMALL_HAN]
    return [word for word in dict.fromkeys(kept) if not named.is_exactly(word)]
