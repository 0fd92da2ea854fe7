"""Compares two readings: does the newer one conflict with the older, refine it, or neither.

Language-independent. Conflicts are looked for first; what no rule recognises is unsure, and unsure
means ignore.
"""

from actors.rules.conflicts import CONFLICTS
from actors.rules.reading import Reading
from actors.rules.refinements import refinement
from actors.rules.second_look import (
    is_second_thing,
    second_conflict,
    second_refinement,
)
from actors.rules.siblings import is_sibling
from actors.rules.verdict import Action, Verdict, Why


def compare(target: Reading, candidate: Reading) -> Verdict:
    """The verdict on an older and a newer sentence."""
    if target.is_question or candidate.is_question:
        return Verdict(action=Action.IGNORE, why=Why.QUESTION)
    if target.is_reported or candidate.is_reported:
        return Verdict(action=Action.IGNORE, why=Why.REPORTED)
    for why, rule in CONFLICTS:
        if rule(target, candidate) and not is_sibling(target, candidate, why):
            return Verdict(action=Action.DELETE, why=why)
    found = second_conflict(target, candidate)
    if found and not is_sibling(target, candidate, found):
        return Verdict(action=Action.DELETE, why=found)
    if is_second_thing(target, candidate):
        return Verdict(action=Action.IGNORE, why=Why.UNRELATED)
    refined = refinement(target, candidate) or second_refinement(target, candidate)
    if refined and not is_sibling(target, candidate, refined):
        return Verdict(action=Action.UPDATE, why=refined)
    is_other = target.main.person != candidate.main.person
    return Verdict(action=Action.IGNORE, why=Why.SUBJECT if is_other else Why.UNRELATED)
