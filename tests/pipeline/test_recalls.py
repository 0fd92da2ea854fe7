from pipeline.ids import EntryId, RecallId
from pipeline.messages import TenantId
from pipeline.recalls import part_id, query_hash, recall_of, times_used


def test_a_part_names_its_recall() -> None:
    recall = RecallId("ab12")

    assert [part_id(recall, place) for place in range(3)] == ["ab12", "ab12.2", "ab12.3"]
    assert {recall_of(part_id(recall, place)) for place in range(3)} == {recall}


def test_equal_questions_of_one_tenant_share_a_digest() -> None:
    acme, globex = TenantId("acme"), TenantId("globex")

    assert query_hash(acme, "猫在哪里?") == query_hash(acme, "猫在哪里?")
    assert len({query_hash(acme, "a"), query_hash(acme, "b"), query_hash(globex, "a")}) == 3


def test_an_entry_used_twice_is_in_two_rounds() -> None:
    a, b = EntryId("a"), EntryId("b")

    assert times_used([a, b, a, a]) == [[a, b], [a], [a]]
    assert times_used([]) == []
