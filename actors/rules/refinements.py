"""Rules that find that a newer sentence adds to, extends or repeats an older one."""

from actors.rules.reading import Mark, Mode, Reading, Sense
from actors.rules.subjects import differing_values, everyone, related
from actors.rules.verdict import Why

_PARTIAL = 0.6
_MOSTLY = 0.8


def refinement(target: Reading, candidate: Reading) -> Why | None:
    if not related(target, candidate) or differing_values(target, candidate):
        return None
    own, other = target.main, candidate.main
    if Mark.AGAIN in candidate.marks and own.mode is Mode.EVENT:
        return None
    if _is_extension(target, candidate):
        return Why.EXTENDED
    covered, by_class = _coverage(target, candidate)
    foreign = candidate.names - target.words
    if target.names - everyone(candidate) and (foreign or covered < _PARTIAL):
        return None
    if own.is_negative != other.is_negative and own.verb == other.verb:
        return None
    if not _modes_meet(target, candidate, covered):
        return None
    if covered == 1.0:
        adds = candidate.words - target.words or candidate.slots.keys() - target.slots.keys()
        return Why.EXAMPLE if by_class else Why.REFINED if adds else Why.REPEATED
    return _near(target, candidate, covered)


def _coverage(target: Reading, candidate: Reading) -> tuple[float, bool]:
    """The share of the target's words that the candidate holds, and whether only by examples."""
    matter = target.words - _people(target)
    if not matter:
        return 0.0, False
    direct = matter & everyone(candidate)
    habits = (Sense.TASTE, Sense.HABIT, Sense.WISH, Sense.OTHER)
    is_habit = target.main.sense in habits and candidate.main.sense in habits
    is_habit = is_habit and candidate.main.mode is Mode.STATE
    by_class = (matter - direct) & candidate.classes if is_habit else frozenset()
    return len(direct | by_class) / len(matter), bool(by_class)


def _people(reading: Reading) -> frozenset[str]:
    """Who is spoken of: that both sentences name somebody makes no one matter of them."""
    return frozenset(part for path in reading.sketch.people for part in path.split("/"))


def _modes_meet(target: Reading, candidate: Reading, covered: float) -> bool:
    own, other = target.main, candidate.main
    if own.mode is Mode.EVENT:
        return other.mode is not Mode.PLAN and covered == 1.0
    if own.mode is Mode.TASK:
        return other.mode is not Mode.EVENT and covered >= _MOSTLY
    if own.mode is Mode.PLAN:
        return other.mode is not Mode.EVENT or own.verb == other.verb
    if other.mode is not Mode.EVENT:
        return True
    if own.sense is Sense.TASTE:
        return False
    is_anchored = bool(other.thing & target.words) or len(candidate.clauses) > 1
    return is_anchored or bool(target.verbs & candidate.words) or len(target.words) > 1


def _near(target: Reading, candidate: Reading, covered: float) -> Why | None:
    own, other = target.main, candidate.main
    both_states = own.mode is other.mode is Mode.STATE
    shared = (target.words & candidate.words) - _people(target)
    if both_states and candidate.words and candidate.words <= target.words:
        is_same = own.sense is other.sense or own.verb == other.verb
        return Why.REPEATED if is_same and covered >= _PARTIAL / 2 else None
    needed = _PARTIAL if both_states else _MOSTLY
    is_one_mode = both_states or own.mode is other.mode
    if covered >= needed and len(shared) >= 2 and is_one_mode:
        return Why.REFINED
    return None


def _is_extension(target: Reading, candidate: Reading) -> bool:
    """A wish or taste to which the candidate says that another of its sort is added."""
    own, other = target.main, candidate.main
    if Mark.ADDITION not in candidate.marks or own.is_negative != other.is_negative:
        return False
    if own.person != other.person or own.sense not in (Sense.WISH, Sense.TASTE):
        return False
    if other.sense not in (Sense.WISH, Sense.TASTE):
        return False
    is_one_sort = bool(target.classes & candidate.classes)
    return is_one_sort or bool(target.words & candidate.words)
