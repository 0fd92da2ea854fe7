"""Cases whose candidates an earlier decision of the same run has changed.

Decisions of one collection apply newest target first, so a target met later may rest on an entry
that is no longer what its decider saw. Such a case is renewed and decided again in the same run.
Knows nothing of stores and deciders.
"""

from collections.abc import Mapping
from dataclasses import replace

from pipeline.entries import CURRENT, Case, Decision, Entry
from pipeline.ids import EntryId
from pipeline.sleep.apply import used_by


def is_overtaken(decision: Decision, changed: Mapping[EntryId, Entry]) -> bool:
    """Whether the decision rests on an entry that has changed since."""
    return any(entry in changed for entry in used_by(decision))


def renewed(case: Case, changed: Mapping[EntryId, Entry]) -> Case | None:
    """The case with its candidates as they are now, those that no longer hold left out.

    None where no candidate is left.
    """
    present = (
        replace(candidate, entry=changed.get(candidate.entry.id, candidate.entry))
        for candidate in case.candidates
    )
    kept = tuple(candidate for candidate in present if candidate.entry.status in CURRENT)
    return replace(case, candidates=kept) if kept else None
