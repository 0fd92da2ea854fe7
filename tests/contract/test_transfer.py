"""Export and import over SQLite and, where one is named, PostgreSQL."""

import io
import json
from pathlib import Path

import pytest
from telling import HERON, HERON_ZH, NOON, entry_about, everything, remember, said, texts

from actors.records import Records, open_records
from pipeline.errors import Conflict, InputError, NotFound, SlowwaveError
from pipeline.messages import Scope, TenantId


def exported(records: Records, scope: Scope) -> bytes:
    return b"".join(records.exports.lines(scope))


def load(records: Records, scope: Scope, lines: bytes, *, model: str = "tiny", width: int = 2):
    return records.imports.load(scope, io.BytesIO(lines), model=model, width=width, now=NOON)


@pytest.fixture
def full(records: Records, scope: Scope) -> bytes:
    """An export of a collection with entries in two languages and a message on its way."""
    remember(records, scope, HERON, HERON_ZH, "a\nb\u2028\"'\\ 😀")
    records.messages.accept(
        scope,
        [said("later", external_id="x", metadata={"b": 1.5, "a": ["é", None]})],
        now=NOON,
        idempotency_key="k",
        body_digest="d",
    )
    return exported(records, scope)


@pytest.mark.parametrize("tenant", ["acme", "globex"])
@pytest.mark.parametrize("name", ["ola", "她"])
def test_an_export_comes_back_byte_for_byte_in_an_empty_store(
    full: bytes, tmp_path: Path, tenant: str, name: str
) -> None:
    other = open_records(f"sqlite:///{tmp_path}/other.db")
    other.tenants.ensure_tenant(TenantId(tenant), NOON)
    place = Scope(tenant=TenantId(tenant), collection=name)

    first = load(other, place, full)
    second = load(other, place, full)

    assert exported(other, place) == full
    assert (sum(first.added.values()), first.known) == (second.known, 0)
    assert second.added == {}
    assert len(other.outbox.pending(limit=10)) == 3
    assert other.fsck.check(place, repair=False) == []
    other.close()


def test_another_tenant_of_the_same_store_may_have_it_too(
    records: Records, scope: Scope, full: bytes
) -> None:
    place = Scope(tenant=TenantId("globex"), collection="copy")

    load(records, place, full)

    assert exported(records, place) == full
    assert texts(records, place) == texts(records, scope)


def test_an_imported_collection_goes_on_with_what_was_pending(full: bytes, tmp_path: Path) -> None:
    other = open_records(f"sqlite:///{tmp_path}/other.db")
    other.tenants.ensure_tenant(TenantId("acme"), NOON)
    place = Scope(tenant=TenantId("acme"), collection="ola")
    load(other, place, full)

    [held] = other.awake.lease("w", limit=1, now=NOON, ttl_s=30, idle_s=60)
    state = other.awake.load(held, limit=10, now=NOON, idle_s=60)

    assert [message.content for message in state.accepted] == ["later"]
    other.close()


def test_what_has_moved_on_since_is_not_overwritten(
    records: Records, scope: Scope, full: bytes
) -> None:
    remember(records, scope, "More.")
    before = everything(records)

    with pytest.raises(Conflict, match=r"line \d+: collections"):
        load(records, scope, full)

    assert everything(records) == before


def test_an_id_that_another_collection_holds_is_refused(
    records: Records, scope: Scope, full: bytes
) -> None:
    before = everything(records)

    with pytest.raises(Conflict):
        load(records, Scope(tenant=scope.tenant, collection="copy"), full)

    assert everything(records) == before


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines[:-1], "expected a checksum, got the end"),
        (lambda lines: lines[: len(lines) // 2], "expected a checksum, got the end"),
        (lambda lines: [*lines[:3], lines[3][:20]], "line 4: expected JSON"),
        (lambda lines: [*lines[:2], *lines[3:]], "the checksum is not that"),
        (lambda lines: [*lines, lines[-1]], "expected the end of the file"),
        (lambda lines: [b'{"role": "user"}\n', *lines[1:]], "line 1: expected the first line"),
        (lambda lines: [b"\xff\xfe", *lines], "line 1: expected JSON"),
        (lambda lines: [], "line 2: expected a checksum"),
        (lambda lines: [lines[0].replace(b'"version":1', b'"version":9'), *lines[1:]], "got 9"),
        (lambda lines: [lines[0], b'{"table":"keys","row":{}}\n', *lines[1:]], "line 2"),
    ],
)
def test_a_file_that_is_no_whole_export_is_refused_with_its_line(
    records: Records, full: bytes, damage, message: str
) -> None:
    place = Scope(tenant=TenantId("globex"), collection="copy")
    before = everything(records)

    with pytest.raises(InputError, match=message):
        load(records, place, b"".join(damage(full.splitlines(keepends=True))))

    assert everything(records) == before


@pytest.mark.parametrize(
    ("model", "width", "message"),
    [("other", 2, "vectors of other, the export holds those of tiny"), ("tiny", 3, "3 numbers")],
)
def test_vectors_of_another_model_or_width_are_refused_by_name(
    records: Records, full: bytes, model: str, width: int, message: str
) -> None:
    place = Scope(tenant=TenantId("globex"), collection="copy")

    with pytest.raises(InputError, match=message) as refusal:
        load(records, place, full, model=model, width=width)

    assert refusal.value.field == "model"


def test_nothing_is_exported_of_an_unknown_collection(records: Records, scope: Scope) -> None:
    with pytest.raises(NotFound):
        exported(records, scope)
    with pytest.raises(NotFound):
        load(records, Scope(tenant=TenantId("nobody"), collection="x"), _smallest(records, scope))


def _smallest(records: Records, scope: Scope) -> bytes:
    records.messages.accept(scope, [said("one")], now=NOON)
    return exported(records, scope)


@pytest.mark.parametrize("wrong", ["sequence", "content", "said_at", "nothing"])
def test_a_row_of_the_wrong_shape_is_refused_with_its_line(
    records: Records, full: bytes, wrong: str
) -> None:
    place = Scope(tenant=TenantId("globex"), collection="copy")
    lines = [json.loads(line) for line in full.splitlines()]
    number = next(n for n, line in enumerate(lines) if line.get("table") == "messages")
    lines[number]["row"][wrong] = {}

    with pytest.raises(SlowwaveError, match=f"line {number + 1}: "):
        load(records, place, signed(lines))


WRONG_ROWS = [
    ("entries", "kind", "evil"),
    ("entries", "status", "everywhere"),
    ("entries", "zone", "Nowhere/Never"),
    ("entries", "written_by", "me"),
    ("entries", "sources", {"a": 1}),
    ("entries", "sources", [1]),
    ("entries", "metadata", []),
    ("entries", "metadata", {"a": "\x00"}),
    ("entries", "metadata", {"a": float("nan")}),
    ("entries", "text", "a\x00b"),
    ("entries", "text", "\ud800"),
    ("entries", "version", 2**31),
    ("entries", "order_sequence", 2**63),
    ("entries", "strength", float("inf")),
    ("entries", "strength", 10**400),
    ("entries", "said_at", "2024-03-01T12:00:00"),
    ("entries", "said_at", "0001-01-01T00:00:00+14:00"),
    ("entry_versions", "kind", "evil"),
    ("entry_versions", "zone", "Nowhere/Never"),
    ("entry_vectors", "vector", "AAAAAAAA"),
    ("entry_vectors", "model", "other"),
    ("messages", "role", "wizard"),
    ("messages", "state", "lost"),
    ("messages", "metadata", [1]),
    ("segments", "state", "lost"),
    ("idempotency", "reply", ["1"]),
    ("collections", "settings", []),
]
"""Rows that would stop whatever reads them, some of them for every tenant."""


@pytest.mark.parametrize(("table", "column", "value"), WRONG_ROWS)
def test_a_row_that_could_not_be_read_is_refused_with_its_line(
    records: Records, full: bytes, table: str, column: str, value: object
) -> None:
    place = Scope(tenant=TenantId("globex"), collection="copy")
    lines = [json.loads(line) for line in full.splitlines()]
    number = next(n for n, line in enumerate(lines) if line.get("table") == table)
    lines[number]["row"][column] = value
    before = everything(records)

    with pytest.raises(InputError, match=f"line {number + 1}: "):
        load(records, place, signed(lines))

    assert everything(records) == before


BEYOND = 2**53

WRONG_VALUES = [
    ("messages", "sequence", -5),
    ("messages", "sequence", 0),
    ("messages", "sequence", BEYOND),
    ("messages", "attempts", -1),
    ("messages", "content", "鹭" * 200_001),
    ("messages", "content", " "),
    ("messages", "compressed", "a" * 200_001),
    ("messages", "metadata", {"a": "b" * 17_000_000}),
    ("messages", "conversation", ".."),
    ("messages", "speaker", "a" * 201),
    ("messages", "external_id", ""),
    ("messages", "zone", "Nowhere/Never"),
    ("messages", "id", ".."),
    ("entries", "id", "."),
    ("entries", "version", 0),
    ("entries", "new_at", -1),
    ("entries", "order_ordinal", -1),
    ("entries", "order_sequence", 0),
    ("entry_versions", "text", "a" * 200_001),
    ("segments", "first_sequence", 0),
    ("conversations", "name", ".."),
    ("conversations", "name", "a" * 201),
    ("conversations", "last_sequence", -1),
    ("idempotency", "key", "a" * 201),
    ("idempotency", "reply", [0]),
    ("idempotency", "reply", [BEYOND]),
    *(
        ("collections", name, value)
        for name in ("last_sequence", "erased", "writes", "step", "accepted", "pending")
        for value in (-1, BEYOND, 2**63 - 1)
    ),
    *(
        ("collections", name, value)
        for name in ("flush_requested", "flushed", "consolidated_through")
        for value in (-1, 50, 2**63 - 1)
    ),
    ("collections", "last_sequence", 3),  # below the sequence of its last message
    ("collections", "pending", 3),
    ("collections", "accepted", 0),
    ("collections", "erased", 1),
    ("collections", "writes", 1),  # fewer than the entries have seen
]
"""Values that no request makes, some of which would stop whoever counts on."""


def _short(value: object) -> str:
    return repr(value)[:20]


@pytest.mark.parametrize(("table", "column", "value"), WRONG_VALUES, ids=_short)
def test_a_value_that_no_request_makes_is_refused_with_its_line_and_column(
    records: Records, full: bytes, table: str, column: str, value: object
) -> None:
    place = Scope(tenant=TenantId("globex"), collection="copy")
    lines = [json.loads(line) for line in full.splitlines()]
    number = next(n for n, line in enumerate(lines) if line.get("table") == table)
    lines[number]["row"][column] = value
    before = everything(records)

    with pytest.raises(InputError, match=f"line {number + 1}: ") as refusal:
        load(records, place, signed(lines))

    assert refusal.value.field in (f"{table}.{column}", "row")
    assert len(refusal.value.message) < 300
    assert everything(records) == before


def test_marks_of_a_tombstone_that_nobody_could_count_on_are_refused(
    records: Records, scope: Scope
) -> None:
    remember(records, scope, HERON, HERON_ZH)
    records.erasure.erase_entry(
        scope.tenant, entry_about(records, scope, "翡翠羽"), siblings=False, now=NOON
    )
    lines = [json.loads(line) for line in exported(records, scope).splitlines()]
    number = next(n for n, line in enumerate(lines) if line.get("table") == "erasures")
    lines[number]["row"]["marks"]["step"] = BEYOND

    with pytest.raises(InputError, match=f"line {number + 1}: erasures.marks: expected counts"):
        load(records, Scope(tenant=TenantId("globex"), collection="copy"), signed(lines))


def test_an_export_without_its_collection_is_refused(records: Records, full: bytes) -> None:
    lines = [json.loads(line) for line in full.splitlines()]
    without = [line for line in lines if line.get("table") != "collections"]
    without[0]["counts"]["collections"] = 0

    with pytest.raises(InputError, match="line 1: expected the rows of one collection"):
        load(records, Scope(tenant=TenantId("globex"), collection="copy"), signed(without))


def test_lines_nested_without_end_are_refused(records: Records, full: bytes) -> None:
    place = Scope(tenant=TenantId("globex"), collection="copy")
    deep = b"[" * 200_000 + b"]" * 200_000 + b"\n"

    with pytest.raises(InputError, match="line 1: expected JSON"):
        load(records, place, deep + full)


def signed(lines: list[dict[str, object]]) -> bytes:
    """The lines with a checksum of their own, as a careless program would write them."""
    from hashlib import sha256

    from actors.records.transfer_rows import line_of

    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines[:-1])
    return body + line_of({"lines": len(lines) - 1, "sha256": sha256(body).hexdigest()})
