"""The adapters of the vector index that the contract runs over."""

import os

from qdrant_client import QdrantClient

from actors.index_server import ServerIndex

DIM = 4
SERVER = os.environ.get("SLOWWAVE_TEST_QDRANT")
ADAPTERS = ["edge", "memory", *(["server"] if SERVER else [])]


def memory_index(dim: int = DIM) -> ServerIndex:
    return ServerIndex(QdrantClient(":memory:"), collection="entries", dim=dim)
