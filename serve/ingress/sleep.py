"""Routes of sleep runs: start, watch, take back, repeat."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from pipeline.ids import RunId
from pipeline.messages import Scope
from serve.ingress.access import Caller
from serve.ingress.bodies import Id, SleepIn
from serve.ingress.sleep_views import DecisionOut, DecisionsOut, RunOut, RunsOut, UndoneOut, UndoOut
from serve.service import Memory
from serve.sleeping import Sleep


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
        run = await sleep.start(
            known,
            dry_run=asked.dry_run,
            collection=asked.collection,
            wait=asked.wait,
        )
        return RunOut.of(run)

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

    @routes.post("/{run}/undo")
    async def undo(run: Id, tenant: Annotated[str, Depends(caller.tenant)]) -> UndoneOut:
        items = await sleep.undo(caller.known(tenant), RunId(run))
        return UndoneOut(items=[UndoOut.of(item) for item in items])

    @routes.post("/{run}/redo")
    async def redo(run: Id, tenant: Annotated[str, Depends(caller.tenant)]) -> UndoneOut:
        items = await sleep.redo(caller.known(tenant), RunId(run))
        return UndoneOut(items=[UndoOut.of(item) for item in items])

    return routes
