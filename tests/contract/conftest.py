"""A fresh record store per test: SQLite always, PostgreSQL where one is named."""

import os
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from actors.records import Records, open_records
from pipeline.messages import Scope, TenantId

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgres"])
def records_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database; a schema of its own on PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/records.db"
        return
    server = os.environ.get("SLOWWAVE_TEST_POSTGRES")
    if server is None:
        pytest.skip("SLOWWAVE_TEST_POSTGRES names no server")
    schema = f"test_{uuid.uuid4().hex}"
    admin = create_engine(server.replace("postgresql://", "postgresql+psycopg://"))
    with admin.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    yield f"{server}?options=-csearch_path%3D{schema}"
    with admin.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    admin.dispose()


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
