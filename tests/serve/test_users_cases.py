"""What users of memory systems suffered from, each as a case of its own."""

import asyncio
import io
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from kill_at import MARA, NOON, PLACES, said, worker

from actors.records import Records, open_records
from pipeline.errors import NotFound
from pipeline.messages import MessageState

BOSS = {"Authorization": "Bearer sw_operators-key-of-the-tests-0123456789"}
KETTLE = "The blue kettle holds two litres."
LOCKER = "The locker code is the word maple."
ROOT = Path(__file__).parents[2]


def collection(name: str) -> str:
    return f"/v1/collections/{name}"


def post(house: Any, path: str, *texts: str) -> None:
    messages = [{"role": "user", "speaker": "Mara", "content": text} for text in texts]
    house.client.post(f"{path}/messages", json={"messages": messages}).raise_for_status()


def add(house: Any, path: str, *texts: str) -> None:
    post(house, path, *texts)
    house.client.post(f"{path}/flush").raise_for_status()
    house.work()


def entries(house: Any, path: str) -> list[dict[str, Any]]:
    return list(house.client.get(f"{path}/entries").json()["entries"])


# The same fact twice ------------------------------------------------------------------------------


def test_a_fact_added_32_times_while_workers_extract_is_one_entry(house: Any) -> None:
    path, done = collection("u1"), threading.Event()

    def extract(_number: int) -> None:
        while not done.is_set():
            asyncio.run(house.worker.round())
            time.sleep(0.01)

    def flushed(_number: int) -> None:
        post(house, path, KETTLE)
        house.client.post(f"{path}/flush").raise_for_status()

    with ThreadPoolExecutor(3) as workers, ThreadPoolExecutor(32) as speakers:
        extracting = [workers.submit(extract, number) for number in range(3)]
        list(speakers.map(flushed, range(32)))
        done.set()
        for each in extracting:
            each.result()
    house.work()

    [entry] = entries(house, path)
    assert entry["text"].rstrip(".").endswith("blue kettle holds two litres")
    assert len(entry["sources"]) == 32
    assert house.client.get(path).json()["messages"] == 32


@pytest.mark.parametrize("text", ["The library closes at nine.", "图书馆九点关门。"])
def test_a_fact_added_twice_stays_and_none_is_deleted(house: Any, text: str) -> None:
    path = collection("mara")

    add(house, path, text)
    add(house, path, text)

    [entry] = entries(house, path)
    assert (entry["status"], len(entry["sources"])) == ("active", 2)
    assert house.edge.count() >= 1
    hits = house.client.post(f"{path}/search", json={"query": text}).json()["hits"]
    assert [hit["entry"]["id"] for hit in hits] == [entry["id"]]


# Whose it is --------------------------------------------------------------------------------------


def test_erasing_one_users_memory_leaves_the_others_three_facts(house: Any) -> None:
    facts = ["I live in Oslo.", "I have a cat.", "我喜欢喝茶。"]
    first, second = collection("u1"), collection("u2")
    for path in (first, second):
        add(house, path, *facts)
    before = house.client.get(f"{second}/export").content

    house.client.delete(first).raise_for_status()

    assert house.client.get(f"{first}/entries").status_code == 404
    assert len(entries(house, second)) == 3
    assert house.client.get(f"{second}/export").content == before
    for fact in facts:
        hits = house.client.post(f"{second}/search", json={"query": fact}).json()["hits"]
        assert len(hits) >= 1


@pytest.mark.parametrize(
    "crafted",
    [
        {"filters": {"user_id": {"in": ["u1"]}}},
        {"filters": {"OR": [{"user_id": "u1"}, {"user_id": "u2"}]}},
        {"filters": {"NOT": {"user_id": "u2"}}},
        {"filters": {}},
        {"filters": None},
        {"user_id": "u1"},
        {"collection": "u1"},
        {"tenant": "default"},
    ],
    ids=str,
)
def test_no_filter_of_a_request_reaches_another_users_memory(
    house: Any, crafted: dict[str, Any]
) -> None:
    add(house, collection("u1"), LOCKER)
    add(house, collection("u2"), "The garden is green.")
    question = {"query": "locker code maple"}

    for route in ("search", "context"):
        plain = house.client.post(f"{collection('u2')}/{route}", json=question)
        reply = house.client.post(f"{collection('u2')}/{route}", json=question | crafted)
        unknown = house.client.post(f"{collection('u3')}/{route}", json=question)

        assert "word maple" not in plain.text + reply.text + unknown.text
        assert (plain.status_code, reply.status_code, unknown.status_code) == (200, 422, 404)


# Killed on the way --------------------------------------------------------------------------------


@pytest.fixture
def url(records_url: str) -> str:
    records = open_records(records_url)
    records.tenants.ensure_tenant(MARA.tenant, NOON)
    records.close()
    return records_url


def killed(url: str, place: str) -> str:
    """What a process that died there said before."""
    command = [sys.executable, str(Path(__file__).with_name("kill_at.py")), url, place]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout


def finish(records: Records) -> None:
    """Another worker, once the lease of the dead one has ended, extracts everything."""
    later = NOON + timedelta(minutes=5)
    records.messages.request_flush(MARA)
    while asyncio.run(worker(records, now=later).round()):
        pass


def assert_each_once(records: Records, count: int) -> None:
    stored = records.messages.messages(MARA)
    assert [message.sequence for message in stored] == list(range(1, count + 1))
    assert {message.state for message in stored} == {MessageState.EXTRACTED}
    found = records.entries.entries(MARA).entries
    sources = sorted(source for entry in found for source in entry.sources)
    assert sources == sorted(message.id for message in stored)
    assert records.fsck.check(MARA, repair=False) == []


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_worker_killed_at_any_call_leaves_twenty_facts_stored_once(url: str, place: str) -> None:
    records = open_records(url)
    records.messages.accept(MARA, [said(number) for number in range(20)], now=NOON)
    records.messages.request_flush(MARA)

    killed(url, place)
    finish(records)

    assert_each_once(records, 20)
    records.close()


@pytest.mark.slow
def test_of_twelve_messages_the_seven_said_before_a_kill_are_there(url: str) -> None:
    acknowledged = killed(url, "said").split()
    records = open_records(url)

    finish(records)

    assert acknowledged == [str(number) for number in range(1, 8)]
    assert_each_once(records, 7)
    records.close()


# Moving and erasing many --------------------------------------------------------------------------


def thousand(house: Any, path: str) -> None:
    facts = [f"Parcel {n} lies on shelf {n}. 第{n}件包裹在第{n}层。" for n in range(500)]
    for low in range(0, 500, 50):
        post(house, path, *facts[low : low + 50])
    house.client.post(f"{path}/flush").raise_for_status()
    house.work()


@pytest.mark.slow
def test_a_thousand_entries_imported_twice_are_a_thousand_and_erased_within_a_second(
    house: Any,
) -> None:
    thousand(house, collection("u1"))
    exported = house.client.get(f"{collection('u1')}/export").content
    records: Records = house.records
    copy, now = replace(MARA, collection="u1"), house.clock.now()
    records.tenants.ensure_tenant(copy.tenant, now=now)
    place = {"model": house.embedder.model, "width": house.embedder.dim, "now": now}

    for _ in range(2):
        records.imports.load(copy, io.BytesIO(exported), **place)

    count = records.messages.collection(copy).entries
    assert count == house.client.get(collection("u1")).json()["entries"] >= 1000
    assert b"".join(records.exports.lines(copy)) == exported
    began = time.process_time()
    erased = records.erasure.erase_collection(copy, now=now)
    assert time.process_time() - began < 1.0  # of this process: others may keep it waiting
    assert erased.receipt["entries"] == count
    assert house.client.get(collection("u1")).json()["entries"] == count
    with pytest.raises(NotFound):
        records.messages.collection(copy)
