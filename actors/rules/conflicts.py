"""Rules that find a conflict between an older and a newer sentence, each small and careful.

A wrong delete is the worst error, so every conflict needs the same subject and the same matter,
and events that happened are never undone by others.
"""

from collections.abc import Callable

from actors.rules.reading import Clause, Mark, Mode, Reading, Sense
from actors.rules.subjects import differing_values, everyone, related, same_person
from actors.rules.verdict import Why

_CHANGED = frozenset({Mark.NOW, Mark.CORRECTION, Mark.CHANGE})
_PERSONAL = frozenset({"marital", "diet", "job", "school", "pregnancy", "health", "hours"})
_COMPATIBLE = {frozenset({"meat", "fish"}), frozenset({"working", "broken"})}
_NEEDS_MARK = frozenset({"part of day", "place of work", "health", "progress", "works", "hours"})
_PARTIAL = 0.6
_MOSTLY = 0.8


def _states_differ(target: Reading, candidate: Reading) -> bool:
    return any(_state_differs(target, candidate, dimension) for dimension, _ in target.states)


def _state_differs(target: Reading, candidate: Reading, dimension: str) -> bool:
    old = {state for each, state in target.states if each == dimension}
    new = {state for each, state in candidate.states if each == dimension}
    if not new or old & new or frozenset(old | new) in _COMPATIBLE:
        return False
    if dimension == "pregnancy":
        return candidate.main.person.startswith(target.main.person)
    if target.main.mode is Mode.EVENT and dimension not in _PERSONAL:
        return False
    if dimension in _PERSONAL:
        denied = target.main.is_negative or candidate.main.is_negative
        own, other = target.main.person, candidate.main.person
        is_partner = dimension == "marital" and other != "" and own.startswith(other + "/")
        return (same_person(target, candidate) or is_partner) and not denied
    if dimension == "progress" and not old <= {"open", "under way"}:
        return False
    if dimension in _NEEDS_MARK and not candidate.marks & _CHANGED and dimension != "progress":
        return False
    shared = target.words & candidate.words
    return bool(shared) and related(target, candidate)


def _is_ended(target: Reading, candidate: Reading) -> bool:
    own = target.main
    if own.mode in (Mode.EVENT, Mode.PAST) and own.sense is not Sense.HAS:
        return False
    if not related(target, candidate) or is_restricted(target, candidate):
        return False
    matter = target.words - own.thing if own.value - own.thing else target.words
    over = matter & candidate.ended
    if target.names & matter and not target.names & over and candidate.ended & candidate.names:
        return False
    needed = len(matter) if own.sense is Sense.TASTE else len(matter) / 2
    if own.sense in (Sense.RESIDENCE, Sense.WORK):
        return bool(over & target.names) or (bool(over) and len(over) >= needed)
    return bool(over) and len(over) >= needed


def is_restricted(target: Reading, candidate: Reading) -> bool:
    """Whether the candidate speaks only of a time of day of which the target does not."""
    has_part = any(dimension == "part of day" for dimension, _ in candidate.states)
    knows_part = any(dimension == "part of day" for dimension, _ in target.states)
    is_new_clock = "clock" in candidate.slots and "clock" not in target.slots
    return is_new_clock or (has_part and not knows_part)


def _lives_elsewhere(target: Reading, candidate: Reading) -> bool:
    own = target.main
    if own.sense is not Sense.RESIDENCE or not same_person(target, candidate):
        return False
    return any(_is_other_home(target, candidate, clause) for clause in candidate.clauses)


def _is_other_home(target: Reading, candidate: Reading, clause: Clause) -> bool:
    own = target.main
    is_home = clause.sense is Sense.RESIDENCE and clause.person == own.person
    if not is_home or (clause.mode is Mode.PLAN and own.mode is not Mode.PLAN):
        return False
    if clause.mode is Mode.PAST or clause.is_negative or own.is_negative:
        return False
    old, new = own.value & target.names, clause.value & candidate.names
    if old and new:
        return not old & (new - candidate.ended)
    return not own.value & clause.value and bool(candidate.marks & _CHANGED) and bool(clause.value)


def _works_elsewhere(target: Reading, candidate: Reading) -> bool:
    own = target.main
    if (
        own.sense is not Sense.WORK
        or own.mode in (Mode.PLAN, Mode.TASK)
        or not same_person(target, candidate)
    ):
        return False
    return any(_is_other_work(target, candidate, clause) for clause in candidate.clauses)


def _is_other_work(target: Reading, candidate: Reading, clause: Clause) -> bool:
    own = target.main
    if clause.sense is not Sense.WORK or clause.person != own.person or clause.is_negative:
        return False
    if clause.mode not in (Mode.STATE, Mode.EVENT) or Mark.ADDITION in candidate.marks:
        return False
    if own.value <= clause.value or not own.value - clause.value:
        return False
    is_step = clause.mode is Mode.EVENT or clause.begins or bool(candidate.marks & _CHANGED)
    old, new = own.value & target.names, clause.value & candidate.names
    if old and new and not old & new:
        return True
    return is_step and bool(clause.value - own.value) and not _only_adds_place(own, clause, new)


def _only_adds_place(own: Clause, clause: Clause, places: frozenset[str]) -> bool:
    return clause.value - own.value <= places


def _is_flipped(target: Reading, candidate: Reading) -> bool:
    own = target.main
    shared = own.thing & candidate.main.thing if not own.person else frozenset()
    if not same_person(target, candidate) and not shared:
        return False
    return any(_is_flip(target, candidate, clause) for clause in candidate.clauses)


def _is_flip(target: Reading, candidate: Reading, clause: Clause) -> bool:
    own = target.main
    if clause.is_negative == own.is_negative or clause.person != own.person:
        return False
    is_taken_up = own.ends and clause.begins
    if own.mode in (Mode.EVENT, Mode.PAST) and not is_taken_up:
        return False
    if not own.value - target.names or not own.value <= clause.value:
        return False
    is_same_sort = clause.sense is own.sense or clause.verb == own.verb
    if not is_same_sort and not clause.ends and not clause.begins:
        return False
    if clause.is_negative:
        is_narrower = bool(clause.value - own.value) and not clause.ends
        return not is_narrower and not is_restricted(target, candidate)
    is_lasting = clause.mode is Mode.STATE or clause.begins or clause.sense is Sense.HAS
    return is_lasting or clause.sense is Sense.ABLE


def _value_differs(target: Reading, candidate: Reading) -> bool:
    own, other = target.main, candidate.main
    differing = differing_values(target, candidate)
    if not differing or not related(target, candidate):
        return False
    is_corrected = Mark.CORRECTION in candidate.marks
    if own.mode in (Mode.EVENT, Mode.PAST) and not is_corrected:
        return False
    if _counts_more(target, candidate, differing):
        return True
    if candidate.marks & {Mark.ADDITION, Mark.AGAIN} and not candidate.marks & {Mark.CORRECTION}:
        return False
    is_changed = bool(candidate.marks & _CHANGED)
    if other.mode in (Mode.EVENT, Mode.PAST) and Mark.CHANGE not in candidate.marks:
        return is_corrected and _matches(target, candidate)
    return (is_changed or _is_single(own, other, differing)) and _matches(target, candidate)


def _counts_more(target: Reading, candidate: Reading, differing: set[str]) -> bool:
    if target.main.sense is not Sense.HAS:
        return False
    counted = [key for key in differing if key.startswith("amount:")]
    return any(
        max(map(float, candidate.slots[key])) > max(map(float, target.slots[key]))
        and bool(target.words & everyone(candidate))
        for key in counted
    )


def _is_single(own: Clause, other: Clause, differing: set[str]) -> bool:
    """Whether the matter has one value at a time even without a word of change."""
    if own.sense in (Sense.IS, Sense.NAMED) and own.thing:
        return True
    if not own.person and own.mode is not Mode.TASK:
        return True
    is_amount = any(key.startswith("amount:") for key in differing)
    return is_amount and own.mode is Mode.STATE and other.mode is Mode.STATE


def _matches(target: Reading, candidate: Reading) -> bool:
    """Whether the two speak of one matter, values apart."""
    if len(target.clauses) > 1 and not target.main.words & everyone(candidate):
        return False
    foreign = candidate.names - target.words
    if target.names - candidate.words and foreign:
        return False
    units = {key.partition(":")[2] for key in target.slots}
    matter = frozenset(word for word in target.words if word not in units)
    if not matter:
        return target.main.verb == candidate.main.verb
    covered = len(matter & everyone(candidate)) / len(matter)
    subject = candidate.main.thing
    is_about = bool(subject) and subject <= target.words and candidate.marks & _CHANGED
    return covered >= _PARTIAL or bool(is_about)


def _attribute_differs(target: Reading, candidate: Reading) -> bool:
    own = target.main
    if not own.thing or own.sense not in (Sense.IS, Sense.NAMED):
        return False
    if own.mode is not Mode.STATE or not related(target, candidate):
        return False
    return any(_is_other_value(target, candidate, clause) for clause in candidate.clauses)


def _is_other_value(target: Reading, candidate: Reading, clause: Clause) -> bool:
    own = target.main
    if clause.person not in ("", own.person) or not own.thing <= clause.words:
        return False
    old, new = own.value - own.thing, clause.value - own.thing
    if not old or not new or old & new or clause.mode in (Mode.PLAN, Mode.TASK, Mode.PAST):
        return False
    if Mark.CORRECTION in candidate.marks:
        return True
    if own.sense is Sense.NAMED or clause.sense is Sense.NAMED:
        return Mark.CHANGE in candidate.marks
    if clause.sense is not Sense.IS and Mark.CHANGE not in candidate.marks:
        return False
    is_single = bool(own.thing & target.single) and clause.mode is Mode.STATE
    return is_single or (Mark.CHANGE in candidate.marks and own.thing <= clause.thing)


def _is_other_choice(target: Reading, candidate: Reading) -> bool:
    if not same_person(target, candidate) and not related(target, candidate):
        return False
    if _preference_turns(target, candidate):
        return True
    own, other = target.main, candidate.main
    if own.mode is not Mode.STATE or other.mode is not Mode.STATE:
        return False
    if own.is_negative != other.is_negative or Mark.ADDITION in candidate.marks:
        return False
    if own.sense is not other.sense or own.verb != other.verb or not own.verb:
        return False
    return _swaps_language(target, candidate) or _swaps_word(target, candidate)


def _preference_turns(target: Reading, candidate: Reading) -> bool:
    own = target.main
    if own.sense is not Sense.TASTE or own.is_negative or not same_person(target, candidate):
        return False
    liked, spurned = target.preferred or (own.value, frozenset())
    if candidate.preferred:
        wanted, refused = candidate.preferred
        return bool(liked & refused) and not liked & wanted
    is_turned = bool(spurned & candidate.main.value) and not liked & candidate.words
    return is_turned and candidate.main.sense is Sense.TASTE and Mark.NOW in candidate.marks


def _swaps_language(target: Reading, candidate: Reading) -> bool:
    if target.main.sense is not Sense.WISH:
        return False
    old, new = target.modifiers, candidate.modifiers
    shared = (target.words & candidate.words) - old
    return bool(old and new and shared) and not old & new


def _swaps_word(target: Reading, candidate: Reading) -> bool:
    if not candidate.marks & {Mark.INSTEAD, Mark.CORRECTION}:
        return False
    if target.main.sense in (Sense.ABLE, Sense.IS, Sense.NAMED):
        return False
    one, other = target.main, candidate.main
    verbs = {one.verb, *target.names, *candidate.names, *target.verbs}
    shared = (one.value & other.value) - verbs
    old, new = one.value - other.value, other.value - one.value
    return bool(shared and old and new) and len(old) <= 2


def _is_done(target: Reading, candidate: Reading) -> bool:
    own = target.main
    if not own.words - target.verbs:
        return False
    if own.mode is not Mode.TASK or not related(target, candidate):
        return False
    for clause in candidate.clauses:
        is_past = clause.mode is Mode.EVENT and not clause.is_negative
        is_progress = ("progress", "done") in candidate.states
        words = own.words
        covered = len(words & candidate.words) / len(words) if words else 0.0
        is_same = clause.verb == own.verb or own.verb in target.verbs & candidate.verbs
        if (is_past and is_same and covered >= _MOSTLY) or (is_progress and covered >= _PARTIAL):
            return Mode.TASK not in {each.mode for each in candidate.clauses}
    return False


CONFLICTS: tuple[tuple[Why, Callable[[Reading, Reading], bool]], ...] = (
    (Why.RESIDENCE, _lives_elsewhere),
    (Why.WORK, _works_elsewhere),
    (Why.STATE, _states_differ),
    (Why.ENDED, _is_ended),
    (Why.FLIP, _is_flipped),
    (Why.VALUE, _value_differs),
    (Why.ATTRIBUTE, _attribute_differs),
    (Why.CHOICE, _is_other_choice),
    (Why.DONE, _is_done),
)
