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


_KIN = "妈爸哥姐弟妹爷奶叔姑姨舅外老公婆女儿子家们国军"
_THINKING = (
    r"觉得|认为|感觉|发现|希望|知道|担心|以为|怀疑|相信|承认|决定|想起|记得|"
    r"意识到|打算让|害怕|怕|确定|保证"
)
_ACTING = (
    r"刚刚?|已经?|现在|今[天晚早年]|明[天晚早年]|昨[天晚]|下周|上周|会|要|想|在|把|给|和|跟|去|来|买|"
    r"用|测|也|都|还|就|"
    r"最|不|没|特别|非常|很|准备|打算|决定|一直|经常|常|平时|喜欢|爱|需要|写|做|换|搬|对|为|卖|修|带|花|"
    r"看|养|整理|根据|按"
)
_ANOTHER = r"，。！？；：、,.!?;:你您他她它谁们请让叫使帮派被说问告诉咱"
_SAME_THOUGHT = re.compile(
    rf"(?<![自忘唯本无敌])我(?P<mid>[^{_ANOTHER}我]{{0,6}}?(?:{_THINKING}))我(?![{_KIN}])"
)
_SAME_OWNER = re.compile(
    rf"(?<![自忘唯本无敌的])我(?P<mid>(?={_ACTING})(?:(?!{_THINKING}|看见|看到|听)[^{_ANOTHER}我])*?)"
    rf"我(?=的|[一二两三四五六七八九十几](?:[^{_ANOTHER}]))"
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
    text = _SAME_THOUGHT.sub(r"我\g<mid>自己", text)
    text = _SAME_OWNER.sub(r"我\g<mid>自己", text)
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
