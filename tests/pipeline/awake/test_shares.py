"""How a step is shared between tenants and their collections."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.awake.shares import shares
from pipeline.messages import Scope, TenantId


def of(tenant: str, collection: str = "c") -> Scope:
    return Scope(tenant=TenantId(tenant), collection=collection)


def test_a_crowd_gets_what_the_others_leave_but_at_most_half() -> None:
    waiting = {of("big"): 1_000_000, of("a"): 1, of("b"): 3}

    assert shares(waiting, total=100) == {of("big"): 50, of("a"): 1, of("b"): 3}


def test_a_tenant_alone_gets_all() -> None:
    assert shares({of("big"): 1_000, of("idle"): 0}, total=100) == {of("big"): 100, of("idle"): 0}


def test_many_collections_of_one_tenant_count_as_one_tenant() -> None:
    waiting = {of("big", str(n)): 100 for n in range(10)} | {of("a"): 100}

    found = shares(waiting, total=100)

    assert found[of("a")] == 50
    assert sum(found.values()) == 100


def test_every_collection_with_messages_moves() -> None:
    waiting = {of("t", str(n)): 5 for n in range(16)}

    assert set(shares(waiting, total=4).values()) == {1}


@given(
    st.dictionaries(
        st.builds(of, st.sampled_from("abc"), st.sampled_from("xyz")), st.integers(0, 500)
    ),
    st.integers(1, 300),
)
def test_nobody_gets_more_than_waits_and_all_get_about_the_total(
    waiting: dict[Scope, int], total: int
) -> None:
    found = shares(waiting, total=total)

    assert all(found[scope] <= waiting[scope] for scope in waiting)
    assert sum(found.values()) <= total + len(waiting)
    assert all(found[scope] > 0 for scope in waiting if waiting[scope])
