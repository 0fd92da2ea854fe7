"""What a second, looser look at a sentence notes: of whom it speaks, and what it says of a thing.

The readers look for one subject and one predicate; a sketch looks at the whole sentence, so that
"the boiler was serviced" meets "Lars must get the boiler serviced". Language-independent.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A sentence at a second look.

    ``owner`` is the person path of whom it speaks, ``paths`` those of all names in it, ``people``
    those that surely are persons; ``words`` its content words with general ones for kinds of
    activity; ``core`` those of its first claim without light verbs; ``head`` the main word of its
    object; ``places`` the names in what it says about a home, which ``is_moved`` says to be a
    present one; ``tasks`` the sorts of act still to be done, ``acts`` those that have been;
    ``over`` the phrases for what is said to be over; ``left`` what something was moved away from;
    ``called`` the names of animals and things; ``recipients`` those for whom something is;
    ``is_light`` that a light verb such as having or learning says it; ``is_second`` that it speaks
    of one more of its sort; ``is_wavering`` of what is planned, past or temporary.
    """

    owner: str = ""
    paths: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    core: frozenset[str] = frozenset()
    head: frozenset[str] = frozenset()
    is_home: bool = False
    is_moved: bool = False
    places: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()
    acts: frozenset[str] = frozenset()
    over: tuple[frozenset[str], ...] = ()
    left: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    recipients: frozenset[str] = frozenset()
    is_light: bool = False
    is_second: bool = False
    is_wavering: bool = False
