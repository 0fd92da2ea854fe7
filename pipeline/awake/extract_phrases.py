"""The words around a retold sentence, in English and Chinese: who asked, who answered, what for.

A language without phrases of its own takes the English ones only where nothing else says it.
"""

import re
from dataclasses import dataclass

from pipeline.awake.extract_units import without_interjections
from pipeline.awake.extract_voice import needs_speaker
from pipeline.awake.pronouns import Voices
from pipeline.awake.pronouns_verbs import ADVERBS, PAST, VERBS, is_past, third_person

_ASKS_TO = re.compile(
    r"^(?:(?:so|and|also|then|now|ok|okay|but),? )?(?:please |kindly )?(?:(?:can|could|would|will) "
    r"you (?:please |also |kindly |maybe )*|i(?:['’]d| would) like you to |i (?:want|need) you to |"
    r"please |kindly )(?P<what>[a-z].*)$",
    re.IGNORECASE | re.DOTALL,
)
_COMMANDS_WORDS = """
give tell show help recommend suggest explain write list make create provide find compare
summarize summarise translate plan design draft fix check remind remember keep call use
generate describe calculate convert add remove update change continue let answer reply
respond review rewrite refactor implement walk stop avoid format send set
"""
_COMMANDS = frozenset(_COMMANDS_WORDS.split())
_RULE = re.compile(r"^(?:don['’]t|do not|never|always) (?P<verb>[a-z]+)\b", re.IGNORECASE)
_DO_NOT = re.compile(r"^(?:please )?(?:don['’]t|do not) ", re.IGNORECASE)
_PLEASE = re.compile(r"\bplease\b", re.IGNORECASE)
_OWN_STATES_WORDS = """
know think like care mind want have need feel see get worry love understand believe mean remember
"""
_OWN_STATES = frozenset(_OWN_STATES_WORDS.split())
_ASKS_TO_CHINESE = re.compile(
    r"^(?:那|那么|所以|然后|另外|再|也)?(?:请你|请您|麻烦你|麻烦您|麻烦|请|帮我|帮忙|可以(?=给我|帮我|告诉我)|(?:你|您)(?:可以|能|能不能|可不可以)|"
    r"我(?:想|要|希望)(?:让)?(?:你|您)|能不能|可不可以)(?P<what>.+)$",
    re.DOTALL,
)
_GIVE_CHINESE = re.compile(
    r"^(?:再|也|先)?(?:给我|告诉我|教我|说说|讲讲|"
    r"(?:推荐|介绍|列出|解释|写|翻译|总结|制定|设计)(?![了完得到的着过作师])|"
    r"(?:千万)?别(?![的人墅名致急客担]|提了))"
)
_ANSWER = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|no|nope|nah|sure|definitely|absolutely|of course|totally|exactly|"
    r"for sure|not (?:yet|really)|correct|right|ok|okay|是的?|对的?|好的?|没有?|"
    r"不|可以|行|有|会|能|同意|当然)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_FIRST_WORD = re.compile(r"^([A-Za-z]+(?:['’][a-z]+)?)(?:\s+([A-Za-z]+(?:['’][a-z]+)?))?")
_PARTICIPLES_WORDS = """
excited thrilled stoked pumped interested tired worried proud glad happy sad sorry grateful
blessed psyched super
"""
_PARTICIPLES = frozenset(_PARTICIPLES_WORDS.split())
_PROGRESSIVE = re.compile(
    r"^(?:looking forward|hoping to|planning (?:to|on|a)|thinking (?:of|about)|working on|"
    r"trying to|getting ready|going to (?!the )|heading to|gonna)",
    re.IGNORECASE,
)
_AMBIGUOUS = frozenset({"left", "lost", "set", "cut", "hit", "put", "read"})
_OWNED = frozenset({"my", "the", "a", "an", "our"})
_HOW_LONG = frozenset({"", "a", "an", "so", "too", "some", "ages", "years", "long"})
_ELIDED = re.compile(
    r"^(?P<adverb>(?:really|also|still|just|definitely|totally|always) )?(?P<verb>love|loved|"
    r"hate|hope|wish|miss|appreciate|enjoyed|needed|wanted|decided|started|"
    r"finished|moved|joined|visited|managed|planned|tried)\b(?! (?:you|u)\b(?! \w))",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"^(?:can['’]t|couldn['’]t|might|will|would|haven['’]t|have been|gotta)\b", re.I
)
_BARE_CHINESE = re.compile(
    r"^(?:先|再|已经?|准备|正在|今[天早晚]|明[天早晚]|昨[天晚]|后天|下周|上周|需要?|不?要|想|会|能|建议|加|改|做|补|"
    r"用|从|刚|没|不(?!错)|在|有|去|把|给|打算|觉得|希望|喜欢|记|更新|完成|提交|测试|修)"
)
_CONTENT = re.compile(r"[A-Za-z]{4,}|\d+")
_HELLO_FROM = re.compile(
    r"^(?i:hello|hi|hey|greetings|cheers|good (?:morning|evening|afternoon)|morning|evening)"
    r"(?: again| everyone| all)? from (?P<place>(?:the |sunny |rainy |cold )?[A-Z][^.!,?\n]{1,40})"
    r"[.!,]+\s*"
)
_HAN = re.compile(r"[㐀-鿿]")
_PARTICLE = re.compile(r"(?:，?好吗|，?可以吗|，?行吗|吗|呢|么)$")
TELLING_WORDS = 9
TELLING_HAN = 24


@dataclass(frozen=True, slots=True)
class Phrases:
    """How a language says who did what with a sentence; ``user`` and ``assistant`` are nouns."""

    user: str
    assistant: str

    def tells(self, voices: Voices, text: str) -> str:
        """An assistant's sentence, marked as its own."""
        return f"{_upper(voices.speaker)} told {voices.addressee or self.user}: {text}"

    def asks(self, voices: Voices, question: str) -> str:
        """A question with who asked it."""
        asked = f"asked {voices.addressee}" if voices.addressee else "asked"
        return f"{_upper(voices.speaker)} {asked}: {question}"

    def answered(self, voices: Voices, asker: str, question: str, answer: str) -> str:
        """A question and its answer as one statement."""
        return f"{_upper(asker)} asked: {question} {_upper(voices.speaker)} answered: {answer}"

    def requests(self, voices: Voices, wanted: str) -> str:
        """A request with who made it of whom."""
        whom = voices.addressee or self.assistant
        denied = _DO_NOT.match(wanted)
        to = f"not to {wanted[denied.end() :]}" if denied else f"to {_lower(wanted)}"
        return f"{_upper(voices.speaker)} asked {whom} {_ended(to, '.')}"

    def shared_code(self, voices: Voices, code: str) -> str:
        """A block of code with who gave it."""
        return f"{_upper(voices.speaker)} shared this code:\n{code}"

    def shared_row(self, voices: Voices, row: str) -> str:
        """A table row with who gave it."""
        return f"{_upper(voices.speaker)} noted: {_ended(row, '.')}"

    def request(self, said: str) -> str | None:
        """What the sentence asks the listener to do, None where it asks for nothing."""
        bare = without_interjections(said)
        asked = _ASKS_TO.match(bare)
        if asked:
            return asked["what"]
        first = _FIRST_WORD.match(bare)
        is_command = first is not None and first[1].lower() in _COMMANDS
        return bare if is_command or _is_rule(bare) else None

    def with_subject(self, voices: Voices, said: str, told: str) -> str:
        """The retold sentence with the speaker as its subject where the subject was left out."""
        greeted = _HELLO_FROM.match(told)
        if greeted:
            wrote = f"{_upper(voices.speaker)} wrote from {greeted['place']}."
            return f"{wrote} {told[greeted.end() :]}".strip()
        first = _FIRST_WORD.match(said)
        if first is None:
            return self._voiced(voices, said, told)
        verb, name = first[1].lower(), _upper(voices.speaker)
        own = _ELIDED.match(said)
        if own:
            adverb, verb, rest = own["adverb"] or "", own["verb"], _ELIDED.match(told)
            end = told[rest.end() :] if rest else said[own.end() :]
            return f"{name} {adverb.lower()}{third_person(verb.lower())}{end}"
        if _PROGRESSIVE.match(said) or verb in _PARTICIPLES:
            return f"{name} is {_lower(told)}"
        follows = (first[2] or "").lower()
        if verb == "been" and follows not in _HOW_LONG:
            return f"{name} has {_lower(told)}"
        if verb in ADVERBS and is_past(follows):
            return f"{name} {_lower(told)}"
        plain = verb in PAST and verb not in VERBS and verb not in _AMBIGUOUS
        if plain or (verb in {"lost", "left"} and follows in _OWNED) or _MODAL.match(said):
            return f"{name} {_lower(told)}"
        return self._voiced(voices, said, told)

    def _voiced(self, voices: Voices, said: str, told: str) -> str:
        """The sentence with its speaker in front where it leaves open whose it is."""
        names = [name for name in (voices.speaker, voices.addressee) if name]
        if not needs_speaker(said, told, names, is_chinese=False):
            return told
        asks = " asked" if _PLEASE.search(said) or _is_rule(said) else ""
        return f"{_upper(voices.speaker)}{asks}: {told}"

    def answers(self, said: str) -> bool:
        """Whether a message that says little still answers a question."""
        return bool(_ANSWER.match(said))

    def is_telling(self, question: str) -> bool:
        """Whether a question holds enough to be remembered by itself."""
        return len(_CONTENT.findall(question)) >= TELLING_WORDS


def _is_rule(said: str) -> bool:
    """``Don't tell him`` and ``Always add sources``, but no ``Don't know``."""
    found = _RULE.match(said)
    return found is not None and found["verb"].lower() in (VERBS | _COMMANDS) - _OWN_STATES


class _Chinese(Phrases):
    def tells(self, voices: Voices, text: str) -> str:
        return f"{voices.speaker}告诉{voices.addressee or self.user}：{text}"

    def asks(self, voices: Voices, question: str) -> str:
        return f"{voices.speaker}问{voices.addressee or ''}：{question}"

    def answered(self, voices: Voices, asker: str, question: str, answer: str) -> str:
        return f"{asker}问：{question}{voices.speaker}答：{answer}"

    def requests(self, voices: Voices, wanted: str) -> str:
        return f"{voices.speaker}请{voices.addressee or self.assistant}{_ended(wanted, '。')}"

    def shared_code(self, voices: Voices, code: str) -> str:
        return f"{voices.speaker}给出了这段代码：\n{code}"

    def shared_row(self, voices: Voices, row: str) -> str:
        return f"{voices.speaker}记录：{_ended(row, '。')}"

    def request(self, said: str) -> str | None:
        bare = without_interjections(said)
        asked = _ASKS_TO_CHINESE.match(bare)
        if asked:
            return asked["what"]
        return bare if _GIVE_CHINESE.match(bare) else None

    def with_subject(self, voices: Voices, said: str, told: str) -> str:
        bare = voices.speaker not in told and _BARE_CHINESE.match(said)
        if bare or needs_speaker(said, told, [voices.speaker], is_chinese=True):
            return f"{voices.speaker}：{told}"
        return told

    def is_telling(self, question: str) -> bool:
        return len(_HAN.findall(question)) + 2 * len(_CONTENT.findall(question)) >= TELLING_HAN


_ENGLISH = Phrases("the user", "the assistant")
_IN_CHINESE = _Chinese("用户", "助手")


def phrases_for(language: str) -> Phrases:
    """The phrases of a language; English ones where it has none of its own."""
    return _IN_CHINESE if language == "zh" else _ENGLISH


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower(text: str) -> str:
    """Lower case in front, unless the first word is a name or an abbreviation."""
    return text if text[1:2].isupper() or text.startswith("I ") else text[:1].lower() + text[1:]


def _ended(text: str, mark: str) -> str:
    bare = text.rstrip("。.?？!！;； ")
    return _PARTICLE.sub("", bare) + mark
