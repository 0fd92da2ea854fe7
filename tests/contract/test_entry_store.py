"""The laws of an entry store, over SQLite and, where one is named, PostgreSQL."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from actors.records import Records
from pipeline.entries import Attributes, Entry, EntryChange, Kind, Statement, Status, Writer
from pipeline.errors import Conflict, InputError, NotFound
from pipeline.ids import EntryId, entry_id
from pipeline.messages import NewMessage, Role, Scope, TenantId
from pipeline.state import AwakeCommit, StoredStatement

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=1)
GLOBEX = TenantId("globex")
EAST = np.array([1.0, 0.0], dtype=np.float32)
NORTH = np.array([0.0, 1.0], dtype=np.float32)


def remember(
    records: Records, scope: Scope, texts: Sequence[str], *, days: Sequence[int] = ()
) -> list[Entry]:
    """Entries of these texts, in the order given, each said on its day."""
    message = NewMessage(conversation="c", role=Role.USER, speaker="Ola", content="…", said_at=NOON)
    [source] = records.messages.accept(scope, [message], now=NOON)
    statements = [
        Statement(
            text=text,
            kind=Kind.FACT,
            speaker="Ola",
            said_at=NOON + timedelta(days=days[n] if days else 0),
            zone="UTC",
            language="en",
            sources=(source.id,),
            sequence=source.sequence,
            ordinal=n,
            attributes=Attributes(subject="Ola", key="meets", value=text),
            entities=("Ola",),
            metadata={"主题": "会议"},
        )
        for n, text in enumerate(texts)
    ]
    stored = tuple(
        StoredStatement(
            id=entry_id(scope.tenant, scope.collection, source.id, n),
            statement=statement,
            vector=EAST,
        )
        for n, statement in enumerate(statements)
    )
    [lease] = records.awake.lease("w", limit=1, now=NOON, ttl_s=30, idle_s=60)
    step = records.awake.load(lease, limit=1, now=NOON, idle_s=60).step
    quarantined = {source.id: "not needed again"}
    commit = AwakeCommit(start_step=step, statements=stored, quarantined=quarantined, model="tiny")
    assert records.awake.commit(lease, commit, now=NOON)
    records.awake.release([lease])
    found = _read_back(records, scope, [one.id for one in stored])
    return [found[one.id] for one in stored if one.id in found]


def revise(records: Records, entry: Entry, change: EntryChange, **other: object) -> Entry:
    plain: dict[str, object] = {
        "expected_version": entry.version,
        "vector": None,
        "model": "tiny",
        "why": "corrected",
        "now": LATER,
    }
    return records.entries.revise(TenantId("acme"), entry.id, change, **(plain | other))


def texts(records: Records, scope: Scope, **page: object) -> list[str]:
    return [entry.text for entry in records.entries.entries(scope, **page).entries]


def test_entries_come_oldest_first_page_by_page(records: Records, scope: Scope) -> None:
    remember(records, scope, ["c", "a", "b", "d"], days=[2, 0, 0, 3])

    first = records.entries.entries(scope, limit=3)
    last = records.entries.entries(scope, limit=3, cursor=first.cursor)

    assert [entry.text for entry in first.entries] == ["a", "b", "c"]
    assert [entry.text for entry in last.entries] == ["d"]
    assert last.cursor is None


def test_a_full_last_page_has_no_cursor(records: Records, scope: Scope) -> None:
    remember(records, scope, ["a", "b"])

    assert records.entries.entries(scope, limit=2).cursor is None


def test_entries_are_filtered_by_status(records: Records, scope: Scope) -> None:
    old, _ = remember(records, scope, ["a", "b"])
    revise(records, old, EntryChange(status=Status.OUTDATED))

    assert texts(records, scope) == ["a", "b"]
    assert texts(records, scope, statuses=[Status.ACTIVE]) == ["b"]
    assert texts(records, scope, statuses=[Status.OUTDATED, Status.ARCHIVED]) == ["a"]


@pytest.mark.parametrize("cursor", ["", "x", "%%%", "bnVsbA==", "WzEsMiwzLDRd", "更多", "[]"])
def test_a_malformed_cursor_is_refused_by_name(records: Records, scope: Scope, cursor: str) -> None:
    remember(records, scope, ["a"])

    with pytest.raises(InputError) as refusal:
        records.entries.entries(scope, cursor=cursor)

    assert refusal.value.field == "cursor"


def test_an_unknown_collection_or_entry_is_not_found(records: Records, scope: Scope) -> None:
    unknown = EntryId("none")

    with pytest.raises(NotFound):
        records.entries.entries(scope)
    with pytest.raises(NotFound):
        records.entries.entry(scope.tenant, unknown)
    with pytest.raises(NotFound):
        records.entries.history(scope.tenant, unknown)
    with pytest.raises(NotFound):
        records.entries.revise(
            scope.tenant,
            unknown,
            EntryChange(text="a"),
            expected_version=1,
            vector=EAST,
            model="tiny",
            why="",
            now=NOON,
        )


def test_another_tenant_sees_and_changes_nothing(records: Records, scope: Scope) -> None:
    [entry] = remember(records, scope, ["The locker code is maple."])
    theirs = Scope(tenant=GLOBEX, collection=scope.collection)

    with pytest.raises(NotFound):
        records.entries.entry(GLOBEX, entry.id)
    with pytest.raises(NotFound):
        records.entries.history(GLOBEX, entry.id)
    with pytest.raises(NotFound):
        records.entries.revise(
            GLOBEX,
            entry.id,
            EntryChange(status=Status.ARCHIVED),
            expected_version=1,
            vector=None,
            model="tiny",
            why="",
            now=NOON,
        )
    assert _read_back(records, theirs, [entry.id]) == {}
    records.entries.used(theirs, [entry.id], now=LATER)
    assert records.entries.entry(scope.tenant, entry.id) == (scope, entry)


def test_read_back_gives_only_entries_of_the_scope_with_a_wanted_status(
    records: Records, scope: Scope
) -> None:
    kept, archived = remember(records, scope, ["a", "b"])
    [elsewhere] = remember(records, replace(scope, collection="per"), ["c"])
    revise(records, archived, EntryChange(status=Status.ARCHIVED))

    wanted = [archived.id, kept.id, elsewhere.id, EntryId("none")]
    found = records.entries.read_back(scope.tenant, ["ola"], wanted, statuses=[Status.ACTIVE])
    both = records.entries.read_back(scope.tenant, ["ola", "per"], wanted, statuses=[Status.ACTIVE])

    assert found == {kept.id: (scope, kept)}
    assert {one: where.collection for one, (where, _) in both.items()} == {
        kept.id: "ola",
        elsewhere.id: "per",
    }


def test_versions_are_read_back_oldest_first_and_only_from_the_named_collections(
    records: Records, scope: Scope
) -> None:
    [entry] = remember(records, scope, ["Ola meets on Monday."])
    [elsewhere] = remember(records, replace(scope, collection="per"), ["c"])
    after = revise(records, entry, EntryChange(text="Ola 周四开会。"), vector=NORTH)

    found = records.entries.versions(scope.tenant, ["ola"], [entry.id, elsewhere.id])

    assert found == {entry.id: (scope, [entry, after])}
    assert records.entries.versions(GLOBEX, ["ola"], [entry.id]) == {}


def _read_back(records: Records, scope: Scope, ids: Sequence[EntryId]) -> dict[EntryId, Entry]:
    found = records.entries.read_back(scope.tenant, [scope.collection], ids, statuses=list(Status))
    return {entry: one for entry, (_, one) in found.items()}


def test_a_corrected_text_is_a_new_version_with_its_own_vector(
    records: Records, scope: Scope
) -> None:
    [entry] = remember(records, scope, ["Ola meets on Monday."])

    after = revise(records, entry, EntryChange(text="Ola 周四开会。"), vector=NORTH)

    first, second = records.entries.history(scope.tenant, entry.id)
    [item] = records.outbox.pending(limit=10)
    assert (after.version, after.text, after.written_by) == (2, "Ola 周四开会。", Writer.USER)
    assert (after.order, after.valid_from, after.speaker) == (entry.order, NOON, "Ola")
    assert after.written_at == LATER
    assert (after.attributes, after.entities) == (None, ())
    assert (first.entry, second.entry) == (entry, after)
    assert second.why == "corrected"
    assert records.entries.entry(scope.tenant, entry.id) == (scope, after)
    assert [(one.text, vector.tolist()) for one, vector in item.versions] == [
        ("Ola meets on Monday.", [1.0, 0.0]),
        ("Ola 周四开会。", [0.0, 1.0]),
    ]


def test_a_corrected_text_is_what_a_repeat_is_compared_with(records: Records, scope: Scope) -> None:
    [entry] = remember(records, scope, ["Ola meets on Monday."])
    revise(records, entry, EntryChange(text="Ola meets on Thursday."), vector=NORTH)

    remember(records, scope, ["Ola meets on Monday.", "Ola meets on thursday"])

    assert sorted(texts(records, scope)) == ["Ola meets on Monday.", "Ola meets on Thursday."]
    assert records.entries.entry(scope.tenant, entry.id)[1].version == 3


def test_a_status_change_keeps_the_vector_and_says_since_when(
    records: Records, scope: Scope
) -> None:
    [entry] = remember(records, scope, ["a"])

    outdated = revise(records, entry, EntryChange(status=Status.OUTDATED))
    active = revise(records, outdated, EntryChange(status=Status.ACTIVE))

    [item] = records.outbox.pending(limit=10)
    assert (outdated.status, outdated.valid_to) == (Status.OUTDATED, LATER)
    assert (active.status, active.valid_to, active.superseded_by) == (Status.ACTIVE, None, None)
    assert [vector.tolist() for _, vector in item.versions] == [[1.0, 0.0]] * 3


def test_metadata_is_replaced_and_moves_nothing(records: Records, scope: Scope) -> None:
    [entry] = remember(records, scope, ["a"])

    after = revise(records, entry, EntryChange(metadata={"tenant": "globex"}))

    assert after.metadata == {"tenant": "globex"}
    assert records.entries.entry(scope.tenant, entry.id)[0] == scope


def test_the_same_values_again_make_no_version(records: Records, scope: Scope) -> None:
    [entry] = remember(records, scope, ["a"])
    same = EntryChange(text="a", status=Status.ACTIVE, metadata={"主题": "会议"})

    assert revise(records, entry, same) == entry
    assert len(records.entries.history(scope.tenant, entry.id)) == 1


def test_a_correction_of_an_older_version_is_a_conflict(records: Records, scope: Scope) -> None:
    [entry] = remember(records, scope, ["a"])
    revise(records, entry, EntryChange(text="b"), vector=NORTH)

    with pytest.raises(Conflict, match="it is at 2"):
        revise(records, entry, EntryChange(text="c"), vector=NORTH)

    assert texts(records, scope) == ["b"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (EntryChange(), "body"),
        (EntryChange(text=" \n"), "text"),
        (EntryChange(text="b"), "vector"),
        (EntryChange(status="gone"), "status"),
    ],
    ids=["empty", "blank", "without vector", "unknown status"],
)
def test_a_correction_that_cannot_be_is_refused_by_name(
    records: Records, scope: Scope, change: EntryChange, field: str
) -> None:
    [entry] = remember(records, scope, ["a"])

    with pytest.raises(InputError) as refusal:
        revise(records, entry, change)

    assert refusal.value.field == field
    assert records.entries.entry(scope.tenant, entry.id) == (scope, entry)


def test_use_strengthens_up_to_five_and_makes_no_version(records: Records, scope: Scope) -> None:
    [entry] = remember(records, scope, ["a"])

    records.entries.used(scope, [entry.id], now=LATER)
    once = records.entries.entry(scope.tenant, entry.id)[1]
    for _ in range(20):
        records.entries.used(scope, [entry.id], now=LATER)
    often = records.entries.entry(scope.tenant, entry.id)[1]

    assert once.strength == pytest.approx(1.2)
    assert (once.version, once.last_used_at) == (1, LATER)
    assert often.strength == pytest.approx(5.0)


def test_current_entries_of_a_kind_come_newest_first(records: Records, scope: Scope) -> None:
    first, second, third = remember(records, scope, ["a", "b", "c"], days=[0, 1, 2])
    revise(records, second, EntryChange(status=Status.OUTDATED))

    assert records.entries.of_kind(scope, Kind.FACT, limit=10) == [third, first]
    assert records.entries.of_kind(scope, Kind.FACT, limit=1) == [third]
    assert records.entries.of_kind(scope, Kind.TASK, limit=10) == []
