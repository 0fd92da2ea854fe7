"""The laws of VectorIndex over every adapter: Edge, the in-memory client, a server where named."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from indexing import ADAPTERS, DIM, SERVER, memory_index

from actors.index_edge import EdgeIndex
from pipeline.entries import CURRENT, Kind, Status
from pipeline.errors import InputError, StoreError
from pipeline.ids import EntryId, point_id
from pipeline.messages import Scope, TenantId
from pipeline.ports import VectorIndex
from pipeline.recall.lexical import sparse_passage, sparse_query
from pipeline.state import IndexHits, IndexPoint, IndexQuery, SparseVector

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
HOME = Scope(tenant=TenantId("acme"), collection="anna")
NOTHING = SparseVector(indices=(), values=())
EAST = np.array([1, 0, 0, 0], dtype=np.float32)
NORTH = np.array([0, 1, 0, 0], dtype=np.float32)
NORTH_EAST = np.array([0.6, 0.8, 0, 0], dtype=np.float32)


def point(
    entry: str,
    text: str = "",
    *,
    dense: np.ndarray = EAST,
    scope: Scope = HOME,
    version: int = 1,
    current: bool = True,
    status: Status = Status.ACTIVE,
    kind: Kind = Kind.FACT,
) -> IndexPoint:
    return IndexPoint(
        id=point_id(scope.tenant, EntryId(f"{scope.collection}/{entry}"), version),
        scope=scope,
        entry=EntryId(entry),
        version=version,
        current=current,
        status=status,
        kind=kind,
        speaker="Anna",
        said_at=NOON,
        valid_from=NOON,
        valid_to=None if status in CURRENT else NOON,
        dense=dense,
        lexical=sparse_passage(text),
    )


def ask(
    text: str = "",
    *,
    dense: np.ndarray = EAST,
    scope: Scope = HOME,
    limit: int = 10,
    statuses: Sequence[Status] = CURRENT,
    kinds: Sequence[Kind] = (),
) -> IndexQuery:
    return IndexQuery(
        tenant=scope.tenant,
        collections=(scope.collection,),
        dense=dense,
        lexical=sparse_query(text),
        limit=limit,
        statuses=tuple(statuses),
        kinds=tuple(kinds),
    )


def found(index: VectorIndex, query: IndexQuery) -> list[str]:
    return [hit.entry for hit in index.search([query])[0].dense]


def found_by_words(index: VectorIndex, query: IndexQuery) -> list[str]:
    return [hit.entry for hit in index.search([query])[0].lexical]


@pytest.mark.live
@pytest.mark.skipif(SERVER is None, reason="SLOWWAVE_TEST_QDRANT names no server")
def test_every_law_below_also_runs_on_the_named_server() -> None:
    assert "server" in ADAPTERS


def test_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    assert index.search([ask("tea")]) == [IndexHits(dense=(), lexical=())]
    assert index.search([]) == []
    assert index.count() == 0


def test_the_most_similar_comes_first_with_its_cosine(index: VectorIndex) -> None:
    index.upsert([point("far", dense=NORTH), point("near"), point("middle", dense=NORTH_EAST)])

    hits = index.search([ask()])[0].dense

    assert [(hit.entry, hit.version, hit.score) for hit in hits] == [
        ("near", 1, 1.0),
        ("middle", 1, 0.6),
        ("far", 1, 0.0),
    ]


def test_writing_a_point_twice_changes_nothing(index: VectorIndex) -> None:
    index.upsert([point("a", "green tea")])
    before = index.search([ask("tea")])

    index.upsert([point("a", "green tea")])

    assert index.search([ask("tea")]) == before
    assert index.count() == 1


def test_a_point_written_again_has_its_new_vectors_only(index: VectorIndex) -> None:
    index.upsert([point("a", "the club meets on Monday"), point("b", "a dog")])

    index.upsert([point("a", "the club meets on Thursday", dense=NORTH)])

    assert found_by_words(index, ask("Thursday")) == ["a"]
    assert found_by_words(index, ask("Monday")) == []
    assert found(index, ask(dense=NORTH, limit=1)) == ["a"]


def test_a_deleted_point_is_gone_and_unknown_ids_are_no_error(index: VectorIndex) -> None:
    gone, kept = point("gone", "tea"), point("kept", "tea")
    index.upsert([gone, kept])

    index.delete([gone.id, str(uuid.UUID(int=7))])
    index.delete([gone.id])
    index.delete([])

    assert found(index, ask()) == ["kept"]
    assert found_by_words(index, ask("tea")) == ["kept"]
    assert index.count(HOME) == 1


CRAFTED = ["", " ", "*", "%", "acme' OR '1'='1", 'a"b', "{}", "acme\n", "ACME", "null", "阿克米"]


@pytest.mark.parametrize("name", CRAFTED)
def test_no_crafted_tenant_or_collection_reaches_another_scope(
    index: VectorIndex, name: str
) -> None:
    other_tenant = Scope(tenant=TenantId(name), collection="anna")
    other_collection = Scope(tenant=TenantId("acme"), collection=name)
    index.upsert([point("secret", "the locker code is maple")])

    assert index.search([ask("locker code", scope=other_tenant)])[0] == IndexHits(
        dense=(), lexical=()
    )
    assert found(index, ask("locker code", scope=other_collection)) == []
    assert index.count(other_tenant) == index.count(other_collection) == 0


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_scope_finds_its_own(index: VectorIndex, name: str) -> None:
    scope = Scope(tenant=TenantId(name), collection=name)
    index.upsert([point("home", "tea"), point("own", "tea", scope=scope)])

    assert found(index, ask(scope=scope)) == ["own"]
    assert found_by_words(index, ask("tea", scope=scope)) == ["own"]


def test_collections_of_one_name_in_two_tenants_stay_apart(index: VectorIndex) -> None:
    other = Scope(tenant=TenantId("globex"), collection="anna")
    index.upsert([point("ours", "tea"), point("theirs", "tea", scope=other)])

    assert found(index, ask()) == ["ours"]
    assert found(index, ask(scope=other)) == ["theirs"]
    assert (index.count(HOME), index.count(other), index.count()) == (1, 1, 2)


def test_other_scopes_do_not_change_a_lexical_score(index: VectorIndex) -> None:
    index.upsert([point("a", "green tea"), point("b", "black coffee")])
    before = index.search([ask("tea")])
    other = Scope(tenant=TenantId("globex"), collection="anna")

    index.upsert([point(f"x{i}", "tea and tea", scope=other) for i in range(50)])

    assert index.search([ask("tea")]) == before


def test_deleted_points_do_not_weigh_in_a_lexical_score(index: VectorIndex) -> None:
    index.upsert([point("a", "green tea"), point("b", "black coffee")])
    before = index.search([ask("tea")])
    extra = [point(f"x{i}", "tea with milk") for i in range(20)]

    index.upsert(extra)
    index.delete([one.id for one in extra])

    assert index.search([ask("tea")]) == before


def test_only_the_asked_statuses_return(index: VectorIndex) -> None:
    index.upsert([point(status.value, "tea", status=status) for status in Status])

    assert found(index, ask()) == ["active", "tentative"]
    assert found_by_words(index, ask("tea", statuses=[Status.OUTDATED])) == ["outdated"]
    assert found(index, ask(statuses=[])) == []


def test_only_the_asked_kinds_return(index: VectorIndex) -> None:
    index.upsert([point("f", "tea", kind=Kind.FACT), point("t", "tea", kind=Kind.TASK)])

    assert found(index, ask(kinds=[Kind.TASK])) == ["t"]
    assert found_by_words(index, ask("tea", kinds=[Kind.TASK, Kind.EVENT])) == ["t"]
    assert found(index, ask()) == ["f", "t"]


def test_an_older_version_is_kept_but_not_found(index: VectorIndex) -> None:
    index.upsert(
        [
            point("a", "lives in Leiden", version=1, current=False),
            point("a", "lives in Delft", version=2, dense=NORTH),
        ]
    )

    hits = index.search([ask("Leiden Delft")])[0]

    assert [(hit.entry, hit.version) for hit in hits.dense] == [("a", 2)]
    assert [(hit.entry, hit.version) for hit in hits.lexical] == [("a", 2)]
    assert index.count(HOME) == 2


def test_ties_are_broken_by_entry_id_also_across_the_limit(index: VectorIndex) -> None:
    names = [f"{number:03d}" for number in range(60)]
    index.upsert([point(name, "tea") for name in reversed(names)])

    assert found(index, ask(limit=5)) == names[:5]
    assert found_by_words(index, ask("tea", limit=5)) == names[:5]
    assert found(index, ask(limit=100)) == names


def test_a_limit_of_nothing_finds_nothing(index: VectorIndex) -> None:
    index.upsert([point("a", "tea")])

    assert index.search([ask("tea", limit=0)]) == [IndexHits(dense=(), lexical=())]


def test_several_queries_get_their_answers_in_order(index: VectorIndex) -> None:
    index.upsert([point("e", "tea"), point("n", "coffee", dense=NORTH)])

    first, second, third = index.search(
        [ask(limit=1), ask("coffee", limit=0), ask("coffee", dense=NORTH, limit=1)]
    )

    assert [hit.entry for hit in first.dense] == ["e"]
    assert first.lexical == second.dense == ()
    assert [hit.entry for hit in third.lexical] == ["n"]


def test_a_rarer_word_weighs_more(index: VectorIndex) -> None:
    index.upsert([point(f"tea{i}", "tea in the garden") for i in range(5)])
    index.upsert([point("kettle", "kettle in the garden")])

    assert found_by_words(index, ask("tea kettle"))[0] == "kettle"


@pytest.mark.parametrize(
    ("query", "entry"),
    [
        ("running", "run"),
        ("Mail me at anna.b@example.org", "mail"),
        ("example.org", "mail"),
        ("order 48-1516", "order"),
        ("猫叫什么名字", "cat"),
        ("太阳", "cat"),
        ("上海", "move"),
        ("東京", "tokyo"),
    ],
)
def test_words_are_found_in_english_chinese_and_japanese(
    index: VectorIndex, query: str, entry: str
) -> None:
    texts = {
        "run": "Anna runs every morning",
        "mail": "her address is anna.b@example.org",
        "order": "the order number is 48-1516",
        "cat": "家里的猫很懒，喜欢晒太阳",
        "move": "王芳去年搬到了上海浦东新区",
        "tokyo": "来月は東京へ行きます",
    }
    index.upsert([point(name, text) for name, text in texts.items()])

    assert found_by_words(index, ask(query))[:1] == [entry]


def test_a_vector_of_another_width_is_refused_and_nothing_written(index: VectorIndex) -> None:
    wide = np.ones(DIM + 1, dtype=np.float32)

    with pytest.raises(InputError, match="shape"):
        index.upsert([point("a"), point("b", dense=wide)])
    with pytest.raises(InputError, match="finite"):
        index.upsert([point("a", dense=np.array([1, np.nan, 0, 0], dtype=np.float32))])
    with pytest.raises(InputError, match="shape"):
        index.search([ask(dense=wide)])
    assert index.count() == 0


WORDS = ["tea", "coffee", "garden", "dog", "train", "river", "猫", "上海", "太阳", "火车"]


def ids(points: Sequence[object]) -> list[str]:
    return [one.id for one in points]


def test_points_are_read_back_as_they_lie(index: VectorIndex) -> None:
    old = point("a", version=1, current=False, status=Status.OUTDATED, dense=NORTH)
    index.upsert([old, point("b")])

    found = index.points([old.id, point_id(HOME.tenant, EntryId("nobody"), 1)])

    [stored] = found.values()
    assert (stored.id, stored.entry, stored.version, stored.current) == (old.id, "a", 1, False)
    assert (stored.scope, stored.status, stored.kind) == (HOME, "outdated", "fact")
    assert stored.valid_to == NOON.isoformat()
    np.testing.assert_allclose(stored.dense, NORTH)
    assert index.points([]) == {}


def test_a_scan_goes_through_all_points_of_a_scope_page_by_page(index: VectorIndex) -> None:
    mine = [point(f"{number}") for number in range(7)]
    other = Scope(tenant=TenantId("globex"), collection="anna")
    index.upsert([*mine, point("x", scope=other)])

    first = index.scan(HOME, limit=3)
    second = index.scan(HOME, after=first[-1].id, limit=3)
    third = index.scan(HOME, after=second[-1].id, limit=3)

    assert ids([*first, *second, *third]) == sorted(ids(mine))
    assert index.scan(HOME, after=third[-1].id, limit=3) == []
    assert len(index.scan()) == 8
    assert len(index.scan(HOME.tenant)) == 7
    assert ids(index.scan(other.tenant)) == [point("x", scope=other).id]
    assert index.scan(TenantId("nobody")) == []


def test_a_rebuilt_index_holds_what_was_written_since_and_answers_meanwhile(
    index: VectorIndex,
) -> None:
    index.upsert([point("gone"), point("kept"), point("changed")])

    index.begin_rebuild("one")
    index.rebuild([point("kept")])
    index.upsert([point("changed", dense=NORTH), point("new")])
    index.delete([point("new").id])
    meanwhile = found(index, ask())
    index.end_rebuild()

    assert sorted(meanwhile) == ["changed", "gone", "kept"]
    assert sorted(found(index, ask())) == ["changed", "kept"]
    np.testing.assert_allclose(index.points([point("changed").id]).popitem()[1].dense, NORTH)
    index.upsert([point("later")])
    assert index.count(HOME) == 3


def test_a_rebuild_begun_again_forgets_the_one_before(index: VectorIndex) -> None:
    index.upsert([point("a")])
    index.begin_rebuild("one")
    index.rebuild([point("b")])

    index.begin_rebuild("two")
    index.rebuild([point("c")])
    index.end_rebuild()

    assert found(index, ask()) == ["c"]


def test_a_rebuild_that_was_not_begun_is_refused(index: VectorIndex) -> None:
    with pytest.raises(StoreError, match="no rebuild"):
        index.rebuild([point("a")])
    with pytest.raises(StoreError, match="no rebuild"):
        index.end_rebuild()


def _random_points(rng: np.random.Generator, count: int, dim: int) -> list[IndexPoint]:
    scopes = [Scope(tenant=TenantId(f"t{i % 2}"), collection=f"c{i % 3}") for i in range(6)]
    return [
        point(
            str(uuid.UUID(int=int(rng.integers(2**60)))),
            " ".join(rng.choice(WORDS, size=rng.integers(1, 9))),
            dense=rng.normal(size=dim).astype(np.float32),
            scope=scopes[number % 6],
            current=bool(rng.random() < 0.8),
            status=list(Status)[int(rng.integers(5))],
            kind=list(Kind)[int(rng.integers(3))],
        )
        for number in range(count)
    ]


def _random_queries(rng: np.random.Generator, count: int, dim: int) -> list[IndexQuery]:
    return [
        ask(
            " ".join(rng.choice(WORDS, size=3)),
            dense=rng.normal(size=dim).astype(np.float32),
            scope=Scope(tenant=TenantId(f"t{number % 2}"), collection=f"c{number % 3}"),
            limit=int(rng.integers(1, 60)),
            kinds=[Kind.FACT, Kind.OPINION] if number % 4 == 0 else [],
        )
        for number in range(count)
    ]


def _assert_same(one: list[IndexHits], other: list[IndexHits]) -> None:
    for left, right in zip(one, other, strict=True):
        for ours, theirs in ((left.dense, right.dense), (left.lexical, right.lexical)):
            assert [(hit.entry, hit.version) for hit in ours] == [
                (hit.entry, hit.version) for hit in theirs
            ]
            assert [hit.score for hit in ours] == pytest.approx(
                [hit.score for hit in theirs], abs=2e-6
            )


def test_the_adapters_agree_on_random_points_also_after_changes_and_deletes(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(7)
    edge, memory = EdgeIndex(tmp_path / "index", dim=16), memory_index(dim=16)
    points, queries = _random_points(rng, 500, 16), _random_queries(rng, 20, 16)
    changed = [replace(one, status=Status.ACTIVE, current=True) for one in points[::5]]

    for adapter in (edge, memory):
        adapter.upsert(points)
    _assert_same(edge.search(queries), memory.search(queries))
    for adapter in (edge, memory):
        adapter.upsert(changed)
        adapter.delete([one.id for one in points[1::4]])
    _assert_same(edge.search(queries), memory.search(queries))
    edge.optimise()
    _assert_same(edge.search(queries), memory.search(queries))

    edge.close()
    memory.close()
