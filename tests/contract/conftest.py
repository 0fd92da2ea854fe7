"""The stores over a fresh database per test: SQLite always, PostgreSQL where one is named."""

import shutil
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from indexing import ADAPTERS, DIM, SERVER, memory_index
from qdrant_client import QdrantClient
from sleep_home import SleepHome

from actors.index_edge import EdgeIndex
from actors.index_server import ServerIndex
from actors.records import Records, open_records
from actors.records.engine import open_engine
from pipeline.messages import Scope, TenantId
from pipeline.ports import VectorIndex

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
def home(records_url: str) -> Iterator[SleepHome]:
    """A collection to write to and sleep over."""
    engine = open_engine(records_url)
    yield SleepHome(engine)
    engine.dispose()


@pytest.fixture
def scope() -> Scope:
    """The collection that most tests fill."""
    return Scope(tenant=TenantId("acme"), collection="ola")


@pytest.fixture(scope="module")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once and copied, since making a folder waits for the disk many times."""
    folder = tmp_path_factory.mktemp("empty") / "index"
    EdgeIndex(folder, dim=DIM).close()
    return folder


@pytest.fixture(params=ADAPTERS)
def index(
    request: pytest.FixtureRequest, tmp_path: Path, empty_folder: Path
) -> Iterator[VectorIndex]:
    if request.param == "edge":
        edge = EdgeIndex(shutil.copytree(empty_folder, tmp_path / "index"), dim=DIM)
        yield edge
        edge.close()
    elif request.param == "memory":
        memory = memory_index()
        yield memory
        memory.close()
    else:
        client = QdrantClient(url=SERVER)
        name = f"test-{uuid.uuid4()}"
        yield ServerIndex(client, collection=name, dim=DIM)
        client.delete_collection(name)
        client.close()
