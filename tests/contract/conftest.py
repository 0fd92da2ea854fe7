"""The stores over a fresh database per test: SQLite always, PostgreSQL where one is named."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from actors.records import Records, open_records
from pipeline.messages import Scope, TenantId

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def records(records_url: str) -> Iterator[Records]:
    """The stores, with the tenants acme and globex."""
    stores = open_records(records_url)
    for name in ("acme", "globex"):
        stores.tenants.ensure_tenant(TenantId(name), NOON)
    yield stores
    stores.close()


@pytest.fixture
def scope() -> Scope:
    """The collection that most tests fill."""
    return Scope(tenant=TenantId("acme"), collection="ola")
