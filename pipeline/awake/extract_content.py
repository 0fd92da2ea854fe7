"""Whether a sentence of an assistant carries content of its own, or only echoes and agrees.

Content is a name or a number that the message before did not hold, or several content words that
it did not hold. An answer to a question may repeat the words of the question.
"""

import re

from snowballstemmer import stemmer

from pipeline.text.dictionary import chinese_words

TELLING = 4
"""New content words that make a statement worth keeping."""
TELLING_HAN = 3
TELLING_ANSWER = 2
"""Content words that do so where a question was asked, or advice is given."""

_STEMS = stemmer("english")
_LATIN = re.compile(r"[^\W\d_㐀-鿿]+(?:['’-][^\W\d_㐀-鿿]+)*")
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_HAN = re.compile(r"[㐀-鿿]+")
_HAN_NUMBER = re.compile(r"[二三四五六七八九十百千万两]+")
_STARTS = re.compile(r"(?:^|[.!?:;\n]\s*|[\"“*(]\s*)$")
_SPELLED = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
thousand million dozen
"""
_NUMBER_WORDS = frozenset(_SPELLED.split())
_ADVICE = re.compile(
    r"\b(?:should|recommend|suggest|try|avoid|advise|better to|best to)\b|"
    r"建议|应该|最好|推荐|不要|避免",
    re.IGNORECASE,
)
_PROMISE = re.compile(
    r"(?:i['’]ll|i will|i['’]m going to|i have|i['’]ve) (?:\w+ly )?"
    r"(?:keep|kept|note|remember|save|store|add|put|write|make a note|file|log|take care)\w*\b|"
    r"我(?:会|先|已|来)?(?:[都多帮替给]你?)?(?:记|留意|注意|存|保存)",
    re.IGNORECASE,
)
_SMALL_WORDS = """
a about after again all also always am an and any anything are as at be because been before being
both but by can could did do does done each ever every everything for from had has have he her here
hers him his how i if in into is it its just let like more most much my no not now of off on one
only or other our out over own please quite really right she should so some something such than
that the their them then there these they thing things this those to too up us very was we well
were what when where which who why will with would yes yet you your
add added agree amazing anytime awesome bet careful carry character check clear congratulation
congratulations correct corrected course enjoy excellent excited exciting fair fine forget forward
gladly glad go going good great got happy help hear hope idea keep keeping kept kind know let list
look looks lovely luck make mean meet memory mind mix need never nice note noted notes ok okay
perfect pleasure present problem proud ready reason record recorded remember remembered remind
reminder rest safe save saved see seem seems sense sensible set sound sounds store stored sure take
thank thanks think track understand understood update updated want welcome wise wonder wonderful
worry worries write written
"""
_SMALL = frozenset(_STEMS.stemWords(_SMALL_WORDS.split()))
_SMALL_HAN_WORDS = """
这个 那个 这样 那样 这里 那里 这些 那些 这条 这件 这项 什么 怎么 我们 你们
他们 咱们 已经 可以 没有 一定 一个 一下 一点 一些 一直 一遍 一起 不会 不是
就是 还是 也是 真是 真的 非常 特别 很快 更好 很好 不错 值得 放心 努力 加油
随时 现在 以后 之后 记住 记下 记得 记好 记录 写下 保存 更新 完成 改成 改为
改好 收到 明白 了解 知道 清楚 听起来 看起来 看来 觉得 感觉 留意 注意 帮你 替你
提醒 告诉 恭喜 祝贺 祝你 希望 相信 期待 开心 高兴 愉快 顺利 辛苦 厉害 完美
正好 正常 没错 没问题 因为 所以 但是 不过 而且 反而 只要 如果 这次 那么 然后
的话 自己 大家 东西 事情 时候 问题 好多 许多 不用 需要 划掉 进度 保持 继续
坚持
"""
_SMALL_HAN = frozenset(_SMALL_HAN_WORDS.split())


def has_content(text: str, *, before: str, is_answer: bool) -> bool:
    """Whether the text says something that ``before`` did not.

    Args:
        text: one sentence of an assistant, in its own words.
        before: the message that it follows; empty without one.
        is_answer: whether that message asked for information.
    """
    if _PROMISE.match(text):
        return bool(set(_DIGITS.findall(text)) - set(_DIGITS.findall(before)))
    if _names_or_numbers(text) - _names_or_numbers(before, everywhere=True):
        return True
    said = _content(text)
    fresh = said - _content(before)
    if is_answer or _ADVICE.search(text):
        return len(said if is_answer else fresh) >= TELLING_ANSWER
    return len(fresh) >= (TELLING_HAN if _HAN.search(text) else TELLING)


def _names_or_numbers(text: str, *, everywhere: bool = False) -> set[str]:
    """Names and numbers in lower case; ``everywhere`` counts every word as a possible name."""
    found = set(_DIGITS.findall(text)) | set(_HAN_NUMBER.findall(text))
    for match in _LATIN.finditer(text):
        word = match.group().replace("’", "'").removesuffix("'s")
        if everywhere or word.lower() in _NUMBER_WORDS or _is_name(text, match, word):
            found.add(word.lower())
    return found


def _is_name(text: str, match: re.Match[str], word: str) -> bool:
    is_upper = word[0].isupper() and len(word) > 1 and "'" not in word
    return is_upper and not _STARTS.search(text[max(0, match.start() - 3) : match.start()])


def _content(text: str) -> set[str]:
    """The content words: stems in Latin script, words of two characters or more in Chinese."""
    latin = (w.lower().replace("’", "'").split("'")[0] for w in _LATIN.findall(text))
    found = set(_STEMS.stemWords([word for word in latin if len(word) > 2])) - _SMALL
    for run in _HAN.findall(text):
        found.update(w for w in chinese_words().cut(run) if len(w) > 1 and w not in _SMALL_HAN)
    return found
