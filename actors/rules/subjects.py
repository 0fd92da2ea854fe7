"""Whether two readings speak of the same person or thing, and where their values differ."""

from actors.rules.reading import Clause, Reading


def same_person(target: Reading, candidate: Reading) -> bool:
    return target.main.person == candidate.main.person != ""


def same_thing(target: Reading, clause: Clause) -> bool:
    """Whether a clause speaks of a thing that the target is about."""
    if clause.person and clause.person != target.main.person and target.main.person:
        return False
    own = target.main
    if clause.thing and len(clause.thing & target.words) * 2 >= len(clause.thing):
        return True
    return bool(own.thing) and len(own.thing & clause.words) * 2 >= len(own.thing)


def related(target: Reading, candidate: Reading) -> bool:
    """Same person, same thing, or a relative whom the other sentence introduces."""
    one, other = target.main.person, candidate.main.person
    if one == other:
        bare = not target.main.thing and not candidate.main.thing
        is_alike = bare and len(target.words & candidate.words) * 2 > len(target.words)
        return (
            bool(one) or is_alike or any(same_thing(target, clause) for clause in candidate.clauses)
        )
    if not one or not other:
        return same_thing(target, candidate.main)
    longer, words = (other, target.words) if len(other) > len(one) else (one, candidate.words)
    shorter = min(one, other, key=len)
    return longer.startswith(shorter + "/") and longer.rpartition("/")[2] in words


def everyone(reading: Reading) -> frozenset[str]:
    return reading.words | reading.parts | frozenset(reading.main.person.split("/"))


def differing_values(target: Reading, candidate: Reading) -> set[str]:
    """Types of value that both name, with nothing in common."""
    shared = target.slots.keys() & candidate.slots.keys()
    differing = {key for key in shared if not target.slots[key] & candidate.slots[key]}
    if differing == {"year"}:
        return set()
    return differing
