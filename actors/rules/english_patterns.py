"""How English sentences say what they say: patterns of general words, compiled once."""

import re

from actors.rules.english_words import WORKS_AS, words
from actors.rules.reading import Mark

LEAD = re.compile(
    r"^(?:(?:hello|hi|hey|good \w+|big news|good news)\b[^.!?]{0,30}[.!?]\s*"
    r"|(?:correction|update|mostly|and|but|so|well|anyway|oh|okay|please|for example|"
    r"actually|in fact|now|note|also|recently|finally|currently)\b[,:]?\s*"
    r"|(?:last|next|this) (?:week|month|year|summer|winter|spring|autumn|fall)\b,?\s*"
    r"|(?:as of|on|in|since|by|from|at) [^,]{0,30},\s*|(?:yesterday|today|tomorrow),?\s*)+",
    re.IGNORECASE,
)
REPORTED = re.compile(
    r"^[^:.!?]{1,40}? (?:told|asked|noted|shared|answered|recorded|replied)\b[^:.!?]{0,40}:"
)
SAID = re.compile(
    r"^(?P<who>(?:[Tt]he )?[\w'-]+) (?:\w+ )?(?:said|says|mentioned|noted|told [\w ]{2,20}?|"
    r"reported|confirmed|explained|added|stated|announced)(?: that)? "
    r"(?:(?P<pronoun>his|her|their|he|she|they) |(?=(?:the |it |[A-Z])[\w' ]))"
)
DENIED = re.compile(
    r",? (?:but )?(?:not|rather than|instead of) (?:at |on |in |the )?[\d$€£][^,.;]*"
)
APPOSITION = re.compile(r"^(?P<who>[A-Z][\w-]+), (?:[A-Z][\w-]+|the user)'s [\w -]{2,40}, ")
ASKED = re.compile(
    r"^(?:the )?[\w'-]+ (?:\w+ )?(?:asks?|asked|wonders?|wondered|wants? to know|wanted to know|"
    r"inquired|is curious|is wondering|is considering|considers|considered|might|is unsure|"
    r"is not sure|is thinking about)\b(?! (?:the assistant|for|that|to)\b)"
)
KEPT_UP = re.compile(
    r"(?:\b(?:not|never|without|cannot|gonna not)|n't)(?: \w+){0,3}? (?:quit|stop|give up|drop|"
    r"leave)$"
)
CUT = r"(?= (?:because|since|and|but|after|for|due|when|last|this|as|so)\b|[.,;]|\s*$)"
END_VERBS = (
    r"quit|quits|stop|stopped|stops|give up|gave up|given up|gives up|giving up|left|dropped|"
    r"abandoned|sold|"
    r"cancell?ed|called off|ended(?! up)|discontinued|got rid of|donated|returned|lost(?! in| "
    r"track)|resigned from|"
    r"retired from|broke up with|split up with|broken up with|divorced|separated from|"
    r"moved out of|moved away from|moved out|threw (?:away|out)|no longer|used to|withdrew from|"
    r"unsubscribed from|deleted|removed|done with|got over|gone off|went off|fed up with|tired of|"
    r"any ?more \w+|scrapped|deactivated|closed|shut down|traded in|parted with|let go of|"
    r"lost interest in|fell out with|dropped out of|outgrew|overcame|kicked|finished with"
)
ENDED = [
    re.compile(rf"\b(?:{END_VERBS})\b(?P<x> .+?)(?: (?:any ?more|any longer|away|instead))?{CUT}"),
    re.compile(r"\b(?:switch\w*|chang\w+|migrat\w+|mov\w+|convert\w*|transition\w*|went|upgrad\w+)"
               r"(?: \w+){0,2}? from (?P<x>.+?)(?= to\b| over\b|[.,;]|\s*$)"),
    re.compile(
        r"\b(?:replac\w+|swapp?\w*|trad\w+|exchang\w+)(?P<x> .+?)(?: in)? (?:with|for|by)\b"
    ),
    re.compile(rf"\b(?:instead of|rather than|, not)(?P<x> .+?){CUT}"),
    re.compile(r"\bgave (?P<x>.+?) away\b"),
    re.compile(
        r"^(?P<x>.+?) (?:is|are|was|were|has been|have been|had been) (?:over|sold|cancell?ed"
    
               r"|called off|discontinued|scrapped|stolen|abandoned|closed down|dissolved|"
               r"dropped)\b"),
    re.compile(r"^(?P<x>.+?) (?:passed away|died|ended|has ended|broke down for good|ran away)\b"),
    re.compile(r"\b(?:does not|do not|doesn't|don't|did not|is not|isn't|are not|cannot|can't)"
               r"(?P<x> .+?) (?:any ?more|any longer)\b"),
]  # fmt: skip
PREFERRED = re.compile(
    r"\b(?:prefers?|would rather have|likes?) (?P<x>.+?) (?:over|to|rather than|more than|"
    r"better than|instead of) (?P<y>[^.,;]+)"
)
MARKS = {
    Mark.NOW: r"\bnow\b|\bfrom now on\b|\bnowadays\b|\bthese days\b|\bno longer\b|\bany ?more\b|"
    r"\bnew(?:ly)?\b|\binstead\b|\bcurrently\b|\bsince\b|\bfrom (?:today|next)\b|\bas of\b|"
    r"\bswitched\b"
    r"|\bhas (?:started|begun|become|come)\b|\bstarted\b|\bmeanwhile\b|\banother\b",
    Mark.INSTEAD: r"\bnow\b|\binstead\b|\bfrom now on\b|\bthese days\b|\bnowadays\b",
    Mark.CORRECTION: r"\bcorrection\b|\bactually\b|\bin fact\b|\bmistake(?:n|nly)?\b|\bcorrected\b"
    r"|\bwrong(?:ly)?\b|, not \w|\brather than\b|\bturns? out\b|\bmisspoke\b|\bmisremembered\b",
    Mark.ADDITION: r"\balso\b|\btoo\b|\bas well\b|\badditional(?:ly)?\b|\bsecond\b|\banother\b"
    r"|\bbesides\b|\bin addition\b|\bextra\b|\bother\b|\balongside\b",
    Mark.AGAIN: r"\bagain\b|\bonce more\b|\banother time\b|\ba second time\b",
}
MARK_RES = {mark: re.compile(pattern, re.IGNORECASE) for mark, pattern in MARKS.items()}
SPLIT = re.compile(
    r"(?<=[a-z\d][.!?])\s+(?=[A-Z])|;\s*|,? (?:and|but) (?:then )?|,\s+(?!\w+ed\b)|: "
)
CHAIN = words(
    "come start begin learn manage continue keep try become plan want intend hope need decide"
)
CEASE = words("stop quit")
LIKES = words("like love enjoy prefer favour adore")
HATES = words("hate dislike detest avoid")
HABITS = words("eat drink listen read watch play do practise practice take go use collect cook")
WORKING = words("work teach serve employ join hire promote")
NOT = words("not never cannot neither")
TASK = re.compile(r"\b(?:needs?|has|have|ought) to\b|\bmust\b|\bshould\b|\bto-?do\b|\bremind")
PLAN = re.compile(
    r"\bplan(?:s|ned|ning)?\b|\bwill\b|\bgoing to\b|\bintends?\b|\bhopes? to\b|\bwants to "
    r"(?:go|visit|travel|move|learn|buy|see|start)\b|\bbook(?:ed|ing)\b|\breserved\b|"
    r"\bscheduled\b|\bwould like to\b"
    r"|\b(?:is|are) (?:flying|travell?ing|visiting|moving|meeting|going|leaving|coming|seeing|"
    r"relocating|starting|getting married)\b|\bconsidering\b"
)
IS_WORKER = re.compile(
    r"^(?:\w+ )?(?:is|became|was) (?:\w+ )*?an? (?:[\w-]+ ){0,3}?"
    rf"(?:{'|'.join(sorted(WORKS_AS))})\b"
)


def owner(match: re.Match[str]) -> str:
    """What replaces "Ann said that her" by "Ann's ", and "Ann said that she" by "Ann "."""
    who, pronoun = match["who"], (match["pronoun"] or "").lower()
    if not pronoun:
        return ""
    return f"{who}'s " if pronoun in ("his", "her", "their") else f"{who} "
