"""What only the server index has: a collection that may exist, and a server that may not."""

from collections.abc import Iterator

import pytest
from qdrant_client import QdrantClient, models

from actors.index_server import ServerIndex
from pipeline.errors import ConfigError, StoreError


@pytest.fixture
def client() -> Iterator[QdrantClient]:
    memory = QdrantClient(":memory:")
    yield memory
    memory.close()


def test_an_existing_collection_is_used_again(client: QdrantClient) -> None:
    ServerIndex(client, collection="entries", dim=4)

    assert ServerIndex(client, collection="entries", dim=4).count() == 0


def test_another_width_is_refused_with_both_numbers(client: QdrantClient) -> None:
    ServerIndex(client, collection="entries", dim=4)

    with pytest.raises(ConfigError, match=r"4 numbers.*gives 8"):
        ServerIndex(client, collection="entries", dim=8)

    assert ServerIndex(client, collection="entries", dim=4).count() == 0


def test_a_collection_that_is_no_index_is_refused_and_left_alone(client: QdrantClient) -> None:
    other = models.VectorParams(size=4, distance=models.Distance.DOT)
    client.create_collection("notes", vectors_config=other)

    with pytest.raises(ConfigError, match="something else than entries"):
        ServerIndex(client, collection="notes", dim=4)

    assert client.get_collection("notes").config.params.vectors == other


def test_a_closed_client_is_a_store_error(client: QdrantClient) -> None:
    index = ServerIndex(client, collection="entries", dim=4)
    index.close()

    with pytest.raises(StoreError, match="entries"):
        index.count()


def test_a_server_that_is_not_there_is_a_store_error() -> None:
    client = QdrantClient(url="http://127.0.0.1:9", check_compatibility=False, timeout=2)

    with pytest.raises(StoreError, match="entries"):
        ServerIndex(client, collection="entries", dim=4)

    client.close()
