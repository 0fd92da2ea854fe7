"""When a run of the sleep job stops: its time is over, or its tokens are used up."""

from collections.abc import Mapping

from pipeline.messages import TenantId
from pipeline.ports import Clock, SleepStore
from pipeline.runs import SleepRun, Stop


class Limits:
    """Looks at the runs of one job from any of its workers; the record store adds up the tokens."""

    def __init__(
        self, runs: Mapping[TenantId, SleepRun], *, store: SleepStore, clock: Clock
    ) -> None:
        self._runs = runs
        self._store = store
        self._clock = clock

    def stop(self, tenant: TenantId) -> Stop | None:
        """Why the tenant's run must begin nothing more; None while it may."""
        run = self._runs[tenant]
        if run.deadline is not None and self._clock.now() >= run.deadline:
            return Stop.WINDOW
        if run.max_tokens is not None and self._used(run) >= run.max_tokens:
            return Stop.TOKENS
        return None

    def _used(self, run: SleepRun) -> int:
        return self._store.run(run.tenant, run.id).tokens

    def spend(self, tenant: TenantId, tokens: int) -> None:
        """Adds to what the tenant's run has used."""
        if tokens:
            run = self._runs[tenant]
            self._store.spend(run.tenant, run.id, tokens=tokens)
