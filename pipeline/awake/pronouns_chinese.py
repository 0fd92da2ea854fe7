"""Chinese first and second persons to names. Knows nothing of grammar beyond the pronouns."""

import re

_QUOTED = re.compile(r"“[^”]*”|「[^」]*」|『[^』]*』|`[^`]*`|\"[^\"]*\"")
_WE_AT = re.compile(
    r"(?:我们|咱们|咱|俺们)(?=(?:的)?(?:公司|团队|学校|单位|部门|小组|小区|班|店|厂|村))(?:的)?"
)
_WE = re.compile(r"我们|咱们|俺们|咱(?!爸|妈)")
_I = re.compile(r"(?<![自忘唯本无敌])(?:我|俺)(?!国|军|行我素|们)(?:自己(?=[，。！？,.!?的]|$))?")
_YOU_ALL = re.compile(r"你们|您们")
_YOU = re.compile(r"(?<![迷])(?:你|您)(?!好|们|追我赶|死我活|来我往)")
_KNOWN_PHRASES = re.compile(
    r"谢谢你|谢谢您|感谢你|感谢您|麻烦你|辛苦你了?|你好|您好|你看|你说呢|你懂的"
)


def retold_in_chinese(sentence: str, speaker: str, addressee: str | None) -> str:
    """``我下周搬家`` said by 周梅 is ``周梅下周搬家``; ``我们`` are 周梅等人."""
    parts: list[str] = []
    cut = 0
    for quote in _QUOTED.finditer(sentence):
        parts += [_named(sentence[cut : quote.start()], speaker, addressee), quote.group()]
        cut = quote.end()
    parts.append(_named(sentence[cut:], speaker, addressee))
    return "".join(parts)


def _named(text: str, speaker: str, addressee: str | None) -> str:
    text = _WE_AT.sub(f"{_beside(speaker)}所在的", text)
    text = _WE.sub(f"{speaker}等人", text, count=1)
    text = _WE.sub("他们", text)
    text = _I.sub(speaker, text)
    return _addressed(text, addressee) if addressee else text


def _beside(name: str) -> str:
    return name


def _addressed(text: str, addressee: str) -> str:
    kept = _KNOWN_PHRASES.split(text)
    phrases = _KNOWN_PHRASES.findall(text)
    named = [_YOU.sub(addressee, _YOU_ALL.sub(f"{addressee}等人", part)) for part in kept]
    joined = [named[0]]
    for phrase, part in zip(phrases, named[1:], strict=True):
        joined += [phrase, part]
    return "".join(joined)
