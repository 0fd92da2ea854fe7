"""English verb forms that turning a first person into a third one needs.

Closed word lists and spelling rules, no tagger: a word that no list knows counts as a present
form after ``I`` and as no verb elsewhere.
"""

import re

AUXILIARIES = {
    "am": "is",
    "are": "is",
    "were": "was",
    "do": "does",
    "have": "has",
    "don't": "doesn't",
    "haven't": "hasn't",
    "aren't": "isn't",
    "weren't": "wasn't",
    "ain't": "isn't",
    "dont": "doesn't",
}
"""Forms of the first and second person with their third person."""

_UNCHANGED_WORDS = """
can could will would shall should may might must can't cannot couldn't won't wouldn't shan't
shouldn't mightn't mustn't was wasn't is isn't has hasn't had hadn't did didn't does doesn't
gotta gonna wanna used better cant wont didnt couldnt wasnt
"""
UNCHANGED = frozenset(_UNCHANGED_WORDS.split())
"""Modals and forms that serve every person."""

_PAST = (
    "ate became began bent bit blew bore bought bound broke brought built burnt came caught chose "
    "clung crept cut dealt did dove drank drew dreamt drove dug fed fell felt fled flew forgave "
    "forgot fought found froze gave got grew had heard held hid hit hung hurt kept knelt knew laid "
    "lay leapt learnt led left lent let lit lost made meant met misled overcame paid put quit ran "
    "rang read redid rebuilt rode rose said sang sank sat saw sent set shone shook shot shut slept "
    "slid sold sought spent split spoke spread sprang spun stole stood strove struck stuck stung "
    "swam swept swore swung taught thought threw told took tore underwent understood undid upset "
    "went wept woke won wore wound wove wrote withdrew beat bet bid burst cast cost rid shed thrust"
)
PAST = frozenset(_PAST.split())
"""Irregular past forms, and verbs whose past looks like their present."""

_PRESENT_IN_ED_WORDS = """
need feed speed bleed succeed proceed exceed breed seed weed embed heed
"""
_PRESENT_IN_ED = frozenset(_PRESENT_IN_ED_WORDS.split())

_VERBS = (
    "accept achieve admire admit adopt advise agree allow answer apply appreciate argue arrange "
    "arrive ask attend avoid bake believe belong book borrow bring build buy call camp care carry "
    "celebrate change chat check choose clean climb close coach collect come commute compare "
    "complain consider contact continue "
    "cook cost count cover create cry cycle dance decide deserve "
    "design dislike do draw dream drink drive earn eat encourage enjoy enter exercise expect "
    "explore face feed feel figure find finish fix fly focus follow forget garden get give go grow "
    "guess handle hang hate have hear help hike hope host imagine improve include inspire intend "
    "invest invite jog join keep know laugh lead learn leave lend like listen live look lose love "
    "make manage mean meet mention mind miss move need notice offer open order organize own paint "
    "pass pay plan play practice prefer prepare promise push put raise reach read realize receive "
    "recommend relax rely remember remind rent report require respect rest ride run save say see "
    "seem sell send serve set share shop show sing sit skate skip sleep smoke speak spend stand "
    "start stay stick stop struggle study suffer suggest support suppose swim take talk teach tell "
    "tend think train travel treat trust try turn understand use value visit volunteer wait wake "
    "walk want watch wear weigh wish wonder work worry write"
)
VERBS = frozenset(_VERBS.split())
"""Common base forms: sure enough to agree with a subject that stands further away."""

_ADVERBS_WORDS = """
also really just still never always usually often even actually definitely totally probably
only now already currently recently finally kinda sometimes generally mostly rarely seldom
hardly barely absolutely certainly truly simply literally honestly personally sincerely ever
almost nearly once then soon later first kindly not so both sure especially deeply regularly
mainly normally typically occasionally secretly eventually again hereby
"""
ADVERBS = frozenset(_ADVERBS_WORDS.split())
"""Words that may stand between a subject and its verb."""

_NO_VERBS_WORDS = """
and or but nor if as at by for from in into of on onto than that the this to too two with
who whom which what when where while because since until although though myself am i're a an
my me you he she it we they alone
"""
NO_VERBS = frozenset(_NO_VERBS_WORDS.split())
"""Words that follow ``I`` without being its verb."""

_VOWEL_Y = re.compile(r"[aeiou]y$")
_HISSING = re.compile(r"(?:s|x|z|ch|sh|o)$")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)?$")


def third_person(verb: str) -> str:
    """The form that goes with he or she: ``have`` gives ``has``, ``went`` stays ``went``."""
    low = verb.lower()
    if low in AUXILIARIES:
        return AUXILIARIES[low]
    if low in UNCHANGED or is_past(low) or not _WORD.match(low):
        return verb
    if low.endswith("y") and not _VOWEL_Y.search(low):
        return verb[:-1] + "ies"
    return verb + ("es" if _HISSING.search(low) else "s")


def is_past(verb: str) -> bool:
    """Whether the lower-case form is a past one, or looks the same."""
    return verb in PAST or (verb.endswith("ed") and verb not in _PRESENT_IN_ED)
