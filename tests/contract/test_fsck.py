"""Checks of entries against their versions over SQLite and, where one is named, PostgreSQL."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update
from telling import HERON, HERON_ZH, NOON, entry_about, everything, remember, texts

from actors.records import Records
from actors.records.engine import writing
from actors.records.tables import entries, entry_versions
from pipeline.messages import Scope


def change(records: Records, scope: Scope, word: str, values: dict[str, Any]) -> str:
    """The id of the entry, whose row was changed behind the store's back."""
    entry = entry_about(records, scope, word)
    with writing(records.engine, scope.tenant) as connection:
        connection.execute(update(entries).where(entries.c.id == entry).values(values))
    return str(entry)


@pytest.mark.parametrize(
    "values",
    [
        {"text": "伪造"},
        {"said_at": NOON + timedelta(days=1)},
        {"valid_to": NOON},
        {"sources": []},
        {"metadata": {"a": "é"}},
        {"order_sequence": 9},
        {"subject": "Ola", "key": "heron", "value": "none"},
    ],
    ids=lambda values: next(iter(values)),
)
def test_an_entry_unlike_its_version_is_restored_from_it(
    records: Records, scope: Scope, values: dict[str, Any]
) -> None:
    remember(records, scope, HERON, HERON_ZH)
    before = records.entries.entries(scope).entries
    entry = change(records, scope, "翡翠羽", values)

    [found] = records.fsck.check(scope, repair=False)
    [repaired] = records.fsck.check(scope, repair=True)

    assert (found.kind, found.subject) == ("unlike its version", f"entry {entry}")
    assert found.detail == f"expected what version 1 says, found another {', '.join(values)}"
    assert (found.repaired, repaired.repaired) == (False, True)
    assert records.entries.entries(scope).entries == before
    assert records.fsck.check(scope, repair=True) == []


def test_strength_and_last_use_may_differ(records: Records, scope: Scope) -> None:
    remember(records, scope, HERON)
    change(records, scope, "heron", {"strength": 2.5, "last_used_at": NOON})

    assert records.fsck.check(scope, repair=True) == []


def test_a_version_that_does_not_fit_its_digest_restores_nothing(
    records: Records, scope: Scope
) -> None:
    remember(records, scope, HERON, HERON_ZH)
    entry = entry_about(records, scope, "heron")
    with writing(records.engine, scope.tenant) as connection:
        forged = update(entry_versions).where(entry_versions.c.entry == entry)
        connection.execute(forged.values(text="Forged."))
    before = everything(records)

    [found] = records.fsck.check(scope, repair=True)

    assert (found.kind, found.repaired) == ("unlike its version", False)
    assert HERON in texts(records, scope)
    assert everything(records) == before
