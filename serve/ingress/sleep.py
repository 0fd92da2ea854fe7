"""Routes of sleep runs: start, watch, take back, repeat."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse

from actors.ledger_parquet import Texts, write_ledger
from pipeline.ids import RunId
from pipeline.messages import Scope
from pipeline.runs import LedgerRow
from pipeline.sleep.tending import Change
from serve.ingress.access import Caller
from serve.ingress.bodies import Id
from serve.ingress.sleep_bodies import SleepIn
from serve.ingress.sleep_views import DecisionOut, DecisionsOut, RunOut, RunsOut, UndoneOut, UndoOut
from serve.service import Memory
from serve.sleeping import Sleep

PARQUET = "application/vnd.apache.parquet"
_IN_MEMORY = 8 << 20
_PIECE = 64 << 10


def sleep_routes(memory: Memory, sleep: Sleep, caller: Caller) -> APIRouter:
    """Sleep runs of the caller's tenant."""
    routes = APIRouter(prefix="/v1/sleep/runs", tags=["sleep"])

    @routes.post("", status_code=202)
    async def start(
        tenant: Annotated[str, Depends(caller.tenant)], body: SleepIn | None = None
    ) -> RunOut:
        asked = body or SleepIn()
        known = caller.known(tenant)
        if asked.collection is not None:
            await memory.collection(Scope(tenant=known, collection=asked.collection))
        return RunOut.of(await sleep.start(known, asked.asked, wait=asked.wait))

    @routes.get("")
    async def list_runs(
        tenant: Annotated[str, Depends(caller.tenant)],
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
    ) -> RunsOut:
        runs = await sleep.runs(caller.known(tenant), limit=limit)
        return RunsOut(runs=[RunOut.of(run) for run in runs])

    @routes.get("/{run}")
    async def get_run(run: Id, tenant: Annotated[str, Depends(caller.tenant)]) -> RunOut:
        return RunOut.of(await sleep.run(caller.known(tenant), RunId(run)))

    @routes.get("/{run}/decisions")
    async def get_decisions(
        run: Id, tenant: Annotated[str, Depends(caller.tenant)]
    ) -> DecisionsOut:
        known = caller.known(tenant)
        rows = await sleep.decisions(known, RunId(run))
        texts = await memory.candidate_texts(known, rows)
        return DecisionsOut(decisions=[DecisionOut.of(row, texts) for row in rows])

    @routes.get("/{run}/ledger", response_class=StreamingResponse)
    async def get_ledger(
        run: Id, tenant: Annotated[str, Depends(caller.tenant)]
    ) -> StreamingResponse:
        known = caller.known(tenant)
        rows = await sleep.decisions(known, RunId(run))
        texts = await memory.candidate_texts(known, rows)
        changes = await memory.scratchpads.changes(known, RunId(run))
        changed = await memory.scratchpads.changed_texts(known, RunId(run))
        file = await asyncio.to_thread(_parquet, rows, texts, changes, changed)
        return StreamingResponse(_pieces(file), media_type=PARQUET)

    @routes.post("/{run}/undo")
    async def undo(run: Id, tenant: Annotated[str, Depends(caller.tenant)]) -> UndoneOut:
        items = await sleep.undo(caller.known(tenant), RunId(run))
        return UndoneOut(items=[UndoOut.of(item) for item in items])

    @routes.post("/{run}/redo")
    async def redo(run: Id, tenant: Annotated[str, Depends(caller.tenant)]) -> UndoneOut:
        items = await sleep.redo(caller.known(tenant), RunId(run))
        return UndoneOut(items=[UndoOut.of(item) for item in items])

    return routes


def _parquet(
    rows: Sequence[LedgerRow], texts: Texts, changes: Sequence[Change], changed: Texts
) -> IO[bytes]:
    """The ledger as a file without a name: nothing of it is left once it is sent."""
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  (sent, then closed)
    write_ledger(rows, file, texts=texts, changes=changes, changed_texts=changed)
    file.seek(0)
    return file


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE):
            yield piece
