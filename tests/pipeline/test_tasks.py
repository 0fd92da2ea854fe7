"""Tasks: open, done or dropped, in English and Chinese."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pipeline.entries import Attributes, Delete, Entry, Kind, OrderKey, Status, Writer
from pipeline.ids import EntryId, MessageId
from pipeline.sleep.apply import apply, restore
from pipeline.tasks import STATE_KEY, TaskState, closed_by, task_state

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def entry(text: str, kind: Kind = Kind.TASK, *, day: int = 0, **more: Any) -> Entry:
    at = NOON + timedelta(days=day)
    plain: dict[str, Any] = {
        "id": EntryId(f"e{day}"),
        "version": 1,
        "text": text,
        "kind": kind,
        "status": Status.ACTIVE,
        "speaker": "Mara",
        "said_at": at,
        "zone": "UTC",
        "language": "en",
        "order": OrderKey(said_at=at, sequence=day + 1, ordinal=0),
        "valid_from": at,
        "sources": (MessageId(f"m{day}"),),
        "written_by": Writer.INGEST,
        "written_at": at,
    }
    return Entry(**(plain | more))


@pytest.mark.parametrize(
    ("task", "newer", "state"),
    [
        ("Mara needs to send the report to Anna.", "Mara sent the report to Anna.", "done"),
        ("Mara has to book the ferry.", "Mara has finally booked the ferry.", "done"),
        ("Mara needs to renew her passport.", "Mara no longer needs to renew it.", "dropped"),
        ("Mara plans to repaint.", "Mara decided not to repaint the kitchen.", "dropped"),
        ("Mara needs to cancel the gym.", "Mara cancelled the gym.", "done"),
        ("Mara needs to call the bank.", "Mara hasn't called the bank.", None),
        ("Mara needs to be in Lima.", "The flight leaves from Cusco.", None),
        ("王芳需要提交季度报告。", "王芳已经提交了季度报告。", "done"),
        ("王芳得给妈妈买机票。", "王芳给妈妈买好机票了。", "done"),
        ("王芳打算参加三月的马拉松。", "王芳取消了三月的马拉松。", "dropped"),
        ("王芳需要修水龙头。", "王芳不用修水龙头了。", "dropped"),
        ("王芳要取消健身卡。", "王芳取消了健身卡。", "done"),
        ("王芳需要交报告。", "王芳还没交报告。", None),
    ],
)
def test_what_takes_the_place_of_a_task_says_what_became_of_it(
    task: str, newer: str, state: str | None
) -> None:
    later = entry(newer, Kind.EVENT, day=1)
    decision = Delete(superseded_by=later.id, reason="r")

    after = apply(entry(task), decision, {later.id: later}, now=NOON)

    assert task_state(after) == state
    assert task_state(restore(after, entry(task), now=NOON)) is TaskState.OPEN


def test_another_plan_closes_no_task_and_an_open_task_is_one_that_still_stands() -> None:
    monday, thursday = entry("Submit it on Monday."), entry("Submitted on Thursday.", day=1)

    assert closed_by(monday, thursday) == monday
    assert task_state(monday) is TaskState.OPEN
    assert task_state(entry("x", status=Status.TENTATIVE)) is TaskState.OPEN
    assert task_state(entry("x", status=Status.ARCHIVED)) is TaskState.OPEN
    assert task_state(entry("x", status=Status.OUTDATED)) is None


def test_only_tasks_have_a_state() -> None:
    fact, later = entry("Mara has a cat.", Kind.FACT), entry("The cat died.", Kind.EVENT, day=1)

    assert closed_by(fact, later) == fact
    assert task_state(fact) is None


def test_the_subject_of_a_task_is_kept_and_a_state_nobody_knows_is_none() -> None:
    told = Attributes(subject="Anna", key="sends", value="report")
    after = closed_by(entry("Send it.", attributes=told), entry("Sent.", Kind.EVENT, day=1))

    assert after.attributes == Attributes(subject="Anna", key=STATE_KEY, value="done")
    odd = Attributes(subject="Anna", key=STATE_KEY, value="lost")
    assert task_state(entry("Send it.", attributes=odd)) is None
