"""What a retold statement says of whom, where it says it plainly: subject, key and value."""

import re

from pipeline.entries import Attributes

_END = (
    r"(?=\s*(?:[.,;!?()\n]|$|\band\b|\bbut\b|\bbecause\b|\bsince\b|\bso\b|\bwhich\b|\bwhere\b|"
    r"\bwho\b|\bwhen\b|\bthat\b|\bwith\b|\bfor\b|\bnow\b|\bon \d|\bthese days\b))"
)
_VALUE = rf"(?P<value>[^.,;!?()\n]{{1,60}}?){_END}"
_DETAIL = r"(?P<value>[^,;!?()\n]{1,60}?)(?=\s*(?:[,;!?()\n]|\.(?:\s|$)|$|\band\b|\bbut\b))"
_ENGLISH: tuple[tuple[str, str], ...] = (
    ("name", rf"(?:'s (?:full |first )?name is|is called|goes by) {_DETAIL}"),
    (
        "birthday",
        rf"'s birthday is (?:on )?{_DETAIL}| was born (?:on|in) "
        r"(?P<value2>[^,;!?\n]{1,40}?)(?=[.;!?]|$)",
    ),
    ("phone", r"'s (?:phone|mobile|cell)(?: number)? is (?P<value>[+\d][\d\s()-]{4,20}\d)"),
    ("email", r"'s e-?mail(?: address)? is (?P<value>\S+@[\w.-]+\w)"),
    ("lives in", rf" (?:lives?|is living|now lives|currently lives|is based) in {_VALUE}"),
    ("lives in", rf" (?:moved|has moved|just moved|relocated) to {_VALUE}"),
    ("comes from", rf" (?:is|comes?) (?:originally )?from {_VALUE}"),
    ("works at", rf" (?:works|is working|now works) (?:at|for) {_VALUE}"),
    ("works as", rf" (?:works|is working|now works) as {_VALUE}"),
    ("favourite", rf"'s favou?rite (?P<key>[\w ]{{2,25}}?) (?:is|are) {_VALUE}"),
    ("is allergic to", rf" is allergic to {_VALUE}"),
    ("dislikes", rf" (?:really )?(?:hates|dislikes|can't stand|doesn't like) {_VALUE}"),
    ("likes", rf" (?:really |also |absolutely )?(?:loves|likes|enjoys|prefers) {_VALUE}"),
)
_STOP = r"(?P<value>[^，。！？；、,.!?;\s]{1,20})"
_CHINESE: tuple[tuple[str, str], ...] = (
    ("名字", r"(?:的名字(?:是|叫)|名叫|叫做)" + _STOP),
    ("生日", r"的?生日(?:是|在)" + _STOP),
    ("电话", r"的?(?:电话|手机)(?:号码?)?(?:是|为)?\s*(?P<value>[+\d][\d-]{5,18}\d)"),
    ("邮箱", r"的?邮箱(?:是|为)?\s*(?P<value>[\w.+-]+@[\w.-]+\w)"),
    ("住在", r"(?:现在|目前|一直|家)?住在" + _STOP),
    (
        "住在",
        r"(?:搬到了?|搬去了?|搬家到了?)(?P<value>[^，。！？；、,.!?;\s]{1,12}?)(?:了|住|去)?(?=[，。！？；、,.!?;\s]|$)",
    ),
    (
        "工作于",
        r"(?:现在|目前)?在(?P<value>[^，。！？；、,.!?;\s]{1,16}?)(?:上班|工作|任职)(?!坊|室|日|时|量)",
    ),
    (
        "职业",
        r"(?:是|当)(?:一名|一位|个|一个)(?P<value>[^，。！？；、,.!?;\s的]{1,10})(?=[，。！？；,.!?;]|$)",
    ),
    ("老家", r"(?:老家(?:在|是)|来自)" + _STOP),
    ("过敏", r"对(?P<value>[^，。！？；、,.!?;\s]{1,10}?)过敏"),
    ("不喜欢", r"(?:不喜欢|讨厌|不爱|受不了)" + _STOP),
    ("喜欢", r"最喜欢(?:吃|喝|看|玩|听)?的[^，。是]{0,6}?(?:就是|是)" + _STOP),
    ("喜欢", r"(?:最|很|非常|特别|更|也|都|就)*(?:喜欢|爱)(?!.?的)" + _STOP),
)
_RULES = {
    "en": [(key, re.compile(pattern)) for key, pattern in _ENGLISH],
    "zh": [(key, re.compile(pattern)) for key, pattern in _CHINESE],
}


def attributes(text: str, subject: str, *, language: str) -> Attributes | None:
    """The first plain attribute of ``subject`` in a retold statement; None without one.

    The subject must stand where the pattern begins, so what is said of others is not taken.
    """
    for key, rule in _RULES.get(language, ()):
        for match in rule.finditer(text):
            if _is_about(text, match.start(), subject, language):
                return _found(subject, key, match)
    return None


def _is_about(text: str, start: int, subject: str, language: str) -> bool:
    before = text[:start].lower()
    if language == "en":
        return before.endswith(subject.lower())
    tail = before[-len(subject) - 6 :]
    place = tail.rfind(subject.lower())
    return place >= 0 and not re.search(r"[，。！？；、的,.]", tail[place + len(subject) :])


def _found(subject: str, key: str, match: re.Match[str]) -> Attributes:
    groups = match.groupdict()
    value = groups["value"] or groups.get("value2") or ""
    named = f"favourite {groups['key']}" if groups.get("key") else key
    return Attributes(subject=subject, key=named, value=value.strip())
