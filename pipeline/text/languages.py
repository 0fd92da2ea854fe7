"""The language of a text, from its script and, for Latin letters, its small words.

Made for short texts: "好" is Chinese and "ok" English. Knows nothing of dictionaries or models, so
two languages of one script that share their small words are not told apart.
"""

import re
from collections import Counter
from collections.abc import Mapping

UNDETERMINED = "und"
"""What a text without letters, or of an unknown script, is (ISO 639-2)."""

_NOT_PROSE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|https?://[^\s，。）]+|[\w.+-]{1,64}@[\w.-]+", re.DOTALL
)
_NOT_PROSE_SIGNS = ("`", "http", "@")
"""One of them is in all that is no prose: looking for it first is quicker."""
_ASCII = re.compile(r"[\x00-\x7f]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_HAN_PARTICLE = re.compile(r"[的了是我你您他她它们在说不有和就都也这那吗呢吧要会去来把到很被给让]")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+(?:['’][A-Za-z]+)?")

_SCRIPTS: Mapping[str, re.Pattern[str]] = {
    "ko": re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"),
    "th": re.compile(r"[\u0e00-\u0e7f]"),
    "ar": re.compile(r"[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff]"),
    "he": re.compile(r"[\u0590-\u05ff]"),
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "el": re.compile(r"[\u0370-\u03ff]"),
    "hi": re.compile(r"[\u0900-\u097f]"),
    "bn": re.compile(r"[\u0980-\u09ff]"),
    "ta": re.compile(r"[\u0b80-\u0bff]"),
    "te": re.compile(r"[\u0c00-\u0c7f]"),
    "km": re.compile(r"[\u1780-\u17ff]"),
    "my": re.compile(r"[\u1000-\u109f]"),
    "ka": re.compile(r"[\u10a0-\u10ff]"),
    "hy": re.compile(r"[\u0530-\u058f]"),
}

# A letter that only this language of its script uses.
_VARIANTS: Mapping[str, tuple[tuple[str, re.Pattern[str]], ...]] = {
    "ru": (("uk", re.compile(r"[іїєґІЇЄҐ]")),),
    "ar": (("ur", re.compile(r"[ٹڈڑںے]")), ("fa", re.compile(r"[پچژگ]"))),
}

_SMALL_WORD_LISTS: Mapping[str, str] = {
    "en": (
        "the a an is are was were i you he she it we they my your his her our their and or but not "
        "of to in on at for with from this that what who how do does did have has had will can "
        "would could should be been if so just about there me him them"
    ),
    "de": (
        "der die das ein eine einen und oder aber nicht ich du er sie es wir ihr mein meine ist "
        "sind war bin hat habe haben mit von zu auf für im am auch wie was wer dass den dem"
    ),
    "fr": (
        "le la les un une des et ou mais ne pas je tu il elle nous vous ils mon ma mes est sont "
        "suis ai avec de du à au aux dans pour sur que qui ce cette c'est j'ai"
    ),
    "es": (
        "el la los las un una y o pero no yo tú él ella nosotros mi mis es son soy está estoy con "
        "de del a al en para por que quien este esta me te se lo muy"
    ),
    "pt": (
        "o a os as um uma e ou mas não eu você ele ela nós meu minha é são sou está estou com de "
        "do da no na em para por que quem este esta me se muito"
    ),
    "it": (
        "il lo la i gli le un una e o ma non io tu lui lei noi mio mia è sono sei ho con di del "
        "della a al in per che chi questo questa mi si molto"
    ),
    "nl": (
        "de het een en of maar niet ik jij hij zij wij mijn is zijn was ben heeft heb met van "
        "naar op voor in ook hoe wat wie dat deze dit"
    ),
}
_SMALL_WORDS = {code: frozenset(words.split()) for code, words in _SMALL_WORD_LISTS.items()}
_VIETNAMESE = re.compile(r"[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", re.IGNORECASE)


def language(text: str) -> str:
    """The ISO 639-1 code of the text's main language, ``und`` where it cannot be told.

    A Chinese sentence with English names or terms in it is ``zh``; an English one that mentions
    a Chinese name is ``en``. Code in backticks, links and addresses do not count.
    """
    is_prose = not any(sign in text for sign in _NOT_PROSE_SIGNS)
    prose = text if is_prose else _NOT_PROSE.sub(" ", text)
    foreign = _ASCII.sub("", prose)
    weights = {code: float(len(script.findall(foreign))) for code, script in _SCRIPTS.items()}
    east_asian, weight = _east_asian(foreign)
    weights[east_asian] = weight
    words = _LATIN_WORD.findall(prose)
    best = max(weights, key=lambda code: weights[code])
    if weights[best] > 0 and weights[best] >= _latin_weight(words):
        return _variant(best, prose)
    return _latin(words) if words else UNDETERMINED


def _east_asian(prose: str) -> tuple[str, float]:
    """Japanese or Chinese with its weight; a lone kana sign among many Han stays Chinese."""
    kana = len(_KANA.findall(prose))
    han = len(_HAN.findall(prose))
    if kana and kana >= 0.15 * (kana + han):
        return "ja", float(kana + han)
    return "zh", float(han + len(_HAN_PARTICLE.findall(prose)))


def _latin_weight(words: list[str]) -> float:
    """Capitalised words count little: in a text of another script they are mostly names."""
    return 0.5 * len(words) + sum(map(str.islower, words))


def _variant(code: str, prose: str) -> str:
    for other, letters in _VARIANTS.get(code, ()):
        if letters.search(prose):
            return other
    return code


def _latin(words: list[str]) -> str:
    lowered = [word.lower().replace("’", "'") for word in words]
    joined = " ".join(lowered)
    counts = Counter(lowered)
    hits = {
        code: sum(counts[word] for word in counts.keys() & small)
        for code, small in _SMALL_WORDS.items()
    }
    best = max(hits, key=lambda code: hits[code])
    if hits[best] > hits["en"] and (hits[best] > 1 or not joined.isascii()):
        return best
    if len(_VIETNAMESE.findall(joined)) * 4 >= len(lowered) and not hits["en"]:
        return "vi"
    return "en" if joined.isascii() or hits["en"] else UNDETERMINED
