"""The index follows the outbox page by page, and stops where a page was not full."""

from collections.abc import Sequence
from pathlib import Path

from actors.index_edge import EdgeIndex
from pipeline.ids import EntryId
from pipeline.messages import Scope, TenantId
from pipeline.state import OutboxItem
from serve.index import drain

SCOPE = Scope(tenant=TenantId("t"), collection="c")
GONE = "00000000-0000-5000-8000-000000000000"


class ListOutbox:
    """Erased entries, each with one row."""

    def __init__(self, count: int) -> None:
        self.rows = [
            OutboxItem(
                ids=(row,), scope=SCOPE, entry=EntryId(f"e{row}"), versions=(), removed=(GONE,)
            )
            for row in range(count)
        ]

    def pending(self, *, limit: int) -> list[OutboxItem]:
        return self.rows[:limit]

    def done(self, items: Sequence[OutboxItem]) -> None:
        self.rows = [row for row in self.rows if row not in items]

    def lag(self, scope: Scope) -> int:
        return len(self.rows)


def test_a_full_page_may_have_another_behind_it_and_a_short_one_has_none(tmp_path: Path) -> None:
    index, outbox = EdgeIndex(tmp_path / "index", dim=4), ListOutbox(3)

    first, second = drain(index, outbox, limit=2), drain(index, outbox, limit=2)

    assert (first, second, outbox.lag(SCOPE)) == (True, False, 0)
    assert not drain(index, outbox, limit=2)
