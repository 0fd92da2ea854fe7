"""Sleep runs over one collection, their stages called one after the other, without Ray."""

from dataclasses import dataclass
from datetime import timedelta

from telling import NOON

from actors.fakes import FakeEmbedder, FixedClock
from actors.records import Records
from pipeline.ids import RunId
from pipeline.messages import Scope
from pipeline.ports import Decider
from pipeline.runs import SleepRun
from pipeline.settings import ConsolidationSettings
from serve.sleep_deciding import Deciding
from serve.sleep_settling import settle
from serve.sleep_stages import Part, SleepParts, Writing, Written, invert, link, read

SETTINGS = ConsolidationSettings(neighbours=5, queue_length=5)


@dataclass(frozen=True)
class Night:
    """What a run wrote; it is still open."""

    run: SleepRun
    counts: dict[str, int]
    clock: FixedClock


class Nights:
    """One run after the other, a day apart, over entries of ``dim`` numbers."""

    def __init__(self, records: Records, scope: Scope, *, dim: int) -> None:
        self._records = records
        self._scope = scope
        self._dim = dim
        self._count = 0

    def __call__(self, decider: Decider, *, calls: int = 1) -> Night:
        """A run in which ``calls`` cases are decided at once."""
        self._count += 1
        clock = FixedClock(NOON + timedelta(days=self._count))
        store = self._records.sleep
        run = store.open_run(self._begun(clock))
        deciding = Deciding(store=store, decider=decider, clock=clock, calls=calls)
        parts = self._parts(decider)
        found = read(store, self._scope, model="tiny")
        chunks = invert(
            [
                link(one, settings=SETTINGS, min_similarity=0.9)
                for one in found
                if isinstance(one, Part)
            ]
        )
        settled = settle(deciding.decide_all(chunks), deciding=deciding, clock=clock)
        written = Writing(run, parts, store=store, clock=clock).write(settled)
        assert isinstance(written, Written)
        return Night(run=run, counts=dict(written.counts), clock=clock)

    def _begun(self, clock: FixedClock) -> SleepRun:
        return SleepRun(
            id=RunId(f"run-{self._count}"),
            tenant=self._scope.tenant,
            window_start=clock.now(),
            dry_run=False,
            status="running",
            started_at=clock.now(),
        )

    def _parts(self, decider: Decider) -> SleepParts:
        return SleepParts(
            open_store=lambda: self._records.sleep,
            open_decider=lambda: decider,
            open_embedder=lambda: FakeEmbedder(dim=self._dim, model="tiny"),
            model="tiny",
            min_similarity=0.9,
        )
