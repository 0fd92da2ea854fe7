"""Tasks are asked for by their state, before and after a night."""

from typing import Any

import pytest

from pipeline.entries import Delete
from pipeline.messages import Scope, TenantId

MARA = "/v1/collections/mara"


def told(house: Any, content: str, said_at: str) -> None:
    message = {"role": "user", "speaker": "Mara", "content": content, "said_at": said_at}
    body = {"conversation": said_at, "messages": [message]}
    house.client.post(f"{MARA}/messages", json=body).raise_for_status()
    house.client.post(f"{MARA}/flush").raise_for_status()
    house.work()


def found(house: Any, query: str, **more: Any) -> list[tuple[str, str | None]]:
    reply = house.client.post(f"{MARA}/search", json={"query": query, **more})
    reply.raise_for_status()
    return [(hit["entry"]["text"], hit["entry"]["task_state"]) for hit in reply.json()["hits"]]


def supersede(house: Any, old: str, newer: str) -> None:
    """What a night does whose decider says so."""
    from pipeline.runs import LedgerItem, Weighed

    scope = Scope(tenant=TenantId("default"), collection="mara")
    sleep, model = house.records.sleep, house.embedder.model
    now = house.clock.now()
    run = house.client.post("/v1/sleep/runs", json={"wait": True}).json()["id"]
    seen = sleep.snapshot(scope, model=model)
    by_text = {entry.text: entry for entry in seen.entries}
    target, other = by_text[old], by_text[newer]
    item = LedgerItem(
        target=target.id,
        target_version=target.version,
        candidates=(Weighed(entry=other.id, version=other.version, similarity=0.9),),
        decision=Delete(superseded_by=other.id, reason="done"),
        decider="tiny",
    )
    sleep.record(run, scope, [item], through=seen.through, model=model, dry_run=False, now=now)


@pytest.mark.parametrize(
    ("task", "other", "done"),
    [
        ("I need to send the harvest report.", "I need to buy jam jars.", "I sent the report."),
        ("我需要提交季度报告。", "我得买一盏台灯。", "我已经提交了季度报告。"),
    ],
)
def test_tasks_are_found_by_state(house: Any, task: str, other: str, done: str) -> None:
    told(house, task, "2025-05-01T12:00:00Z")
    told(house, other, "2025-05-02T12:00:00Z")
    told(house, done, "2025-05-03T12:00:00Z")
    every = house.client.get(f"{MARA}/entries").json()["entries"]
    first, second, last = (entry["text"] for entry in every)
    opened = found(house, task, filter={"task_state": "open"})
    assert sorted(opened) == sorted([(first, "open"), (second, "open")])

    supersede(house, first, last)
    house.work()
    house.client.post(f"{MARA}/reindex").raise_for_status()

    assert found(house, task, filter={"task_state": "open"}) == [(second, "open")]
    assert found(house, task, filter={"task_state": {"in": ["done", "dropped"]}}) == [
        (first, "done")
    ]
    assert first not in [text for text, _ in found(house, task)]
    assert first not in [
        text for text, _ in found(house, task, filter={"not": {"task_state": "done"}})
    ]


def test_a_state_that_there_is_not_is_refused(house: Any) -> None:
    told(house, "I need to buy jam.", "2025-05-01T12:00:00Z")

    reply = house.client.post(
        f"{MARA}/search", json={"query": "jam", "filter": {"task_state": "late"}}
    )

    assert reply.status_code == 422
    assert "open, done, dropped" in reply.json()["error"]["message"]
