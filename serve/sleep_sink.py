"""What the sleep job writes with: a sink that settles and records collection after collection."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ray.data.block import Block, BlockAccessor
from ray.data.datasource import Datasink

from pipeline.ports import Clock
from pipeline.runs import SleepRun
from serve.sleep_limits import Limits
from serve.sleep_outcome import Result
from serve.sleep_rows import by_collection, guarded
from serve.sleep_settling import Decides, settle
from serve.sleep_stages import (
    Broken,
    Cases,
    Decided,
    Plans,
    SleepParts,
    Stopped,
    Writing,
    Written,
    limits_of,
)

if TYPE_CHECKING:
    from serve.sleep_deciding import Deciding


def deciding_of(parts: SleepParts) -> "Deciding":
    """What decides in this process."""
    # Imported here, so that no worker that does not decide loads the lexicons it needs.
    from serve.sleep_deciding import Deciding

    return Deciding(
        store=parts.open_store(),
        decider=parts.open_decider(),
        clock=parts.open_clock(),
        calls=parts.calls,
    )


class _LateDeciding:
    """A decider that is opened when something must be decided again, which is rare."""

    def __init__(self, parts: SleepParts, limits: Limits) -> None:
        self._parts = parts
        self._limits = limits
        self._deciding: Decides | None = None

    def decide(self, chunk: Cases) -> Decided:
        """As Deciding does; what has begun is ended, so nothing stops it."""
        if self._deciding is None:
            self._deciding = deciding_of(self._parts)
        decided = self._deciding.decide(chunk)
        self._limits.spend(chunk.scope.tenant, decided.tokens)
        return decided


class LedgerDatasink(Datasink[list[Result]]):
    """Writes every collection of its blocks; ``results`` holds them all once the job is done."""

    def __init__(self, plans: Plans, parts: SleepParts) -> None:
        self._plans = plans
        self._parts = parts
        self.results: list[Result] = []

    def get_name(self) -> str:
        return "SleepLedger"

    def write(self, blocks: Iterable[Block], ctx: Any) -> list[Result]:
        store, clock = self._parts.open_store(), self._parts.open_clock()
        deciding = _LateDeciding(self._parts, limits_of(self._plans, self._parts))
        results: list[Result] = []
        for block in blocks:
            for group in by_collection(BlockAccessor.for_block(block).to_arrow()):
                if isinstance(group[0], Broken | Stopped):
                    results += group
                    continue
                run = self._plans[group[0].scope.tenant].run
                writing = Writing(run, self._parts, store=store, clock=clock)
                write = partial(self._write, group, run, writing, deciding, clock)
                results.append(guarded(group[0].scope, write))
        return results

    def _write(
        self,
        chunks: Sequence[Decided],
        run: SleepRun,
        writing: Writing,
        deciding: Decides,
        clock: Clock,
    ) -> Written | Broken:
        """One collection, settled and recorded."""
        asked = run.options.absorb
        absorb = self._parts.absorb if asked is None else asked
        return writing.write(settle(chunks, deciding=deciding, clock=clock, absorb=absorb))

    def on_write_complete(self, write_result: Any) -> None:
        for part in write_result.write_returns:
            self.results += part
