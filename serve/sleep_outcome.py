"""What the runs of a sleep job came to, added up over their collections."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.errors import StoreError
from pipeline.runs import Stop
from serve.sleep_after import COUNTS, Tended
from serve.sleep_stages import Broken, Stopped, Written

Result = Written | Tended | Broken | Stopped
"""What became of one collection, or what a stage did with it."""

_COUNTED = ("targets", "update", "delete", "ignore", "skipped", "failed", "absorbed")
_SPENT = ("model_calls", "tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run came to.

    ``totals`` count targets, update, delete, ignore, skipped, failed, absorbed, model_calls,
    tokens, collections (written) and left (for the next run), and where a run tends what
    ``sleep_after`` counts. ``stop`` says why any are left; ``error`` names collections that could
    not be read, written or tended.
    """

    totals: dict[str, int]
    stop: Stop | None = None
    error: StoreError | None = None


def outcome_of(results: Sequence[Result], *, tends: bool = False) -> Outcome:
    """The sum over the collections of one run; of a run that tends with what it counts there."""
    stops = {one.scope: stop for one in results if (stop := _stop_of(one)) is not None}
    broken = [one for one in results if isinstance(one, Broken)]
    totals = _totals(one for one in results if isinstance(one, Written)) | {"left": len(stops)}
    if tends:
        totals |= _tended(one for one in results if isinstance(one, Tended))
    return Outcome(
        totals=totals,
        stop=next(iter(stops.values()), None),
        error=_incomplete(broken, len({one.scope for one in results})) if broken else None,
    )


def _stop_of(result: Result) -> Stop | None:
    return result.stop if isinstance(result, Stopped | Tended) else None


def _tended(tended: Iterable[Tended]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for one in tended:
        counts.update(one.counts)
    return {name: counts[name] for name in COUNTS}


def _totals(written: Iterable[Written]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for one in written:
        counts.update({**one.counts, "collections": 1})
    return {name: counts[name] for name in (*_COUNTED, *_SPENT, "collections")}


def _incomplete(broken: Sequence[Broken], count: int) -> StoreError:
    reasons = "; ".join(f"{one.scope.collection}: {one.reason}" for one in broken[:5])
    named = len({one.scope for one in broken})
    return StoreError(f"{named} of {count} collections were not consolidated: {reasons}")
