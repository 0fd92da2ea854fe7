"""Who ``I`` and ``you`` are: sentences of a speaker retold in the third person.

Knows nothing of messages; the two languages have their own modules.
"""

from dataclasses import dataclass

from pipeline.awake.pronouns_chinese import retold_in_chinese
from pipeline.awake.pronouns_english import retold_in_english


@dataclass(frozen=True, slots=True, kw_only=True)
class Voices:
    """The name of the speaker and, in a conversation of two, of the other; as sentences use them.

    A speaker known only by a role is called ``the user`` or ``用户``.
    """

    speaker: str
    addressee: str | None = None


def retold(sentence: str, voices: Voices, *, language: str) -> str:
    """The sentence with the pronouns of its speaker and addressee replaced by their names.

    Quotations and code keep their words. Languages other than English and Chinese stay as said.
    """
    if language == "zh":
        return retold_in_chinese(sentence, voices.speaker, voices.addressee)
    if language == "en":
        return retold_in_english(sentence, voices.speaker, voices.addressee)
    return sentence
