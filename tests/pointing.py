"""A point as the tests of the embedded index and of the processes they start write it."""

from datetime import UTC, datetime

import numpy as np

from pipeline.entries import Kind, Status
from pipeline.ids import EntryId, point_id
from pipeline.messages import Scope, TenantId
from pipeline.recall.lexical import sparse_passage
from pipeline.state import IndexPoint

HOME = Scope(tenant=TenantId("acme"), collection="anna")
EAST = np.array([1, 0, 0, 0], dtype=np.float32)
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def point(entry: str, *, text: str = "green tea") -> IndexPoint:
    return IndexPoint(
        id=point_id(HOME.tenant, EntryId(entry), 1),
        scope=HOME,
        entry=EntryId(entry),
        version=1,
        current=True,
        status=Status.ACTIVE,
        kind=Kind.FACT,
        speaker="Anna",
        said_at=NOON,
        valid_from=NOON,
        valid_to=None,
        dense=EAST,
        lexical=sparse_passage(text),
    )
