"""The names in a chat model's statement that nobody said, in English and Chinese, by rules.

A capitalised word is a name, at the start of a sentence as well, unless it is one of those that
sentences begin with. In a text without any capital, names are looked for where they stand: first,
and behind "with", "in", "called". Chinese names are those that the dictionary tags, a surname
before single characters (张伟), 小, 老 or 阿 before one (小明), and one character twice (豆豆).
What cannot be told: a name that is also a common word of sentences (May), and one whose characters
were said.
"""

import re
from collections.abc import Iterator, Sequence

from pipeline.awake.chat_check import LATIN_WORD, Said
from pipeline.text.dictionary import chinese_parts, chinese_words, known_words
from pipeline.text.stems import stem

_HAN = re.compile(r"[\u3400-\u9fff]+")
_AT_START = re.compile(r"(?:^|[.!?:;。！？：；\n]\s*|[\"“'(（])$")
_NAME_PLACE = re.compile(r"\b(?:with|in|from|at|near|named|called)\s+$")
_NO_NAME_ENDS = re.compile(
    r"\w{2,}(?:ing|tion|sion|ment|ness|ity|ship|ance|ence|ies|ers|als|ed|ly|al|ive|s)$"
)
_STARTER_WORDS = """
the a an this that these those there here it its he she they we you i my your his her their our and
but or so if as while when where who what why how which in on at by for from to with of after before
since because during until about both all some many most each every no not one another other user
assistant people someone everyone nobody friend friends now then today currently recently previously
usually sometimes often later earlier also yes please maybe perhaps never always once two three four
five six seven eight nine ten eleven twelve next last though although despite without within through
under over between according including regarding concerning following having being using working
living going getting making taking doing trying learning looking based married born retired used
finally eventually initially originally apparently generally typically normally mostly mainly only
nearly probably possibly likely clearly obviously hopefully unfortunately fortunately sadly luckily
actually really specifically especially particularly additionally similarly frequently rarely
occasionally regularly daily weekly monthly yearly early lately newly formerly suddenly immediately
instead however moreover furthermore overall still yet just even again soon ago such more less
none nothing something anything everything any few several lots them him us me himself herself
itself oneself themselves myself yourself ourselves life
"""
_STARTERS = frozenset(_STARTER_WORDS.split())
_ALWAYS_WORDS = """
user assistant january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday i ok am pm
"""
_ALWAYS = frozenset(_ALWAYS_WORDS.split())
_UNITS = frozenset("km kg cm mm ml kb mb gb tb app ok vs pm am wifi".split())  # noqa: SIM905

_NAME_TAGS = ("nr", "ns", "nt", "nz")
_NO_NAME_WORDS = "东西 中度 满怀 人山人海 和平 高峰 明白 小康 阿姨 同意 高兴 安康 和谐"
_NO_NAMES = frozenset(_NO_NAME_WORDS.split())
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙朱胡郭林罗郑梁谢宋唐冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程魏苏吕丁沈姚卢姜崔钟谭陆范汪廖"
    "石韦贾夏方邹熊孟秦邱侯江尹薛闫段雷龙陶贺顾毛郝龚邵钱严覃戴莫孔汤"
)
_BEFORE_NAMES = frozenset("小老阿")
_COUNTED = re.compile(r"[一二两三四五六七八九十几这那每半\d]$")
_KIN = frozenset("妈爸哥姐弟妹爷奶叔伯舅姑姨公婆姥宝太星猩娃狗猫人天常刚渐慢仅偏偷悄往每年处看试想")
_SMALL_SIGNS = frozenset(
    "的了是在也还和都就已着过我你您他她它们这那个很太真有没不会能要可以被把给让得地与跟及或从到对为去来上下里中大小"
    "多少说做用人年月日号周天想爱请叫住吃喝看买卖"
)


def invented_names(text: str, said: Said) -> list[str]:
    """The names of the text that neither its messages nor their speakers hold."""
    return [*_unknown_latin(text, said), *dict.fromkeys(_unknown_han(text, said))]


def _unknown_latin(text: str, said: Said) -> Iterator[str]:
    is_chinese = _HAN.search(text) is not None
    is_lower = text == text.lower()
    for match in LATIN_WORD.finditer(text):
        word = match.group()
        if _is_said(word, said):
            continue
        before = text[: match.start()][-12:]
        if is_chinese:
            is_name = word.casefold() not in _UNITS
        elif is_lower:
            is_name = _is_in_place(word, before)
        else:
            is_name = word != word.lower() and not (_AT_START.search(before) and _is_starter(word))
        if is_name:
            yield word


def _is_said(word: str, said: Said) -> bool:
    folded = word.casefold()
    bare = re.sub(r"['’]s$", "", folded)
    if bare in _ALWAYS or bare in said.words or folded in said.words or stem(bare) in said.words:
        return True
    parts = [part for part in re.split(r"['’&.-]", bare) if part]
    return len(parts) > 1 and all(part in said.words for part in parts)


def _is_in_place(word: str, before: str) -> bool:
    """Whether a word of a text without capitals stands where names do."""
    if _is_starter(word) or len(word) < 3 or _NO_NAME_ENDS.match(word):
        return False
    return bool(_AT_START.search(before) or _NAME_PLACE.search(before))


def _is_starter(word: str) -> bool:
    return re.split(r"['’]", word.casefold())[0] in _STARTERS


def _unknown_han(text: str, said: Said) -> Iterator[str]:
    for match in _HAN.finditer(text):
        words = known_words(match.group())
        yield from (word for word in words if _is_new(word, said) and _is_tagged(word))
        for place in range(len(words)):
            name = _called(words, place) or _surnamed(words, place) or _doubled(words, place)
            name = name or (_first(words, said) if match.start() + place == 0 else "")
            if name and not any(sign in said.folded for sign in name[-1:] + name[1:2]):
                yield name


def _is_new(word: str, said: Said) -> bool:
    return len(word) > 1 and word not in said.folded and word not in _NO_NAMES


def _is_tagged(word: str) -> bool:
    return chinese_parts().get(word, "").startswith(_NAME_TAGS)


def _called(words: Sequence[str], place: int) -> str:
    """小明, where the dictionary has no such word."""
    if words[place] not in _BEFORE_NAMES or not _is_given(words, place + 1):
        return ""
    name = words[place] + words[place + 1]
    return "" if chinese_words().FREQ.get(name) else name


def _surnamed(words: Sequence[str], place: int) -> str:
    """A surname and the one or two single characters behind it; none where 张 counts a thing."""
    is_counting = place > 0 and bool(_COUNTED.search(words[place - 1]))
    if words[place] not in _SURNAMES or is_counting or not _is_given(words, place + 1):
        return ""
    return (
        words[place] + words[place + 1] + (words[place + 2] if _is_given(words, place + 2) else "")
    )


def _is_given(words: Sequence[str], place: int) -> bool:
    """Whether a single character is there that a given name may have, no word of its own."""
    if place >= len(words) or len(words[place]) > 1 or words[place] in _SMALL_SIGNS:
        return False
    return chinese_parts().get(words[place], "") not in ("n", "v", "d", "p", "u", "c", "m", "uj")


def _first(words: Sequence[str], said: Said) -> str:
    """Two single characters that a text begins with, neither of them said."""
    first = words[:2]
    is_pair = len(first) == 2 and all(len(word) == 1 for word in first)
    is_new = not any(word in _SMALL_SIGNS or word in said.folded for word in first)
    return "".join(first) if is_pair and is_new else ""


def _doubled(words: Sequence[str], place: int) -> str:
    """豆豆: one character twice, that is neither kin nor an adverb."""
    word = words[place]
    is_pair = len(word) == 1 and place + 1 < len(words) and words[place + 1] == word
    name = 2 * word if is_pair else word
    if len(name) != 2 or name[0] != name[1] or name[0] in _KIN:
        return ""
    return name if chinese_parts().get(name, "n").startswith(("n", "i")) else ""
