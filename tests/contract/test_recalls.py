"""The laws of recalls, over SQLite and, where one is named, PostgreSQL."""

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert

from actors.records import Records
from actors.records.engine import writing
from actors.records.tables import recalls as table
from pipeline.errors import InputError, NotFound
from pipeline.ids import EntryId, RecallId
from pipeline.messages import NewMessage, Role, Scope, TenantId
from pipeline.recalls import KeptQuery, Recall, RecalledEntry, RecallKeeping, RecallKind, query_hash

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
ACME, GLOBEX = TenantId("acme"), TenantId("globex")
QUESTION = "Where does 王芳 live?"
WORDS = RecallKeeping(query=KeptQuery.TEXT, days=30)


def talk(records: Records, scope: Scope) -> None:
    message = NewMessage(conversation="c", role=Role.USER, speaker="Ola", content="…", said_at=NOON)
    records.messages.accept(scope, [message], now=NOON)


def made(number: int, *collections: str, minutes: int = 0) -> Recall:
    names = collections or ("ola",)
    entries = tuple(
        RecalledEntry(collection=name, entry=EntryId(f"e{n}"), version=n + 1, score=0.5)
        for n, name in enumerate(names)
    )
    return Recall(
        id=RecallId(f"{number:032x}"),
        kind=RecallKind.SEARCH,
        collections=names,
        query=QUESTION,
        query_hash=query_hash(ACME, QUESTION),
        entries=entries,
        tokens=7,
        seconds=0.25,
        created_at=NOON + timedelta(minutes=minutes),
    )


def test_a_recall_is_kept_with_a_digest_of_its_question(records: Records, scope: Scope) -> None:
    talk(records, scope)

    assert records.recalls.write(ACME, [made(1)]) == 1

    assert records.recalls.recall(ACME, made(1).id) == replace(made(1), query=None)
    assert records.recalls.tenants() == [ACME]


def test_words_are_kept_where_the_tenant_wants_them_and_go_when_it_does_not(
    records: Records, scope: Scope
) -> None:
    talk(records, scope)
    records.recalls.keep(ACME, WORDS)
    records.recalls.write(ACME, [made(1)])

    assert records.recalls.keeping(ACME) == WORDS
    assert records.recalls.recall(ACME, made(1).id) == made(1)

    records.recalls.keep(ACME, RecallKeeping())
    assert records.recalls.recall(ACME, made(1).id).query is None


def test_a_question_to_several_collections_is_one_recall_without_its_words(
    records: Records, scope: Scope
) -> None:
    talk(records, scope)
    talk(records, Scope(tenant=ACME, collection="per"))
    records.recalls.keep(ACME, WORDS)
    both = made(1, "per", "ola")

    assert records.recalls.write(ACME, [both, made(2, minutes=-1)]) == 3

    assert records.recalls.recall(ACME, both.id) == replace(both, query=None)
    assert [one.id for one in records.recalls.recalls(ACME)] == [both.id, made(2).id]
    assert [one.id for one in records.recalls.recalls(ACME, collection="per")] == [both.id]


def test_recalls_come_newest_first_page_by_page(records: Records, scope: Scope) -> None:
    talk(records, scope)
    talk(records, Scope(tenant=ACME, collection="per"))
    records.recalls.write(ACME, [made(n, "ola", "per", minutes=n) for n in range(5)])

    found: list[str] = []
    before = None
    while page := records.recalls.recalls(ACME, limit=3, before=before):
        found += [one.id for one in page]
        before = page[-1].id

    assert found == [made(n).id for n in (4, 3, 2, 1, 0)]


def test_another_tenants_recall_is_not_found(records: Records, scope: Scope) -> None:
    talk(records, scope)
    records.recalls.write(ACME, [made(1)])

    assert records.recalls.recalls(GLOBEX) == []
    for call in (records.recalls.recall, lambda t, r: records.recalls.recalls(t, before=r)):
        with pytest.raises(NotFound) as refusal:
            call(GLOBEX, made(1).id)
        assert refusal.value.field == "recall"


def test_what_was_recalled_before_an_erasure_is_not_written_after_it(
    records: Records, scope: Scope
) -> None:
    other = Scope(tenant=ACME, collection="per")
    talk(records, scope)
    talk(records, other)
    records.recalls.write(ACME, [made(1)])
    late = NOON + timedelta(minutes=1)

    erased = records.erasure.erase_conversation(scope, "c", now=late)
    written = records.recalls.write(ACME, [made(2), made(3, "per"), made(4, minutes=2)])

    assert erased.receipt["recalls"] == 1
    assert written == 2
    assert [one.id for one in records.recalls.recalls(ACME)] == [made(4).id, made(3).id]


def test_recalls_go_with_their_collection_and_none_comes_after_it(
    records: Records, scope: Scope
) -> None:
    talk(records, scope)
    talk(records, Scope(tenant=ACME, collection="per"))
    records.recalls.write(ACME, [made(1, "ola", "per")])

    records.erasure.erase_collection(scope, now=NOON + timedelta(minutes=1))

    assert records.recalls.write(ACME, [made(2, minutes=3)]) == 0
    assert records.recalls.recall(ACME, made(1).id).collections == ("per",)
    records.erasure.erase_tenant(ACME, now=NOON)
    assert records.recalls.tenants() == []


def test_recalls_are_forgotten_after_their_days_and_no_later_than_raw_messages(
    records: Records, scope: Scope
) -> None:
    talk(records, scope)
    records.recalls.write(ACME, [made(1), made(2, minutes=2 * 24 * 60)])

    assert records.recalls.forget_old(ACME, now=NOON + timedelta(days=30)) == 0
    assert records.recalls.forget_old(ACME, now=NOON + timedelta(days=30, hours=1)) == 1
    records.retention.keep(ACME, 5)
    assert records.recalls.forget_old(ACME, now=NOON + timedelta(days=8)) == 1


@pytest.mark.parametrize("days", [0, 36_501])
def test_days_out_of_range_are_refused_by_name(records: Records, days: int) -> None:
    with pytest.raises(InputError) as refusal:
        records.recalls.keep(ACME, RecallKeeping(days=days))

    assert refusal.value.field == "days"


def test_recalls_move_with_their_collection(records: Records, scope: Scope) -> None:
    talk(records, scope)
    records.recalls.write(ACME, [made(1)])
    file = io.BytesIO(b"".join(records.exports.lines(scope)))

    there = Scope(tenant=GLOBEX, collection="moved")
    records.imports.load(there, file, model="tiny", width=2, now=NOON)

    [found] = records.recalls.recalls(GLOBEX, collection="moved")
    assert found.collections == ("moved",)
    assert [one.collection for one in found.entries] == ["moved"]


@pytest.mark.parametrize(
    "returned",
    [
        [],
        {"entries": 7, "parts": -1, "tokens": "x", "seconds": True},
        {"entries": [1, {"entry": 3}], "parts": 10**9},
    ],
)
def test_a_row_that_says_anything_is_still_a_recall(
    records: Records, scope: Scope, returned: object
) -> None:
    talk(records, scope)
    row = {"tenant": "acme", "collection": "ola", "id": "r", "kind": "dream", "query": "夢"}
    with writing(records.engine, ACME) as connection:
        connection.execute(insert(table).values(**row, returned=returned, created_at=NOON))

    found = records.recalls.recall(ACME, RecallId("r"))

    assert (found.kind, found.entries, found.tokens, found.seconds) == ("search", (), 0, 0.0)


def test_nothing_to_write_is_nothing_written(records: Records) -> None:
    assert records.recalls.write(ACME, []) == 0
