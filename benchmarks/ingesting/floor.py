"""The whole pipeline on the embedded models, beside the same models called bare.

The bare models get the same texts in order of arrival, in batches of the same size, with the same
threads, one model after the other, as the single lane of the local profile has them.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from actors.records import open_records
from benchmarks.ingesting.load import BATCH, settle, walk
from benchmarks.stand_in import Running, service
from pipeline.awake.turns import turns
from pipeline.evaluate.report import Claim, at_least
from pipeline.messages import TenantId
from pipeline.recall.text import index_text_of
from serve.batching import MOST_TEXTS
from serve.client import Client
from serve.commands.ingest import Form, read_threads
from serve.commands.parcels import Thread, parcels
from serve.deployments import COMPRESSED_TEXTS
from serve.loading import load_compressor, load_embedder
from serve.local.shipped import shipped
from serve.settings import AppSettings, parse

_ALL = 10_000


def against_the_models(models_dir: Path) -> list[Claim]:
    """The example conversations through the local profile, and through its models."""
    config = shipped("configs/local.yaml").read_text(encoding="utf-8")
    (application,) = yaml.safe_load(config)["applications"]
    args = application["args"]
    with service(args, models_dir=models_dir) as running:
        settings = parse({**args, "home": running.home.path, "models_dir": models_dir})
        walk(running.url, BATCH, "warm")
        running.rest()
        began = time.monotonic()
        count = _post(running, "timed")
        took = time.monotonic() - began
        texts = _texts(settings, "timed")
    floor = _floor_s(settings, texts)
    return [
        at_least("pipeline against its models called bare", floor / took, 0.8, unit="ratio"),
        Claim(claim="pipeline on the embedded models", value=count / took, unit="messages/s"),
        Claim(claim="the models called bare", value=count / floor, unit="messages/s"),
    ]


def _post(running: Running, name: str) -> int:
    """Sends the examples to collections of this name; how many messages, once searchable."""
    count = 0
    with Client(running.url) as client:
        for thread in _examples():
            for parcel in parcels(thread):
                collection = f"{name}-{parcel.collection}"
                client.ingest(collection, parcel.messages, conversation=parcel.conversation)
                count += len(parcel.messages)
    settle(running.url)
    return count


def _examples() -> list[Thread]:
    files = sorted(shipped("examples").glob("*.jsonl"))
    return [thread for file in files for thread in read_threads(file, Form.JSONL, collection=None)]


@dataclass(slots=True)
class _Texts:
    """What was compressed, embedded to find topics, and embedded to be found."""

    said: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)


def _texts(settings: AppSettings, name: str) -> _Texts:
    """Of all collections of this name, in order of arrival."""
    found = _Texts()
    records = open_records(settings.records_url)
    for info in records.messages.collections(TenantId(settings.access.default_tenant)):
        if info.scope.collection.startswith(f"{name}-"):
            messages = records.messages.messages(info.scope, limit=_ALL)
            found.said += [message.content for message in messages]
            found.spoken += [turn.text for turn in turns(messages)]
            entries = records.entries.entries(info.scope, limit=_ALL).entries
            found.written += [index_text_of(entry) for entry in entries]
    records.close()
    return found


def _floor_s(settings: AppSettings, texts: _Texts) -> float:
    """Seconds that the bare models take, loaded and warm."""
    models, where = settings.models, settings.models_dir
    embedder = load_embedder(models.embedder, models_dir=where, threads=models.threads)
    assert models.compressor is not None
    compressor = load_compressor(
        models.compressor, models_dir=where, threads=models.threads, tokenizer=models.tokenizer
    )
    embedder.embed(texts.written[:MOST_TEXTS], purpose="passage")
    compressor.compress(texts.said[:COMPRESSED_TEXTS], rate=settings.compression.rate)
    began = time.monotonic()
    for some in _batches(texts.said, COMPRESSED_TEXTS):
        compressor.compress(some, rate=settings.compression.rate)
    for some in _batches(texts.spoken, MOST_TEXTS):
        embedder.embed(some, purpose="topic")
    for some in _batches(texts.written, MOST_TEXTS):
        embedder.embed(some, purpose="passage")
    return time.monotonic() - began


def _batches(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (texts[start : start + size] for start in range(0, len(texts), size))
