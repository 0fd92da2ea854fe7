"""What is remembered before a night, and what an export of it says afterwards."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from chaos_sleep import ACME, MODEL, NIGHT, NOON
from telling import lease, load, said, statement

from actors.fakes import FakeEmbedder
from actors.records import Records
from pipeline.entries import Kind
from pipeline.messages import Scope
from pipeline.state import AwakeCommit

SCOPES = [Scope(tenant=ACME, collection=name) for name in ("garden", "harbour", "厨房", "湖")]
_OLD = ["Ola bought lamp{n}.", "奥拉买了{n}号灯。"]
_PAIRS = [
    ("Ola grows bean{n} behind the house.", "Ola grows also pea{n} behind the house."),
    ("Ola works at mill{n} on Mondays.", "Ola works instead at dock{n} on Mondays."),
    ("小林{n}早上在家喝绿茶。", "小林{n}早上在家还喝豆浆。"),
    ("小林{n}周末住在上海。", "小林{n}周末改住在杭州。"),
    ("Ola's heron{n} is grey.", "Ola's heron{n} is the grey one."),
]
_TWINS = ["Ola has a boat.", "Ola has the boat!", "奥拉有一只鹭。", "奥拉有一只鹭啊"]


def remember_all(records: Records) -> None:
    """Some collections that have something for every part of a night."""
    records.tenants.ensure_tenant(ACME, NOON)
    recent = NIGHT - timedelta(days=1)
    for scope in SCOPES:
        _say(records, scope, [text.format(n=n) for text in _OLD for n in range(2)], at=NOON)
        pairs = [text.format(n=n) for n in range(3) for pair in _PAIRS for text in pair]
        _say(records, scope, [*pairs, *_TWINS], at=recent)
        _say(records, scope, ["Always answer in French."], at=recent, kind=Kind.INSTRUCTION)


def _say(
    records: Records, scope: Scope, texts: list[str], *, at: datetime, kind: Kind = Kind.FACT
) -> None:
    """Each text as a message and an entry of its own, the vector of its words beside it."""
    accepted = records.messages.accept(
        scope, [said(text, at=n) for n, text in enumerate(texts)], now=at
    )
    vectors = FakeEmbedder().embed(texts, purpose="passage")
    held = lease(records)
    stored = [statement(scope, message, "") for message in accepted]
    commit = AwakeCommit(
        start_step=load(records, held).step,
        quarantined={message.id: "not needed again" for message in accepted},
        statements=tuple(
            replace(one, statement=replace(one.statement, kind=kind), vector=vector)
            for one, vector in zip(stored, vectors, strict=True)
        ),
        model=MODEL,
    )
    assert records.awake.commit(held, commit, now=at)
    records.awake.release([held])


def exported(records: Records) -> dict[str, list[dict[str, Any]]]:
    """What an export of the collections says, as ``rows_of`` has it."""
    return rows_of(records, SCOPES)


def rows_of(records: Records, scopes: Sequence[Scope]) -> dict[str, list[dict[str, Any]]]:
    """Every row of an export by collection and table, run ids and write times apart.

    How often it was asked stands in the usage, and runs are looked at on their own.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for scope in scopes:
        for line in list(records.exports.lines(scope))[1:-1]:
            told = json.loads(line)
            if told["table"] not in ("sleep_runs", "usage"):
                row = {key: value for key, value in told["row"].items() if not _is_apart(key)}
                found.setdefault(f"{scope.collection} {told['table']}", []).append(row)
    return {name: sorted(rows, key=str) for name, rows in found.items()}


def _is_apart(column: str) -> bool:
    """Run ids, and when something was written or last looked at."""
    return column == "run" or (column.endswith("_at") and column != "said_at")
