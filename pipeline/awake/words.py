"""A text as words with their places, and which of them carry what must not be lost.

Digits with their units, spelled numbers, negations, names, code identifiers and links are ``kept``;
what a number counts or a negation denies is ``favoured``; sentence ends and table bars are
``structure``. Chinese words are those of jieba, and one that is not in its dictionary counts as a
name. ``one`` counts as an article. Knows nothing of models and of rates.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.awake.readings import Tier, Word
from pipeline.text.dictionary import chinese_parts, chinese_words

HAN = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_MARKS = r"\u0300-\u036f\u0900-\u109f\u200d"
_LETTER = rf"(?:[{_MARKS}]|(?![{HAN}])\w)"
_UNIT = r"[年月日号點点时時分秒岁歲元块塊万萬亿億千百个個℃度米公里斤克升次人天周折倍层层楼]"
_TOKEN = re.compile(
    r"(?P<link>(?:https?://|www\.)[^\s，。！？；（）“”<>]+(?<![.,;:!?)])|\S+@\S+\.\w+)"
    r"|(?P<code>`[^`\n]+`|\[\[[^\]\n]+\]\])"
    rf"|(?P<number>[+\-−#$€£¥~]*\d[\d.,:/\-]*(?:{_LETTER}[\w]*)?[%°]?{_UNIT}*(?<![.,:/\-]))"
    rf"|(?P<word>[@#]?{_LETTER}+(?:(?:[.:/'’_@+&\\\-](?={_LETTER})|,(?=\d)){_LETTER}+)*(?:\(\))?)"
    rf"|(?P<han>[{HAN}]+)"
    r"|(?P<end>[.!?。！？…]+)"
    r"|(?P<bar>\|)"
    rf"|(?P<mark>[!-/:-@\[-`{{-~]|[^\w\s{HAN}!-~。！？…]+|\S)"
)
_IDENTIFIER = re.compile(r"\w_\w|[a-z0-9][A-Z]|\(\)|\w[/\\]\w+[/\\.]|\w\.(?:[a-z]{2,4})$|^[@#]|::")
_NEGATION = re.compile(
    r"(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|hardly|"
    r"\w+n['’]t|dont|cant|wont|didnt|doesnt|isnt)",
    re.IGNORECASE,
)
_HAN_NEGATION = re.compile(
    r"\w*[不没沒未无無勿]\w*|[莫别甭]\w*|[先可就都也快请]别|非|并非|绝非|拒绝|除非|除了"
)
_CONJUNCTIONS = (
    "不过 不仅 不但 不管 不论 不断 不久 不同 不少 未来 无论 无锡 别人 别的 别墅 别名 别致 "
    "是不是 有没有 能不能 会不会 要不要 可不可以 差不多 只不过 对不起 不好意思"
)
_NOT_NEGATIONS = frozenset(_CONJUNCTIONS.split())
_COMPOUND = re.compile(r"[\-‐‑/]")
_DIGIT = re.compile(r"\d")
_UNITS = "two|three|four|five|six|seven|eight|nine"
_TENS = "twenty|thirty|fort(?:y|ies)|fifty|sixty|seventy|eighty|ninety"
_NUMBER_WORD = re.compile(
    rf"(?:{_TENS})(?:[\-‐‑](?:one|{_UNITS}))?|{_UNITS}|ten|eleven|twelve|"
    r"(?:thir|four|fif|six|seven|eigh|nine)teen|(?:hundred|thousand|million|billion|dozen)s?|"
    r"half|twice|thrice",
    re.IGNORECASE,
)
_VAGUE = "一 一个 一些 一下 一种 一点 一样 一起 一直 一定 有些 个 些"
_VAGUE_NUMBERS = frozenset(_VAGUE.split())
_HAN_NUMERAL = re.compile(r"[零〇二两三四五六七八九十百千万亿]")
_UNCOUNTED = "十分 千万 万一 百姓 老百姓 百货 万能 万物 四周 三明治 五官"
_NO_NUMBERS = frozenset(_UNCOUNTED.split())
_SMALL = (
    "a an the and or but so if as than then that this these those there here to of in on at by for "
    "from with about into up out over is are was were am be been being do does did have has had "
    "will would can could shall should may might just really very too also well oh hey yeah"
)
_SMALL_WORDS = frozenset(_SMALL.split())
_SMALL_TAGS = ("u", "y", "c", "p", "e", "o")
_NAME_TAGS = ("nr", "ns", "nt", "nz")
_NEVER_NAMES = re.compile(r"I(?:['’]\w+)?|OK|Ok")
_OPENERS = frozenset("\"'“‘(（[「『*#->•:：")
_SHOUTED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class _Found:
    word: Word
    sort: str


def words(text: str) -> list[Word]:
    """The words and marks in order; every character but white space is in exactly one."""
    found = list(_scan(text))
    names = _names(text, found)
    tiers = [_tier(item, names) for item in found]
    for i in range(1, len(found)):
        is_open = tiers[i] == Tier.ORDINARY and not _is_small(found[i])
        if is_open and (_is_counted(text, found, i) or _is_denied(text, found, i)):
            tiers[i] = Tier.FAVOURED
    return [
        replace(item.word, tier=tier, is_small=_is_small(item))
        for item, tier in zip(found, tiers, strict=True)
    ]


def _scan(text: str) -> Iterator[_Found]:
    for match in _TOKEN.finditer(text):
        sort = match.lastgroup or "mark"
        if sort == "han":
            yield from _han_words(match.group(), match.start())
        else:
            word = Word(start=match.start(), end=match.end(), text=match.group())
            yield _Found(word, sort)


def _han_words(run: str, start: int) -> Iterator[_Found]:
    for piece in chinese_words().cut(run):
        yield _Found(Word(start=start, end=start + len(piece), text=piece), "han")
        start += len(piece)


def _tier(found: _Found, names: frozenset[int]) -> Tier:
    word = found.word
    if found.sort in ("end", "bar"):
        return Tier.STRUCTURE
    if found.sort in ("link", "code", "number") or word.start in names:
        return Tier.KEPT
    if found.sort == "han":
        return Tier.KEPT if _is_telling_han(word.text) else Tier.ORDINARY
    if found.sort == "word" and _is_telling_latin(word.text):
        return Tier.KEPT
    return Tier.ORDINARY


def _is_small(found: _Found) -> bool:
    text = found.word.text
    if found.sort == "han":
        return chinese_parts().get(text, "").startswith(_SMALL_TAGS)
    return found.sort in ("mark", "end", "bar") or text.lower() in _SMALL_WORDS


def _is_telling_latin(word: str) -> bool:
    parts = _COMPOUND.split(word)
    if any(_NEGATION.fullmatch(part) or _NUMBER_WORD.fullmatch(part) for part in parts):
        return True
    return bool(_DIGIT.search(word) or _IDENTIFIER.search(word))


def _is_telling_han(word: str) -> bool:
    if _is_han_negation(word):
        return True
    if word in _VAGUE_NUMBERS:
        return False
    if _HAN_NUMERAL.search(word) and word not in _NO_NUMBERS:
        return True
    tag = chinese_parts().get(word)
    if tag is None:
        return len(word) > 1
    return tag.startswith(_NAME_TAGS) or tag == "m"


def _is_han_negation(word: str) -> bool:
    return bool(_HAN_NEGATION.fullmatch(word)) and word not in _NOT_NEGATIONS


def _is_counted(text: str, found: Sequence[_Found], i: int) -> bool:
    """Whether the word is what the number before it counts; a number with a unit needs none."""
    before, after = found[i - 1], found[i]
    if not _touch(text, before, after) or after.sort not in ("word", "han"):
        return False
    is_bare = before.sort == "number" and before.word.text[-1].isdigit()
    is_number = is_bare or bool(_NUMBER_WORD.fullmatch(before.word.text))
    return is_number and (after.sort == "word" or len(after.word.text) == 1)


def _is_denied(text: str, found: Sequence[_Found], i: int) -> bool:
    """Whether a negation stands before the word, but for a function word between them."""
    before = i - 1
    if before and _is_small(found[before]) and found[before].sort in ("word", "han"):
        before -= 1
    stretch = [_touch(text, found[k], found[k + 1]) for k in range(before, i)]
    return all(stretch) and found[i].sort in ("word", "han") and _is_negation(found[before])


def _touch(text: str, before: _Found, after: _Found) -> bool:
    return text[before.word.end : after.word.start] in ("", " ")


def _is_negation(found: _Found) -> bool:
    if found.sort == "han":
        return _is_han_negation(found.word.text)
    return bool(_NEGATION.fullmatch(found.word.text))


def _names(text: str, found: Sequence[_Found]) -> frozenset[int]:
    """Where capitalised names begin; none in a text that capitalises most of its words."""
    latin = [i for i, item in enumerate(found) if item.sort == "word" and len(item.word.text) > 1]
    capitals = [i for i in latin if found[i].word.text[0].isupper()]
    if len(latin) >= 4 and len(capitals) > _SHOUTED_SHARE * len(latin):
        return frozenset()
    inside = [i for i in capitals if not _starts_sentence(text, found, i)]
    spelled = {found[i].word.text for i in inside}
    again = [i for i in capitals if found[i].word.text in spelled]
    named = [i for i in again if not _NEVER_NAMES.fullmatch(found[i].word.text)]
    return frozenset(found[i].word.start for i in named)


def _starts_sentence(text: str, found: Sequence[_Found], i: int) -> bool:
    if i == 0 or "\n" in text[found[i - 1].word.end : found[i].word.start]:
        return True
    before = found[i - 1]
    return before.sort == "end" or before.word.text[-1] in _OPENERS
