"""Text to lexical terms and sparse BM25 vectors; the index multiplies in the IDF.

Source: BM25 (Robertson and Zaragoza 2009, section 3); the split into a passage side with saturated
term frequencies and a query side of ones follows Qdrant's sparse vectors with the IDF modifier.
Knows nothing of entries or of the index.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from pipeline.state import SparseVector
from pipeline.text.dictionary import chinese_words, known_words
from pipeline.text.stems import stem

K1 = 1.2
B = 0.5
AVERAGE_TERMS = 20.0
"""The fixed mean length, in terms, of an indexed text: statements are short."""
CHARACTER_WEIGHT = 0.4
"""What a single Han character of a query weighs beside a word, which is surer."""

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_UNSPACED = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17d3"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
_JOINED = "@._\\-/:+#&=?%~',"

_ASCII = rf"[a-z](?:\+\+|\#)(?![a-z0-9])|[a-z0-9]+(?:[{_JOINED}]+[a-z0-9]+)*"
_LATIN = re.compile(_ASCII, re.IGNORECASE)
_HAS_KANA = re.compile(f"[{_KANA}]")
_FOLDED_MARKS = re.compile(f"[{_MARKS}]")
_SHORT_RUN = 4
"""Characters of a Chinese run that is likely to come again, as 年 does in every date."""

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_SCHEME = re.compile(r"^(?:[a-z]+://)?(?:www\.)?", re.IGNORECASE)
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PLACES = re.compile(r"[@/:?&=#]+")
_JOINTS = re.compile(f"[{_JOINED}]+")

_STOP_WORDS = """
a an and are as at be been being but by did do does for from had has have he her hers him his i if
in into is it its me my of on or our ours she so than that the their them then there these they
this those to us was we were what when where which who whom will with would you your yours am
i'm i've i'll i'd it's you're we're they're
"""
_STOP_HAN_WORDS = """
的 了 是 在 我 你 您 他 她 它 们 和 与 及 也 都 就 而 着 吗 呢 吧 啊 呀 么 这 那 个 把 被 让 给 跟
对 从 到 为 以 于 之 我们 你们 他们 她们 我的 你的 他的 她的 什么 怎么 这个 那个 一个 的话
"""
_STOP = frozenset(_STOP_WORDS.split())
_STOP_HAN = frozenset(_STOP_HAN_WORDS.split())


def is_function_word(word: str) -> bool:
    """Whether a word in lower case says nothing alone, so that no search looks for it."""
    return word in _STOP or word in _STOP_HAN


def terms(text: str) -> list[str]:
    """The searchable terms of a text in order, repeats kept; empty for text without words.

    English is lowercased and stemmed, Chinese cut by a dictionary into words, their parts and
    their characters, scripts without spaces into pairs of characters. Numbers, identifiers,
    addresses and URLs appear whole and in parts.
    """
    if text.isascii():
        return [term for run in _LATIN.findall(text) for term in _latin(run)]
    folded = _fold(text)
    japanese = _HAS_KANA.search(folded) is not None
    return [
        term
        for match in _runs().finditer(folded)
        for term in _terms_of(match.lastgroup, match.group(), japanese=japanese)
    ]


def sparse_passage(text: str) -> SparseVector:
    """The saturated term frequencies of an indexed text (BM25 without the IDF)."""
    found = terms(text)
    norm = K1 * (1.0 - B + B * len(found) / AVERAGE_TERMS)
    counts: dict[str, int] = {}
    for term in found:
        counts[term] = counts.get(term, 0) + 1
    weights = {
        count: round(count * (K1 + 1.0) / (count + norm), 6) for count in set(counts.values())
    }
    return _sparse({_index(term): weights[count] for term, count in counts.items()})


def sparse_query(text: str) -> SparseVector:
    """Each distinct term of a query once, with the weight of its kind."""
    return _sparse({_index(term): _query_weight(term) for term in terms(text)})


def _query_weight(term: str) -> float:
    return CHARACTER_WEIGHT if len(term) == 1 and term >= "\u3400" else 1.0


def _sparse(weights: dict[int, float]) -> SparseVector:
    indices = tuple(sorted(weights))
    return SparseVector(indices=indices, values=tuple(map(weights.__getitem__, indices)))


@lru_cache(maxsize=200_000)
def _index(term: str) -> int:
    """The term's dimension: 32 bits that are the same in every process and version."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")


def _fold(text: str) -> str:
    """Compatible forms made one, accents and vowel points of alphabets removed; case kept."""
    compatible = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    bare = _FOLDED_MARKS.sub("", unicodedata.normalize("NFD", compatible))
    return unicodedata.normalize("NFC", bare)


@cache
def _runs() -> re.Pattern[str]:
    """One group per script; words keep the combining marks that Python's ``\\w`` lacks."""
    marks = "".join(
        char for char in map(chr, range(0x300, 0x1E00)) if unicodedata.category(char)[0] == "M"
    )
    foreign = f"[^\\W_a-zA-Z0-9{_HAN}{_KANA}{_UNSPACED}{_HANGUL}]"
    return re.compile(
        f"(?P<word>[a-z0-9]*+{foreign}(?:{foreign}|[a-z0-9{marks}\u200c\u200d])*)"
        f"|(?P<latin>{_ASCII})|(?P<han>[{_HAN}]+)|(?P<kana>[{_KANA}]+)"
        f"|(?P<hangul>[{_HANGUL}]+)|(?P<unspaced>[{_UNSPACED}]+)",
        re.IGNORECASE,
    )


def _terms_of(script: str | None, run: str, *, japanese: bool) -> Iterable[str]:
    match script:
        case "latin":
            return _latin(run)
        case "han" if not japanese:
            return _short_chinese(run) if len(run) <= _SHORT_RUN else _chinese(run)
        case "word":
            return (run.casefold(),)
        case _:
            return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@lru_cache(maxsize=100_000)
def _latin(run: str) -> tuple[str, ...]:
    """A word's stem, or a compound whole, by its places (host, path) and by its atoms."""
    if run.isalnum():
        return _atom(run)
    if _THOUSANDS.fullmatch(run):
        return (run.replace(",", ""),)
    bare = _SCHEME.sub("", run)
    if not _JOINTS.search(bare) or bare.endswith(("+", "#")):
        return _atom(bare)
    if "'" in bare and bare.replace("'", "").isalpha():
        return _contraction(bare.lower())
    places = [place for place in _PLACES.split(bare.lower()) if _JOINTS.search(place)]
    atoms = [term for atom in _JOINTS.split(bare) for term in _atom(atom)]
    return tuple(dict.fromkeys([bare.lower(), *places, *atoms]))


def _contraction(word: str) -> tuple[str, ...]:
    """``anna's`` is Anna; ``don't`` stays, for it denies; ``o'brien`` is also found by its name."""
    if word in _STOP:
        return ()
    if word.endswith("'s"):
        return _atom(word[:-2])
    denies = word.endswith("n't")
    parts = [] if denies else [stem(part) for part in word.split("'") if len(part) > 3]
    return tuple(dict.fromkeys([word, *parts]))


def _atom(word: str) -> tuple[str, ...]:
    """The stem, and the pieces of ``camelCase`` and ``gpt4``."""
    whole = word.lower()
    if whole in _STOP:
        return ()
    pieces = [piece for piece in _PIECES.findall(word) if len(piece) > 1 or piece.isdigit()]
    if len(pieces) == 1:
        return (stem(whole),)
    return tuple(dict.fromkeys([stem(whole), *(stem(piece.lower()) for piece in pieces)]))


def _chinese(run: str) -> Iterator[str]:
    """Words and their parts; two characters that the dictionary leaves alone also as a pair."""
    words = known_words(run)
    for before, word in zip(["", *words], words, strict=False):
        if len(before) == len(word) == 1 and not _STOP_HAN & {before, word}:
            yield before + word
        yield from _parts(word)


@lru_cache(maxsize=100_000)
def _short_chinese(run: str) -> tuple[str, ...]:
    return tuple(_chinese(run))


@lru_cache(maxsize=100_000)
def _parts(word: str) -> tuple[str, ...]:
    """The shorter words inside, the word and its characters, without stop words."""
    known = chinese_words().FREQ
    grams = [word[i : i + n] for n in (2, 3) for i in range(len(word) - n + 1)]
    inside = [gram for gram in grams if known.get(gram)]
    found = dict.fromkeys([*inside, word, *word])
    return () if word in _STOP_HAN else tuple(term for term in found if term not in _STOP_HAN)
