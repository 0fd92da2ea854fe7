"""What the domain needs of the world: models and stores, as laws. Adapters live in ``actors``.

Models take batches and give batches of the same length and order. Stores speak in values of
``pipeline``; every method that takes a tenant or a scope touches nothing of another tenant.
"""

from pipeline.ports.index import EntryKey, IndexSource, Outbox, VectorIndex
from pipeline.ports.models import (
    AskingDecider,
    AttentionModel,
    ChatModel,
    ChunkedCompressor,
    Clock,
    Compressor,
    Decider,
    Embedder,
    EntailmentModel,
    Extractor,
    Products,
    Purpose,
    Reranker,
    Tokenizer,
)
from pipeline.ports.sleep import Schedules
from pipeline.ports.stores import AwakeStore, EntryStore, MessageLog, SleepStore
from pipeline.ports.tending import TendingStore
from pipeline.vectors import Vectors

__all__ = [
    "AskingDecider",
    "AttentionModel",
    "AwakeStore",
    "ChatModel",
    "ChunkedCompressor",
    "Clock",
    "Compressor",
    "Decider",
    "Embedder",
    "EntailmentModel",
    "EntryKey",
    "EntryStore",
    "Extractor",
    "IndexSource",
    "MessageLog",
    "Outbox",
    "Products",
    "Purpose",
    "Reranker",
    "Schedules",
    "SleepStore",
    "TendingStore",
    "Tokenizer",
    "VectorIndex",
    "Vectors",
]
