"""What two sketches come to: conflicts and refinements that the readings alone do not show.

Each rule needs the same owner and no sign of a second thing; a wrong delete is the worst error.
"""

from actors.rules.conflicts import is_restricted
from actors.rules.reading import Mark, Mode, Reading, Sense
from actors.rules.sketch import Sketch
from actors.rules.subjects import differing_values
from actors.rules.verdict import Why

_HALF = 0.5


def second_conflict(target: Reading, candidate: Reading) -> Why | None:
    """Which conflict a second look finds, if any."""
    old, new = target.sketch, candidate.sketch
    if _has_moved_home(target, candidate):
        return Why.RESIDENCE
    if _has_done(target, candidate):
        return Why.DONE
    if target.main.mode in (Mode.EVENT, Mode.PAST) or not _is_of_owner(old, new):
        return None
    if _has_given_up(target, candidate):
        return Why.ENDED
    return Why.VALUE if _has_shifted(target, candidate) else None


def second_refinement(target: Reading, candidate: Reading) -> Why | None:
    """Whether a second look finds that the newer sentence says more of the same thing."""
    old, new = target.sketch, candidate.sketch
    if new.is_second or Mark.AGAIN in candidate.marks:
        return None
    if old.called & (new.called | _names_in(old.called, candidate)):
        is_known = old.owner in new.paths or new.people <= old.called
        return Why.NAMED if is_known or not old.owner else None
    if not old.owner or old.owner not in new.paths or not old.core:
        return None
    is_plain = old.is_light and len(target.clauses) == 1 and candidate.main.person in _subjects(old)
    if not is_plain or not _is_of_owner(old, new) or candidate.text[:30].find(": ") >= 0:
        return None
    if target.main.sense is Sense.TASTE or target.main.is_negative or candidate.main.is_negative:
        return None
    if target.names - candidate.words - old.people:
        return None
    if not old.core <= new.words or old.core <= target.names or not _adds(target, candidate):
        return None
    return None if _differs(target, candidate) else Why.DETAILED


def is_second_thing(target: Reading, candidate: Reading) -> bool:
    """Whether the newer sentence tells of one more of what the older one says there is."""
    both_have = target.main.sense is Sense.HAS and candidate.main.sense is Sense.HAS
    return both_have and candidate.sketch.is_second and not target.sketch.is_second


def _names_in(called: frozenset[str], candidate: Reading) -> frozenset[str]:
    low = candidate.text.lower()
    return frozenset(name for name in called if name in low)


def _subjects(old: Sketch) -> frozenset[str]:
    """Of whom or what the newer sentence may speak first: the owner, or no person."""
    return frozenset({old.owner, ""})


def _adds(target: Reading, candidate: Reading) -> bool:
    """Whether the newer sentence is richer by a name, a value or several words."""
    more = candidate.slots.keys() - target.slots.keys() or candidate.names - target.names
    return bool(more) or len(candidate.words) >= len(target.words) + 2


def _differs(target: Reading, candidate: Reading) -> bool:
    return bool(differing_values(target, candidate))


def _is_of_owner(old: Sketch, new: Sketch) -> bool:
    """Whether the newer sentence speaks of the owner, and of no relative of theirs instead."""
    if not old.owner:
        return new.people <= old.people
    if old.owner not in new.paths:
        return False
    return not any(path.startswith(old.owner + "/") for path in new.people - old.people)


def _has_moved_home(target: Reading, candidate: Reading) -> bool:
    old, new = target.sketch, candidate.sketch
    if not old.is_home or not new.is_home or not old.owner or not _is_of_owner(old, new):
        return False
    if not new.is_moved or new.is_wavering or old.is_wavering or new.is_second:
        return False
    if target.main.mode in (Mode.EVENT, Mode.PAST, Mode.PLAN) and target.main.sense not in (
        Sense.RESIDENCE,
        Sense.HAS,
    ):
        return False
    if candidate.main.is_negative or target.main.is_negative:
        return False
    said = candidate.text.lower()
    is_elsewhere = not any(place in said for place in old.places - new.left - candidate.ended)
    return bool(old.places) and bool(new.places) and is_elsewhere


def _has_done(target: Reading, candidate: Reading) -> bool:
    old, new = target.sketch, candidate.sketch
    if not old.tasks or not new.acts or not old.head or new.is_second:
        return False
    is_of_owner = old.owner in new.paths or not new.people
    if not is_of_owner or any("/" in path for path in new.people - old.people):
        return False
    if not old.head <= new.words and not old.head <= candidate.parts:
        return False
    if not old.tasks & new.acts and "any" not in new.acts:
        return False
    matter = old.core or old.head
    if old.recipients and new.recipients and not old.recipients & new.recipients:
        return False
    foreign = candidate.names - target.words
    is_other = bool(target.names & matter - candidate.words) and bool(foreign)
    return not is_other and len(matter & new.words) >= _HALF * len(matter)


def _has_given_up(target: Reading, candidate: Reading) -> bool:
    old = target.sketch
    if target.main.is_negative or candidate.sketch.is_wavering or is_restricted(target, candidate):
        return False
    wide = target.words | target.classes | target.parts
    anchor = (old.head | target.names | target.classes) if old.head else target.names
    return any(phrase <= wide and phrase & anchor for phrase in candidate.sketch.over)


def _has_shifted(target: Reading, candidate: Reading) -> bool:
    """Whether something was moved from what the older sentence says of it to another value."""
    old, new = target.sketch, candidate.sketch
    known = {f"{key} {value}" for key, each in target.slots.items() for value in each}
    was = new.left & (known | target.words | target.parts)
    if not was or new.is_wavering:
        return False
    shared = (old.words & new.words) - was - new.left
    is_only_thing = old.owner == new.owner and not old.core
    return bool(shared) or is_only_thing
