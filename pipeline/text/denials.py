"""What a text denies: its clauses, the words that each holds, and those that a negation reaches.

In English and Chinese, by surfaces alone. A clause ends at a mark or at a word that turns (but,
because, 但是, 因为); a negation reaches the words behind it in its clause, and so do a few words
that deny in meaning (stopped eating, without, 戒, 拒绝). What only looks like a denial (can't wait,
not only, 不仅, 不得不, 是不是), what a question asks and what is denied twice is ``is_doubtful``:
nothing is to be concluded from it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pipeline.text.dictionary import known_words
from pipeline.text.stems import stem

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？\n])")
_CUT = re.compile(
    r"[,;:()\"“”\n–—]|\s-+\s|[.!…]+(?:\s|$)|[，。！；：、（）]|"
    r"\b(?:but|because|although|though|whereas|while|however|yet|unless|until|which|who|when|so"
    r"|if)\b|\b(?:and|then)\b(?=\s+(?:i|he|she|we|they|you|it|my|now|then|never|do|does|did|no)\b)|"
    r"但是?|不过|可是|因为|所以|虽然|然而|而且|而是|如果|就算|也(?=[不没])|又(?=[不没])",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+(?:['’][a-z]+)?|\d[\d.,:/-]*\d|\d|[\u3400-\u9fff]+",
    re.IGNORECASE,
)
_NT = r"(?:n['’]?t| not)"
_LOOKS = re.compile(
    rf"\b(?:ca|could|can|hardly){_NT}? (?:even |really )?(?:wait|believe|help|stress|imagine|thank"
    r"|agree|recommend|get enough|say enough|go wrong|beat|have"
    r"|be (?:happier|prouder|more|better))\b"
    r"|\bnot (?:only|just|to mention|simply|merely|alone|until|a day goes|sure|certain)\b"
    r"|\bno (?:doubt|problem|worries|wonder|matter|better|pressure|need|less|more than)\b"
    rf"|\bwhy (?:not|do{_NT})\b|\bdo(?:es)?{_NT} know\b"
    rf"|\bdo{_NT} (?:worry|forget|hesitate|mention|be|you|let|give up|miss)\b"
    r"|\bnever (?:fails?|ceases?|gets? old|thought|knew|imagined|expected|mind|too late"
    r"|would|could|be(?:en)? (?:so|better|happier|more))\b"
    rf"|\b(?:did|had){_NT} (?:expect|think|imagine|know|realize)|\bdid{_NT} used? to\b"
    rf"|\bwould{_NT}\b|\bnothing (?:but|like|beats|better|more|makes?|is better)\b"
    r"|\b(?:if|or) not\b"
    r"|\b(?:is|are|was|were|do|does|did|have|has|had|can|should|wo|ai)n['’]t (?:it|that|they|he|she"
    r"|you|i|we|there)\b|\bused to\b|"
    r"不[仅但只光单]|[不没]得?不|非[^，。]{0,6}不可|[忍禁由]不[住得]|离不开|舍不得|巴不得|恨不得|没想到|"
    r"不敢相信|想不到|[是有要能会可想爱行好对][不没][是有要能会可想爱行好对]|(?P<a>[一-鿿])[不没](?P=a)|"
    r"不知道|不确定|不一定|说不定|要不是|没少|别提|[别不][要用]?(?:忘|担心|客气|急)|不妨|要不|不如|"
    r"免不了|少不了|以前|曾经|原来|本来",
    re.IGNORECASE,
)
_NOT_WORDS = """
not no nope nah never without neither nor cannot none nobody nothing nowhere hardly barely rarely
seldom scarcely dont cant wont didnt doesnt isnt wasnt couldnt havent hasnt arent
"""
_NOT = frozenset(_NOT_WORDS.split())
_ENDED_WORDS = "stop stopped stops quit quits ceased refuse refuses refused avoid avoids avoided"
_ENDED = frozenset(_ENDED_WORDS.split())
_MEANT_WORDS = """
stop quit cease refuse refrain avoid hate dislike despise detest deny decline reject fail failure
lack miss lose lost loss cancel abandon skip forget forgot unable impossible unlikely instead rather
away former ex end ended finish except few little less least drop leave left prevent ban forbid
forbidden difficult difficulty off without unfamiliar unsure uncertain doubt disagree bad zero empty
rid abstain sell sold allergic allergy afraid shy postpone delay unhappy prefer intolerant
intolerance against unknown
"""
_MEANT = frozenset(stem(word) for word in _MEANT_WORDS.split())
_PASSED_WORDS = """
a an the any to be been being is are was were am do does did done have has had having will would can
could should may might must of in on at for with as very much really actually ever also that it this
these those there i you he she we they me him her us them my your his its our their and or than from
by think believe suppose guess mean say quite so just all one only still too about more most some
longer
"""
_PASSED = frozenset(_PASSED_WORDS.split())
_VAGUE_WORDS = """
sure bad lot way time long far enough problem idea thing know always perfect easy get go let mind
matter everything anyone anything something someone yet right now today currently anymore
"""
_VAGUE = frozenset(stem(word) for word in _VAGUE_WORDS.split())

_HAN_NOT = re.compile(
    r"(?:从来|从|再也|再|并|绝|毫|尚|根本)?[不没未无勿别]"
    r"(?:怎么|[再要会能想可敢用必肯有法人是曾到了得太])?(?P<rest>.*)|(?P<verb>.)不.{1,2}|并非|绝非"
)
_HAN_ENDED = re.compile(r"戒[掉了]?(?P<rest>.*)|停止|放弃|拒绝|避免|杜绝|禁止|不再")
_HAN_MEANT = re.compile(
    r"讨厌|反感|过敏|缺|失|忘|难|少|怕|差|错|戒|停|拒|避|禁|取消|除了|以外|离开|卖|只"
)
_HAN_OTHER_WORDS = """
不错 不过 不断 不久 不同 不少 不论 不管 不愧 不止 不安 不满 不幸 不良 不足 没关系 没错 没问题 没准
没事 无论 无数 无比 无锡 无限 无疑 无聊 无奈 未来 未必 未婚妻 未婚夫 别人 别的 别墅 别名 别致 别处
差不多 对不起 了不起 不好意思 来不及 动不动 只不过 不锈钢 不客气 不用谢 不得了 非常
"""
_HAN_OTHER = frozenset(_HAN_OTHER_WORDS.split())
_HAN_PASSED = frozenset(
    "的了是在也还和都就已经着过我你您他她它们这那个一很太真有吗呢吧啊会能要可以被把给让得地"
)
_REACH = 4
_HEAD = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause: its words (stems; Chinese words and their characters) and what is denied of them.

    ``denied`` are the words that a negation reaches, in order; ``is_denied`` holds with any
    negation, ``is_negative`` also where a word only denies in meaning.
    """

    words: frozenset[str]
    denied: tuple[str, ...] = ()
    is_denied: bool = False
    is_negative: bool = False
    is_doubtful: bool = False

    @property
    def head(self) -> tuple[str, ...]:
        """The first of the denied words, which tell what is denied: mostly a verb and a thing."""
        return self.denied[:_HEAD]

    def holds(self, word: str) -> bool:
        """Whether the word is there; of a Chinese one, each of its characters."""
        return word in self.words or (is_han(word) and all(sign in self.words for sign in word))

    def is_like(self, word: str) -> bool:
        """Whether it is there, or another one that begins alike (decide, decision)."""
        if self.holds(word) or len(word) < 4 or is_han(word):
            return self.holds(word)
        return any(each[:4] == word[:4] for each in self.words)


def is_han(text: str) -> bool:
    """Whether a text begins with a Chinese character."""
    return "\u3400" <= text[:1] <= "\u9fff"


@lru_cache(maxsize=4_096)
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of the text that hold a word, in order."""
    return tuple(_read(text))


def _read(text: str) -> Iterator[Clause]:
    for sentence in _SENTENCE.split(text):
        marked = _LOOKS.sub(r" ~\g<0> ", sentence)
        is_question = sentence.rstrip().endswith(("?", "？", "吗"))
        for part in _CUT.split(marked):
            if part and _WORD.search(part):
                yield _clause(part, is_question=is_question)


def _clause(part: str, *, is_question: bool) -> Clause:
    tokens = list(_tokens(part))
    reached = {i: found for i in range(len(tokens)) if (found := _denial(tokens, i)) is not None}
    first = min(reached, default=len(tokens))
    own = reached.get(first, ())
    # 戒酒 says what was given up, so nothing behind it is.
    after = own if own and _HAN_ENDED.fullmatch(tokens[first]) else [*own, *tokens[first + 1 :]]
    denied = [stem(word) for token in after if (word := _bare(token)) and not _is_passed(word)]
    return Clause(
        words=frozenset(each for token in tokens for each in _forms(_bare(token))),
        denied=tuple(word for word in denied[:_REACH] if word not in _VAGUE),
        is_denied=bool(reached),
        is_negative=bool(reached) or any(_is_meant(_bare(token)) for token in tokens),
        is_doubtful=is_question or "~" in part or len(reached) > 1,
    )


def _tokens(part: str) -> Iterator[str]:
    for match in _WORD.finditer(part):
        token = match.group().lower().replace("’", "'")
        if is_han(token):
            yield from known_words(token)
        else:
            yield token


def _bare(token: str) -> str:
    return token.split("'")[0]


def _forms(word: str) -> Iterator[str]:
    """As it is looked for: a stem; a Chinese word with its characters."""
    if is_han(word):
        yield word
        yield from (sign for sign in word if sign not in _HAN_PASSED)
    elif not _is_passed(word):
        yield stem(word)


def _is_passed(word: str) -> bool:
    return all(sign in _HAN_PASSED for sign in word) if is_han(word) else word in _PASSED


def _is_meant(word: str) -> bool:
    if is_han(word):
        return _HAN_MEANT.search(word) is not None
    return stem(word) in _MEANT or word.startswith(("un", "dis"))


def _denial(tokens: list[str], i: int) -> tuple[str, ...] | None:
    """What the word denies in itself (养 in 没养), mostly nothing; None if it denies nothing."""
    token = tokens[i]
    if is_han(token):
        found = None if token in _HAN_OTHER else _HAN_NOT.fullmatch(token)
        found = found or _HAN_ENDED.fullmatch(token)
        parts = found.groupdict().values() if found else ()
        return None if found is None else tuple(each for each in parts if each)
    is_ended = token in _ENDED and i + 1 < len(tokens) and tokens[i + 1].endswith("ing")
    return () if token in _NOT or token.endswith("n't") or is_ended else None
