"""One sentence per decision for a person, in the language of the entry."""

from actors.rules.reading import Reading
from actors.rules.subjects import differing_values
from actors.rules.verdict import Why

_ENGLISH = {
    Why.RESIDENCE: "the place of residence is now another one",
    Why.WORK: "the work is now another one",
    Why.STATE: "the state has changed{from_to}",
    Why.ENDED: "it is said to be over{ended}",
    Why.FLIP: "it is now said the other way round",
    Why.VALUE: "the {kinds} is now another one",
    Why.ATTRIBUTE: "the same attribute now has another value",
    Why.CHOICE: "another choice has taken its place",
    Why.DONE: "the task has been done",
    Why.REFINED: "the newer statement adds {added} to the same fact",
    Why.REPEATED: "the newer statement says the same, so both become one",
    Why.EXAMPLE: "the newer statement gives an example: {added}",
    Why.EXTENDED: "the newer statement adds another of its sort: {added}",
    Why.DETAILED: "the newer statement tells more of it: {added}",
    Why.NAMED: "the newer statement tells more of the same one: {added}",
    Why.QUESTION: "a question or a guess states nothing",
    Why.REPORTED: "what someone told, asked or noted word by word stays as it is",
    Why.SUBJECT: "the statements are about different subjects",
    Why.UNRELATED: "no conflict and no refinement was found",
}
_CHINESE = {
    Why.RESIDENCE: "住处已经改变",
    Why.WORK: "工作已经改变",
    Why.STATE: "状态已经改变{from_to}",
    Why.ENDED: "这件事已经不再成立{ended}",
    Why.FLIP: "现在的说法与原来相反",
    Why.VALUE: "{kinds}已经改变",
    Why.ATTRIBUTE: "同一属性有了新的值",
    Why.CHOICE: "选择已经改变",
    Why.DONE: "任务已经完成",
    Why.REFINED: "较新的说法为同一事实补充了{added}",
    Why.REPEATED: "两句说的是同一件事，合为一句",
    Why.EXAMPLE: "较新的说法给出了例子：{added}",
    Why.EXTENDED: "较新的说法增加了同类内容：{added}",
    Why.DETAILED: "较新的说法补充了细节：{added}",
    Why.NAMED: "较新的说法补充了同一对象的情况：{added}",
    Why.QUESTION: "问句或猜测不陈述事实",
    Why.REPORTED: "转述或记录的原话保持不变",
    Why.SUBJECT: "两句说的不是同一个对象",
    Why.UNRELATED: "没有发现冲突，也没有发现补充",
}
_KINDS = {
    "clock": ("time", "时间"),
    "weekday": ("day", "日期"),
    "day": ("date", "日期"),
    "month": ("month", "月份"),
    "year": ("year", "年份"),
    "email": ("address", "地址"),
}


def reason(why: Why, target: Reading, candidate: Reading) -> str:
    """The sentence for a decision about ``target`` because of ``candidate``."""
    chinese = target.is_chinese
    text = (_CHINESE if chinese else _ENGLISH)[why].format(
        from_to=_from_to(target, candidate),
        ended=_ended(target, candidate),
        kinds=_kinds(target, candidate),
        added=_added(target, candidate),
    )
    if chinese:
        return f"{text}。较新的说法：“{candidate.text}”"
    return f"{text[0].upper()}{text[1:]}. The newer statement: “{candidate.text}”"


def _from_to(target: Reading, candidate: Reading) -> str:
    new = dict(candidate.states)
    for dimension, state in sorted(target.states):
        if dimension in new and new[dimension] != state and not target.is_chinese:
            return f" from {state} to {new[dimension]}"
    return ""


def _ended(target: Reading, candidate: Reading) -> str:
    over = _listed(target.words & candidate.ended, target)
    if not over:
        return ""
    return f"（{over}）" if target.is_chinese else f" ({over})"


def _kinds(target: Reading, candidate: Reading) -> str:
    language = 1 if target.is_chinese else 0
    other = ("value", "数值")
    kinds = {_KINDS.get(kind, other)[language] for kind in differing_values(target, candidate)}
    return ("和" if target.is_chinese else " or ").join(sorted(kinds))


def _added(target: Reading, candidate: Reading) -> str:
    listed = _listed(candidate.words - target.words, candidate)
    return listed or ("细节" if target.is_chinese else "detail")


def _listed(words: frozenset[str], reading: Reading) -> str:
    """The words as they stand in the sentence, in its order."""
    low = reading.text.lower()
    found = sorted((low.find(word), word) for word in words if low.find(word) >= 0)
    if reading.is_chinese:
        return "、".join(word for _, word in found)
    return ", ".join(_whole(reading.text, place) for place, _ in found)


def _whole(text: str, place: int) -> str:
    end = place
    while end < len(text) and (text[end].isalnum() or text[end] in "-'’"):
        end += 1
    return text[place:end].removesuffix("'s").removesuffix("’s")
