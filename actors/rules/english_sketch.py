"""The second look at an English sentence: owners, homes, things done, things given up."""

import re

from actors.rules.english import _TOKEN, _content, _root
from actors.rules.english_patterns import ENDED, KEPT_UP
from actors.rules.english_words import PEOPLE, STOP, VERBS, words
from actors.rules.reading import Reading
from actors.rules.sketch import Sketch
from pipeline.sleep.kept import stem
from pipeline.sleep.slots import values

_KIN = "|".join(sorted(PEOPLE, key=len, reverse=True))
_OWNER = re.compile(
    r"\b(?P<who>[Tt]he user|[Uu]ser|[A-Z][\w-]+)(?P<path>(?:'s (?:\w+ )?"
    rf"(?:{_KIN})\b)*)(?P<own>'s)?"
)
_ACTING = re.compile(
    r"(?<!\bin )(?<!\bat )(?<!\bfrom )(?<!\bon )(?<!\bcalled )(?<!\bnamed )(?<!\bthe )"
    r"\b(?P<who>[A-Z][\w-]+)(?:'s\b| (?:still |now |also |finally |never |always |has |is )?"
    r"(?:has|had|is|was|will|can|must|went|got|took|gave|sold|bought|left|quit|paid|sent|"
    r"[a-z]{2,}s|[a-z]+ed)\b)"
)
_NOT_PEOPLE = words(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
    "thursdays fridays saturdays sundays january february march april may june july august "
    "september october november december"
)
_HOME = re.compile(
    r"\b(?:is|are|as) (?:now )?home\b|\bhomes? (?:for|is|in|near|at|has|now)\b"
    r"|\b(?:calls?|made?|makes?|making) (?:[A-Z][\w-]+ )+(?:\w+ )?home\b|\b(?:at|new) home\b"
    r"|\bhousehold\b"
    r"|\blives?\b|\bliving (?:in|at|on|with)\b|\bresid(?:es?|ing)\b|\bbased in\b|\bsettled\b"
    r"|\b(?:relocated|moved|moving|move) (?:house\b|home\b|out\b|into\b|to\b|back to\b|"
    r"from .{2,40}? to\b)"
    r"|\b(?:rents?|renting|rented|leas\w+|bought|shar\w+|found|owns|has|took|taken|new) "
    r"(?:\w+ ){0,3}(?:room|flat|studio|apartment|house|houseboat|place|home|cottage|bungalow|"
    r"loft|condo)\b"
    r"|\b(?:flat|apartment|house|home|place|address|residence) is (?:now )?(?:in|on|at|near)\b",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\bnow\b|\bnew (?:\w+ )?(?:place|home|flat|house|address|apartment|studio|room)\b|\bsince\b"
    r"|\bmoved\b|\brelocated\b|\bsettled\b|\bno longer\b|\bgave up\b|\bleft\b|\bthese days\b"
    r"|\bhas been (?:rent|liv)ing\b|\bnowadays\b",
    re.IGNORECASE,
)
_WAVERING = re.compile(
    r"\bholiday\b|\bvacation\b|\bweekends?\b|\btemporar|\bsummer (?:house|home)\b|\bfor (?:a|one|"
    r"two|three|\d+) (?:days?|weeks?|nights?|months?)\b|\boffice\b|\bused to\b|\bif\b|\bmight\b"
    r"|\bmay (?!\d)|\bwould\b|\bcould\b|\bplan\w*\b|\bwants?\b|\bhopes?\b|\bthinking\b|"
    r"\bconsider\w*|\bwill\b|\bgoing to\b|\basked\b|\bdream\w*|\binvest\w*|\btenants?\b",
)
_TASK = re.compile(
    r"\b(?:needs?|has|have|ought|yet|still) to\b|\bmust\b|\bshould\b|\bneeds\b"
    r"|\bwait(?:s|ing) (?:for|on)\b|\bawaiting\b|\bexpecting\b|\bto-?do\b|\bnot yet\b|\bhas yet\b"
    r"|\b(?:not|n't) \w+ (?:\w+ ){0,3}yet\b"
)
_SORTS = {
    "return": r"\b(?:return|give|take|bring|carry|hand)(?:s|ed)? (?:\w+ ){0,3}back\b|\breturn\w*"
    r"|\b(?:went|gone|taken|brought|given|took|gave) (?:\w+ ){0,3}?back\b",
    "send": r"\b(?:send|sent|post(?:ed)?|mail(?:ed)?|submit(?:ted)?|fil(?:e|ed)|hand(?:ed)? in|"
    r"turned in|turn in|e-?mail(?:ed)?)\b",
    "pay": r"\b(?:pay|paid|settled?|transfer(?:red)?)\b",
    "mend": r"\b(?:fix|repair|servic|mend|replac|clean|sweep|swept|inspect|paint|check)\w*",
    "buy": r"\b(?:buy|bought|order(?:ed)?|purchased?|get|got|pick(?:ed)? up)\b",
    "receive": r"\b(?:wait\w*|await\w*|expect\w*|arriv\w+|came|come|received?|deliver\w*|"
    r"turned up|is here|in the post)\b",
    "renew": r"\b(?:renew\w*|extend\w*|expir\w+|appl(?:y|ied)|issued)\b",
    "book": r"\b(?:book(?:ed)?|reserved?|schedul\w+|appointment)\b",
    "call": r"\b(?:call(?:ed)?|phoned?|r[ai]ng|spoke|speak)\b",
    "write": r"\b(?:write|wrote|written|draft(?:ed)?|finish(?:ed)?|complet\w+)\b",
    "sign": r"\b(?:sign(?:ed)?|enrol\w*|regist\w+)\b",
    "cancel": r"\b(?:cancel\w*|terminat\w+)\b",
    "collect": r"\b(?:collect(?:ed)?|fetch(?:ed)?|pick(?:ed)? up)\b",
}
_SORT_RES = {sort: re.compile(pattern, re.IGNORECASE) for sort, pattern in _SORTS.items()}
_DONE = re.compile(
    r"\b(?:is|are|was|were|has|have|been|got|all) (?:now |finally |all |at last )?"
    r"(?:done|finished|sorted|completed?|settled|through|ready|taken care of|dealt with)\b"
    r"|\boff (?:his|her|their|the|my) list\b|\bbehind (?:him|her|them)\b|\bticked off\b"
)
_FROM = re.compile(
    r"\b(?:mov|shift|chang|switch|push|transfer|reschedul|went|bring|brought|swap|relocat)\w*"
    r"(?: \S+){0,5}? from (?P<x>[^,;.]+?) (?:to|into|over to)\b",
    re.IGNORECASE,
)
_CALLED = [
    re.compile(r"\b(?P<noun>[a-z]+)(?: (?:is|was))? (?:called|named) (?P<name>[A-Z][\w-]+)"),
    re.compile(r"\b(?P<noun>[a-z]+)'?s? name is (?P<name>[A-Z][\w-]+)"),
    re.compile(
        r"\b(?P<noun>dog|cat|puppy|kitten|rabbit|horse|pony|parrot|hamster|goldfish|tortoise|"
        r"boat|car|van|band|goat|cow|hen|bird|ferret|budgie|terrier|spaniel|retriever),? "
        r"(?P<name>[A-Z][\w-]+)"
    ),
    re.compile(
        r"^(?P<name>[A-Z][\w-]+), [A-Z][\w-]+'s (?:\w+ )?(?P<noun>dog|cat|rabbit|horse|parrot|"
        r"pony|hamster|tortoise|boat|bird)\b"
    ),
]
_SECOND = re.compile(
    r"\b(?:another|second|third|additional|one more|(?<!every )(?<!each )other)\b"
    r"|\b(?:two|three) (?:dogs|cats|pets|rabbits|cars|bikes|horses)\b"
    r"|\bnew (?:dog|cat|pet|rabbit|horse|car|bike|boat)\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:in|on|at|for|with|from|by|before|after|that|which|who|as|until|every|each|because|or|"
    r"when|where|so|than|about|and|but|while|since|of|next|last|this|called|named)\b|[,;:.]"
)
_LIGHT = frozenset(
    stem(word)
    for word in words(
        "learn study play take attend do train practise practice get move start plan hold teach "
        "class course lesson lessons house there household moving hope need be go have going "
        "getting join run keep own grow"
    )
)
_TOPICS = {
    word: stem(general)
    for general, members in {
        "wedding": "marry married marriage wedding bride",
        "move": "move moving relocating relocation",
        "lesson": "lesson lessons class classes course courses",
        "swim": "swim swimming swims swam",
        "run": "run running runs",
        "injury": "injury injured hurt wound injuries",
        "allergy": "allergy allergic allergies",
        "baby": "baby pregnant pregnancy",
    }.items()
    for word in members.split()
}


def sketch_english(reading: Reading) -> Sketch:
    """The sketch of an English sentence already read."""
    plain = reading.text.replace("’", "'").strip()
    paths = _paths(plain)
    surely = _people(plain, paths) | ({reading.main.person} - {""})
    people = {part for path in surely for part in path.split("/")}
    found = reading.words - {_root(part) for part in people - PEOPLE} | _topics(plain)
    first = _first_claim(plain)
    is_task = _TASK.search(plain) is not None
    has_done = _DONE.search(plain) is not None
    return Sketch(
        owner=_owner(reading, plain),
        paths=paths | surely,
        people=surely,
        words=found | reading.classes,
        core=_core(first, people),
        head=_head(first, people),
        is_home=_HOME.search(plain) is not None,
        is_moved=_MOVED.search(plain) is not None,
        places=_places(plain, people),
        tasks=_sorts(plain) if is_task else frozenset(),
        acts=frozenset() if is_task else _done_sorts(plain, is_all=has_done),
        over=_over(plain, people),
        left=_left(plain),
        called=_called(plain),
        recipients=_recipients(plain),
        is_light=_is_light(first, reading.main.verb),
        is_second=_SECOND.search(plain) is not None,
        is_wavering=_WAVERING.search(plain) is not None,
    )


def _paths(plain: str) -> frozenset[str]:
    found = set()
    for match in _OWNER.finditer(plain):
        who = match["who"].lower().removeprefix("the ")
        if who in STOP - {"user"} or who in _NOT_PEOPLE:
            continue
        kin = re.findall(rf"\b(?:{_KIN})\b", match["path"])
        found.add("/".join([who, *kin]))
    return frozenset(found)


def _people(plain: str, paths: frozenset[str]) -> frozenset[str]:
    """The paths of those who own, do or are something."""
    found = {path for path in paths if "/" in path or path == "user"}
    for match in _ACTING.finditer(plain):
        who = match["who"].lower()
        found |= {path for path in paths if path.split("/")[0] == who}
    return frozenset(found)


def _owner(reading: Reading, plain: str) -> str:
    """Of whom the sentence speaks: its subject, else the first possessor, else whom it is for."""
    at_home = re.search(r"\bhome (?:for|to|of) ([A-Z][\w-]+)", plain)
    if at_home:
        return at_home[1].lower()
    if reading.main.person:
        return reading.main.person
    for pattern in (r"\b([A-Z][\w-]+)'s\b", r"\b(?:for|is what|to) ([A-Z][\w-]+)\b"):
        match = re.search(pattern, plain)
        if match:
            return match[1].lower()
    return ""


def _topics(text: str) -> frozenset[str]:
    """General words for the kinds of occasion that a text speaks of."""
    found = re.findall(r"[a-z]+", text.lower())
    return frozenset(_TOPICS[word] for word in found if word in _TOPICS)


def _first_claim(plain: str) -> str:
    """The first clause without what is said about when, where, with whom and why."""
    body = re.sub(r"^There (?:is|are|was) ", "", plain)
    body = _TASK.sub(" ", body)
    _, masked = values(body, is_chinese=False)
    bound = next((m for m in _BOUND.finditer(masked) if m.start() > 8), None)
    return masked[: bound.start()] if bound else masked


def _core(first: str, people: set[str]) -> frozenset[str]:
    """Content words of the first claim; of a light verb only what it is about."""
    found = _content(_TOKEN.findall(first)) - {_root(part) for part in people}
    topics = _topics(first) - {"lesson"}
    named = {_root(word) for word in _TOPICS}
    if "move" in topics:
        named |= {"flat"}
    return frozenset((found - _LIGHT - named) | topics)


def _head(first: str, people: set[str]) -> frozenset[str]:
    """The last word of the first claim that is no participle."""
    tokens = [token for token in _TOKEN.findall(first) if token.lower() not in people]
    for token in reversed(tokens):
        low = token.lower().removesuffix("'s")
        is_form = low.endswith("ed") or low in ("swept", "cut", "done", "mended")
        if low not in STOP and low not in people and not is_form and _content([token]):
            return (
                _content([token]) if low not in VERBS or len(tokens) < 3 else frozenset({stem(low)})
            )
    return frozenset()


def _places(plain: str, people: set[str]) -> frozenset[str]:
    """Names after a preposition of place, and a name that is called home."""
    found = set()
    for match in re.finditer(
        r"\b(?:in|to|at|near|from|on|into|of|outside|calls?) (?:the )?(?P<name>[A-Z][\w-]+)"
        r"|^(?P<first>[A-Z][\w-]+) is (?:now )?home\b",
        plain,
    ):
        name = (match["name"] or match["first"]).lower()
        if name not in people & PEOPLE and name not in STOP and name not in _NOT_PEOPLE:
            found.add(name)
    gone = {name.lower() for name in re.findall(r"\b(?:from|left|out of) ([A-Z][\w-]+)", plain)}
    return frozenset(found - gone)


def _sorts(text: str) -> frozenset[str]:
    return frozenset(sort for sort, pattern in _SORT_RES.items() if pattern.search(text))


def _done_sorts(plain: str, *, is_all: bool) -> frozenset[str]:
    """The sorts of act that a sentence about what happened says were done."""
    is_open = re.search(r"\b(?:not|n't|never|tomorrow|soon|will|must|going to)\b", plain)
    is_hoped = re.search(r"\b(?:will|once|when|if|until|unless|going to)\b", plain)
    if is_hoped or (is_open and not is_all):
        return frozenset()
    past = r"\b(?:\w+ed|went|sent|paid|got|bought|came|took|gave|done|swept|gone|here|taken)\b"
    if not is_all and re.search(past, plain) is None:
        return frozenset()
    return _sorts(plain) | ({"any"} if is_all else set())


def _over(plain: str, people: set[str]) -> tuple[frozenset[str], ...]:
    found = []
    low = plain.lower()
    for pattern in ENDED:
        for match in pattern.finditer(low):
            if KEPT_UP.search(low, 0, match.start("x")) is None:
                found.append(_content(_TOKEN.findall(match["x"])) - people)
    return tuple(each for each in found if each)


def _left(plain: str) -> frozenset[str]:
    found: set[str] = set()
    for match in _FROM.finditer(plain):
        slots, masked = values(match["x"], is_chinese=False)
        found |= {f"{key} {value}" for key, each in slots.items() for value in each}
        found |= _content(_TOKEN.findall(masked))
    return frozenset(found)


def _recipients(plain: str) -> frozenset[str]:
    found = re.findall(rf"\b(?:for|to) (?:his |her |their |the )?({_KIN}|[A-Z][\w-]+)\b", plain)
    return frozenset(each.lower() for each in found)


def _is_light(first: str, verb: str) -> bool:
    """Whether the first claim only says that there is something, or names an occasion."""
    is_active = verb not in ("be", "keep", "go", "hope", "need") and stem(verb) in _LIGHT
    return is_active or bool(_topics(first))


def _called(plain: str) -> frozenset[str]:
    found = set()
    for pattern in _CALLED:
        for match in pattern.finditer(plain):
            if match["noun"] not in PEOPLE:
                found.add(match["name"].lower())
    return frozenset(found)
