"""What the domain needs of the world: models and stores, as laws. Adapters live in ``actors``.

Models take batches and give batches of the same length and order. Stores speak in values of
``pipeline``; every method that takes a tenant or a scope touches nothing of another tenant.
"""

from pipeline.ports.index import EntryKey, IndexSource, Outbox, VectorIndex
from pipeline.ports.models import (
    AttentionModel,
    Clock,
    Compressor,
    Decider,
    Embedder,
    Extractor,
    Purpose,
    Tokenizer,
)
from pipeline.ports.stores import AwakeStore, EntryStore, MessageLog, SleepStore
from pipeline.vectors import Vectors

__all__ = [
    "AttentionModel",
    "AwakeStore",
    "Clock",
    "Compressor",
    "Decider",
    "Embedder",
    "EntryKey",
    "EntryStore",
    "Extractor",
    "IndexSource",
    "MessageLog",
    "Outbox",
    "Purpose",
    "SleepStore",
    "Tokenizer",
    "VectorIndex",
    "Vectors",
]
