"""Whether a chat model's statement turned what was said into its opposite, by rules.

Three things are told. A negation was dropped: a clause of the messages denies what the statement
affirms, and none affirms it. A negation was added: the statement denies what the messages affirm,
and nothing near it is denied or says the like in meaning. A verb became its opposite (sold, bought)
about the same thing. What cannot be told: a paraphrase whose words are not those of the messages
(vegetarian for not eating meat), irony, what is wished or asked, who did it to whom (Tom paid Ann,
Ann paid Tom), and a denial in a clause that also denies something else.
"""

from collections.abc import Iterable, Sequence

from pipeline.text.denials import Clause, clauses, is_han
from pipeline.text.stems import stem

_WISHED_WORDS = """
want hope plan would will should could consider interest look try wish intend decide encourage
suggest recommend need ask aim going might may if wonder used before until 想 希望 打算 计划 准备
建议 应该 尝试 试试 学 考虑 期待 将 问
"""
_WISHED = frozenset(stem(word) for word in _WISHED_WORDS.split())
_FEW = 2
_OPPOSITE_WORDS = (
    ("buy bought purchase", "sell sold"),
    ("love like enjoy adore", "hate dislike despise detest"),
    ("marry married", "divorce divorced"),
    ("win won", "lose lost"),
    ("accept accepted", "reject rejected decline declined"),
    ("买", "卖"),
    ("喜欢 爱", "讨厌 反感"),
    ("结婚", "离婚"),
    ("接受", "拒绝"),
)
_OPPOSITES = tuple(
    tuple(frozenset(stem(word) for word in side.split()) for side in pair)
    for pair in _OPPOSITE_WORDS
)


def turned(text: str, said: Sequence[str], *, before: Sequence[str], names: Iterable[str]) -> bool:
    """Whether the statement says the opposite of what the texts of its messages say.

    Args:
        before: texts that came before them, such as the question that they answer.
        names: of those who speak, which say nothing of what is denied.
    """
    own = [clause for each in said for clause in clauses(each)]
    every = [*own, *(clause for each in before for clause in clauses(each))]
    known = frozenset(stem(part.casefold()) for name in names for part in name.split())
    return any(
        _lost(clause, own, every)
        or _made(clause, own, every, known)
        or _opposite(clause, own, every)
        for clause in clauses(text)
    )


def _lost(stated: Clause, own: Sequence[Clause], every: Sequence[Clause]) -> bool:
    """Whether the clause affirms what a clause of the messages denies and none affirms."""
    if stated.is_negative or stated.is_doubtful:
        return False
    for said in own:
        if said.head and not said.is_doubtful and _affirms(stated, said.head):
            shared = [word for word in said.denied if stated.holds(word)]
            if not any(_supports(each, shared) for each in every):
                return True
    return False


def _affirms(stated: Clause, head: Sequence[str]) -> bool:
    is_wished = bool((stated.words - set(head)) & _WISHED)
    return not is_wished and all(stated.holds(word) for word in head)


def _supports(said: Clause, words: Sequence[str]) -> bool:
    is_plain = not (said.is_denied or said.is_doubtful)
    return is_plain and all(said.holds(word) for word in words)


def _made(
    stated: Clause, own: Sequence[Clause], every: Sequence[Clause], names: frozenset[str]
) -> bool:
    """Whether the clause denies what the messages affirm, with nothing negative about it."""
    denied = [word for word in stated.denied if word not in names]
    if not denied or stated.is_doubtful:
        return False
    if any(_is_denied_there(said, denied) for said in every):
        return False
    plain = [said for said in own if not said.is_doubtful]
    found = sum(any(said.is_like(word) for said in plain) for word in denied)
    return 2 * found >= len(denied)


def _is_denied_there(said: Clause, denied: Sequence[str]) -> bool:
    shared = sum(said.is_like(word) for word in denied)
    if said.is_denied and (shared or len(said.words) <= _FEW):
        return True
    return said.is_negative and 2 * shared >= len(denied)


def _opposite(stated: Clause, own: Sequence[Clause], every: Sequence[Clause]) -> bool:
    """Whether a verb of the clause is the opposite of the one that the messages have there."""
    if stated.is_negative and stated.is_denied:
        return False
    sides = [(mine, other) for pair in _OPPOSITES for mine, other in (pair, pair[::-1])]
    return any(
        _has(stated, mine) and any(_is_about(stated, said, other, mine) for said in own)
        for mine, other in sides
        if not any(_has(each, mine) for each in every)
    )


def _has(clause: Clause, verbs: frozenset[str]) -> bool:
    return any(clause.holds(verb) for verb in verbs)


def _is_about(stated: Clause, said: Clause, other: frozenset[str], mine: frozenset[str]) -> bool:
    """Whether a plain clause of the messages has the other verb, and one more word of these."""
    if said.is_denied or said.is_doubtful or not _has(said, other):
        return False
    verbs = mine | other
    return any(
        word not in verbs and not any(is_han(word) and word in verb for verb in verbs)
        for word in stated.words & said.words
    )
