"""Every filter finds the same through every adapter, and what the record store says of it."""

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from indexing import DIM, memory_index

from actors.index_edge import EdgeIndex
from actors.index_server import BUILD_FIELD
from actors.index_shape import (
    INTEGER_FIELDS,
    KEYWORD_FIELDS,
    MORE_KEYWORD_FIELDS,
    TENANT_FIELD,
    TIME_FIELDS,
    payload,
)
from pipeline.entries import CURRENT, Entry, Kind, OrderKey, Status, Writer
from pipeline.ids import EntryId, MessageId
from pipeline.messages import Scope, TenantId
from pipeline.ports import VectorIndex
from pipeline.recall.filters import Origin, holds, parse_filter
from pipeline.recall.lexical import sparse_query
from pipeline.recall.points import points
from pipeline.state import IndexPoint, IndexQuery, OutboxItem

ACME = TenantId("acme")
HOME = Scope(tenant=ACME, collection="anna")
EAST = np.array([1, 0, 0, 0], dtype=np.float32)
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def day(number: int) -> datetime:
    return NOON + timedelta(days=number)


def entry(name: str, *, at: int = 0, version: int = 1, **changes: Any) -> Entry:
    fields: dict[str, Any] = {
        "text": "green tea",
        "kind": Kind.FACT,
        "status": Status.ACTIVE,
        "speaker": "Anna",
        "zone": "UTC",
        "language": "en",
        "written_by": Writer.INGEST,
        "written_at": day(at),
        "valid_from": day(at),
        "sources": (MessageId(f"m-{name}"),),
    }
    return Entry(
        id=EntryId(name),
        version=version,
        said_at=day(at),
        order=OrderKey(said_at=day(at), sequence=at + 1, ordinal=0),
        **(fields | changes),
    )


def as_points(
    *versions: Entry,
    scope: Scope = HOME,
    conversation: str = "c1",
    metadata: dict[str, Any] | None = None,
) -> list[IndexPoint]:
    origin = Origin(conversation=conversation, metadata=metadata or {})
    item = OutboxItem(
        ids=(),
        scope=scope,
        entry=versions[0].id,
        versions=tuple((one, EAST) for one in versions),
        sources={source: origin for one in versions for source in one.sources},
    )
    return points(item)


def ask(
    where: dict[str, Any] | None = None,
    *,
    collections: Sequence[str] = ("anna",),
    tenant: TenantId = ACME,
    as_of: datetime | None = None,
) -> IndexQuery:
    return IndexQuery(
        tenant=tenant,
        collections=tuple(collections),
        dense=EAST,
        lexical=sparse_query("tea"),
        limit=300,
        statuses=CURRENT,
        where=None if where is None else parse_filter(where),
        as_of=as_of,
    )


def found(index: VectorIndex, query: IndexQuery) -> list[str]:
    [hits] = index.search([query])
    assert {hit.entry for hit in hits.dense} == {hit.entry for hit in hits.lexical}
    return [hit.entry for hit in hits.dense]


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ({"kind": "task"}, ["task"]),
        ({"task_state": "open"}, ["task"]),
        ({"task_state": {"in": ["open", "done"]}}, ["task"]),
        ({"kind": {"in": ["task", "fact"]}}, ["plain", "task"]),
        ({"status": "tentative"}, ["unsure"]),
        ({"speaker": "王芳"}, ["zh"]),
        ({"language": "zh"}, ["zh"]),
        ({"conversation": "家"}, ["zh"]),
        ({"conversation": {"in": ["家", "none"]}}, ["zh"]),
        ({"said_at": {"gte": "2024-05-04"}}, ["late"]),
        ({"said_at": {"gt": day(0).isoformat()}}, ["late"]),
        ({"said_at": day(9).isoformat()}, ["late"]),
        ({"said_at": {"in": [day(9).isoformat(), "1999-01-01"]}}, ["late"]),
        ({"written_at": {"gte": day(9).isoformat(), "lte": day(9).isoformat()}}, ["late"]),
        ({"valid_from": {"gte": day(9).isoformat()}}, ["late"]),
        ({"valid_to": {"lt": "2100-01-01"}}, ["ends"]),
        ({"metadata.project": "atlas"}, ["noted"]),
        ({'metadata.a.b "c"': 1}, ["noted"]),
        ({"metadata.tags": {"in": ["x", "茶"]}}, ["noted"]),
        ({"metadata.rank": 2}, ["noted"]),
        ({"metadata.done": True}, ["noted"]),
        ({"metadata.rank": {"gt": 100}}, ["noted"]),
        ({"not": {"or": [{"speaker": "Anna"}, {"kind": "task"}]}}, ["zh"]),
        ({"and": [{"kind": "fact"}, {"not": {"conversation": "c1"}}]}, ["zh"]),
        ({"not": {"not": {"speaker": "王芳"}}}, ["zh"]),
    ],
)
def test_a_filter_on_every_field_finds_what_it_names(
    index: VectorIndex, where: dict[str, Any], names: list[str]
) -> None:
    index.upsert(as_points(entry("plain")))
    index.upsert(as_points(entry("task", kind=Kind.TASK)))
    index.upsert(as_points(entry("unsure", kind=Kind.EVENT, status=Status.TENTATIVE)))
    index.upsert(
        as_points(entry("zh", kind=Kind.FACT, speaker="王芳", language="zh"), conversation="家")
    )
    index.upsert(as_points(entry("late", at=9, kind=Kind.EVENT)))
    index.upsert(as_points(entry("ends", kind=Kind.EVENT, valid_to=day(20))))
    index.upsert(
        as_points(
            entry("noted", kind=Kind.EVENT, metadata={"project": "atlas", "rank": 2.0}),
            metadata={'a.b "c"': 1, "tags": ["茶"], "done": True},
        )
    )
    expected = names if names != ["plain", "task"] else ["plain", "task", "zh"]

    assert sorted(found(index, ask(where))) == expected


def test_the_order_of_metadata_is_left_to_the_record_store(index: VectorIndex) -> None:
    index.upsert(as_points(entry("one", metadata={"rank": 1})))
    index.upsert(as_points(entry("none")))

    assert found(index, ask({"metadata.rank": {"gte": 5}})) == ["one"]
    assert found(index, ask({"not": {"metadata.rank": {"lt": 5}}})) == ["none", "one"]
    assert found(index, ask({"or": [{"metadata.rank": {"gte": 5}}, {"speaker": "x"}]})) == ["one"]
    assert found(index, ask({"not": {"or": [{"metadata.rank": {"lt": 5}}, {"speaker": "x"}]}})) == [
        "none",
        "one",
    ]
    assert found(
        index, ask({"not": {"and": [{"metadata.rank": {"lt": 5}}, {"speaker": "Anna"}]}})
    ) == ["none", "one"]


def test_an_entry_with_much_metadata_is_never_missed(index: VectorIndex) -> None:
    index.upsert(as_points(entry("much", metadata={"list": list(range(500))})))

    assert found(index, ask({"metadata.list": 499})) == ["much"]
    assert found(index, ask({"metadata.list": {"gt": 0}})) == ["much"]
    assert found(index, ask({"not": {"metadata.other": 3}})) == ["much"]


@pytest.mark.parametrize(
    ("at", "version"), [(-1, None), (0, 1), (4, 1), (5, 2), (8, 2), (9, None), (90_000, None)]
)
def test_the_version_that_held_at_an_instant_is_found(
    index: VectorIndex, at: int, version: int | None
) -> None:
    first = entry("a", valid_from=day(0))
    second = entry("a", at=5, version=2, valid_from=day(0), written_by=Writer.SLEEP)
    gone = entry(
        "a",
        at=5,
        version=3,
        valid_from=day(0),
        valid_to=day(9),
        status=Status.OUTDATED,
        written_by=Writer.SLEEP,
    )
    index.upsert(as_points(first, second, gone))

    [hits] = index.search([ask(as_of=day(at))])

    assert [hit.version for hit in hits.dense] == ([] if version is None else [version])
    assert found(index, ask()) == []


def test_what_holds_without_end_is_found_at_any_later_instant(index: VectorIndex) -> None:
    index.upsert(as_points(entry("a")))

    assert found(index, ask(as_of=datetime(9999, 1, 1, tzinfo=UTC))) == ["a"]
    assert found(index, ask({"speaker": "Bob"}, as_of=day(1))) == []


def test_several_collections_are_searched_as_one_and_no_other(index: VectorIndex) -> None:
    for name, scope in (
        ("mine", HOME),
        ("also", Scope(tenant=ACME, collection="per")),
        ("other", Scope(tenant=ACME, collection="ola")),
        ("theirs", Scope(tenant=TenantId("globex"), collection="anna")),
    ):
        index.upsert(as_points(entry(name), scope=scope))

    assert found(index, ask(collections=("anna", "per"))) == ["also", "mine"]
    assert found(index, ask(collections=("per", "nobody"))) == ["also"]
    assert found(index, ask(collections=())) == []
    assert found(index, ask(tenant=TenantId("globex"), collections=("anna", "per"))) == ["theirs"]


@pytest.mark.parametrize(
    "where",
    [
        {"not": {"speaker": "nobody"}},
        {"or": [{"not": {"kind": "task"}}, {"kind": "task"}]},
        {"not": {"metadata.tenant": "acme"}},
        {"metadata.tenant": "globex"},
        {"metadata.collection": {"in": ["anna", "ola"]}},
    ],
)
def test_no_filter_reaches_another_tenant(index: VectorIndex, where: dict[str, Any]) -> None:
    theirs = Scope(tenant=TenantId("globex"), collection="anna")
    secret = entry("secret", metadata={"tenant": "globex", "collection": "anna"})
    index.upsert(as_points(secret, scope=theirs))

    assert found(index, ask(where)) == []


def test_points_of_an_older_shape_are_counted(index: VectorIndex) -> None:
    index.upsert(as_points(entry("new")))

    assert index.count_old() == 0


def test_a_point_without_a_shape_is_old() -> None:
    memory = memory_index()
    memory.upsert(as_points(entry("old"), entry("old", version=2)))

    memory._client.delete_payload("entries", ["shape"], points=[as_points(entry("old"))[0].id])

    assert memory.count_old() == 1
    memory.close()


def test_whatever_a_point_carries_is_indexed_on_a_server_that_asks_for_it() -> None:
    [point] = as_points(entry("a", valid_to=day(3)))
    indexed = {TENANT_FIELD, *KEYWORD_FIELDS, *MORE_KEYWORD_FIELDS, *INTEGER_FIELDS, *TIME_FIELDS}

    assert set(payload(point)) - indexed == {"entry", "version"}
    assert BUILD_FIELD not in indexed


PARTS: list[dict[str, Any]] = [
    {"kind": "task"},
    {"speaker": {"in": ["Anna", "王芳"]}},
    {"said_at": {"gte": day(3).isoformat(), "lt": day(7).isoformat()}},
    {"said_at": {"lte": day(5).isoformat()}},
    {"conversation": "c1"},
    {"metadata.rank": {"in": [1, 2]}},
    {"metadata.rank": {"gt": 2}},
    {"language": "zh"},
    {"valid_to": {"gt": day(0).isoformat()}},
]


def _random_filter(rng: np.random.Generator, depth: int) -> dict[str, Any]:
    if depth == 0 or rng.random() < 0.3:
        return PARTS[int(rng.integers(len(PARTS)))]
    if rng.random() < 0.3:
        return {"not": _random_filter(rng, depth - 1)}
    key = ("and", "or")[int(rng.integers(2))]
    return {key: [_random_filter(rng, depth - 1) for _ in range(int(rng.integers(1, 4)))]}


def test_random_filters_find_the_same_everywhere_and_never_too_little(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    edge, memory = EdgeIndex(tmp_path / "index", dim=DIM), memory_index()
    truth: dict[str, tuple[Entry, list[Origin]]] = {}
    for number in range(120):
        one = entry(
            f"{number:03d}",
            at=int(rng.integers(10)),
            kind=list(Kind)[int(rng.integers(8))],
            speaker=["Anna", "Bob", "王芳"][int(rng.integers(3))],
            language=["en", "zh"][int(rng.integers(2))],
            valid_to=[None, day(-1), day(20)][int(rng.integers(3))],
        )
        conversation = ["c1", "c2"][int(rng.integers(2))]
        metadata = [{}, {"rank": int(rng.integers(5))}][int(rng.integers(2))]
        made = as_points(one, conversation=conversation, metadata=metadata)
        truth[one.id] = (one, [Origin(conversation=conversation, metadata=metadata)])
        edge.upsert(made)
        memory.upsert(made)

    for _ in range(40):
        raw = _random_filter(rng, 3)
        where = parse_filter(raw)
        right = {name for name, (one, origins) in truth.items() if holds(where, one, origins)}
        proposed = found(edge, ask(raw))
        assert proposed == found(memory, ask(raw)), raw
        assert right <= set(proposed), raw
        if "'gt': 2" not in str(raw):
            assert right == set(proposed), raw

    edge.close()
    memory.close()


def test_every_combination_of_two_parts_and_a_denial_is_exact_or_wider(tmp_path: Path) -> None:
    edge = EdgeIndex(tmp_path / "index", dim=DIM)
    held = entry("a", at=4, kind=Kind.TASK, metadata={"rank": 3})
    edge.upsert(as_points(held))
    origins = [Origin(conversation="c1", metadata={})]

    for one, other in itertools.product(PARTS, PARTS):
        raw = {"or": [one, {"not": other}]}
        if holds(parse_filter(raw), held, origins):
            assert found(edge, ask(raw)) == ["a"]

    edge.close()
