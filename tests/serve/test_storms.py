"""Storms of equal requests: one key is one message, and one fact is one entry with all sources."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from serve.client import Client
from serve.local.home import home_at
from serve.local.service import Plan, down, up

BOSS = {"Authorization": "Bearer sw_operators-key-of-the-tests-0123456789"}
MARA = "/v1/collections/mara"
STORM = 64
KETTLES = ["The blue kettle holds two litres.", "蓝色的水壶能装两升水。"]

Send = Callable[[int], httpx.Response]


def said(*texts: str, **more: str) -> dict[str, Any]:
    messages = [{"role": "user", "speaker": "Mara", "content": text, **more} for text in texts]
    return {"messages": messages}


def at_once(send: Send) -> list[httpx.Response]:
    """What ``send`` answers to 0..63, all sent at the same moment."""
    line = threading.Barrier(STORM)

    def begin(number: int) -> httpx.Response:
        line.wait()
        return send(number)

    with ThreadPoolExecutor(STORM) as pool:
        return list(pool.map(begin, range(STORM)))


def posting(house: Any, body: Callable[[int], Any], **headers: str) -> Send:
    given = {**BOSS, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return lambda number: house.client.post(f"{MARA}/messages", json=body(number), headers=given)


def stored(house: Any) -> list[dict[str, Any]]:
    reply = house.client.get(f"{MARA}/messages?limit=1000", headers=BOSS)
    return list(reply.json()["messages"])


def entries(house: Any) -> list[dict[str, Any]]:
    house.client.post(f"{MARA}/flush", headers=BOSS).raise_for_status()
    house.work()
    reply = house.client.get(f"{MARA}/entries?limit=1000", headers=BOSS)
    return list(reply.json()["entries"])


def test_a_storm_with_one_key_is_one_message(each_closed: Any) -> None:
    replies = at_once(posting(each_closed, lambda _: said(KETTLES[0]), idempotency_key="k"))

    assert {reply.status_code for reply in replies} == {202}
    assert len({reply.text for reply in replies}) == 1
    assert [message["sequence"] for message in stored(each_closed)] == [1]
    assert [len(entry["sources"]) for entry in entries(each_closed)] == [1]


def test_a_storm_with_one_message_id_is_one_message(each_closed: Any) -> None:
    body = said(KETTLES[1], message_id="m-壹")
    replies = at_once(posting(each_closed, lambda _: body))

    assert {reply.status_code for reply in replies} == {202}
    assert len({reply.text for reply in replies}) == 1
    assert [message["message_id"] for message in stored(each_closed)] == ["m-壹"]


def test_a_storm_without_a_key_is_64_messages_and_one_entry_per_fact(each_closed: Any) -> None:
    replies = at_once(posting(each_closed, lambda _: said(*KETTLES)))

    sequences = sorted(one for reply in replies for one in reply.json()["sequences"])
    assert sequences == list(range(1, 2 * STORM + 1))
    messages = stored(each_closed)
    assert Counter(message["content"] for message in messages) == dict.fromkeys(KETTLES, STORM)
    found = entries(each_closed)
    assert len(found) == len(KETTLES)
    for entry in found:
        [said_as] = {m["content"] for m in messages if m["id"] == entry["sources"][0]["id"]}
        ids = {message["id"] for message in messages if message["content"] == said_as}
        assert {source["id"] for source in entry["sources"]} == ids
        assert entry["status"] == "active"


def test_of_two_bodies_with_one_key_one_is_stored_and_the_other_refused(each_closed: Any) -> None:
    send = posting(each_closed, lambda number: said(KETTLES[number % 2]), idempotency_key="k")
    replies = at_once(send)

    [message] = stored(each_closed)
    winner = KETTLES.index(message["content"])
    statuses = [reply.status_code for reply in replies]
    assert statuses[winner::2] == [202] * (STORM // 2)
    assert statuses[1 - winner :: 2] == [409] * (STORM // 2)
    refused = replies[1 - winner].json()["error"]
    assert (refused["type"], refused["field"]) == ("Conflict", "Idempotency-Key")


def test_of_two_contents_with_one_message_id_one_is_stored(each_closed: Any) -> None:
    send = posting(each_closed, lambda number: said(KETTLES[number % 2], message_id="m"))
    replies = at_once(send)

    [message] = stored(each_closed)
    winner = KETTLES.index(message["content"])
    statuses = [reply.status_code for reply in replies]
    assert statuses[winner::2] == [202] * (STORM // 2)
    assert statuses[1 - winner :: 2] == [409] * (STORM // 2)
    assert replies[1 - winner].json()["error"]["field"] == "messages[0].message_id"


# The real service ---------------------------------------------------------------------------------


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    """The address of a whole service with models that stand in for the real ones."""
    names = ("Ingress", "Embedder", "Compressor", "Segmenter", "IngestWorkers")
    args = {
        "access": {"keys_required": False},
        "models": dict.fromkeys(("embedder", "compressor", "extractor", "tokenizer"), "fake"),
        "segmentation": {"max_similarity": 0.5},
        "consolidation": {"min_similarity": 0.5},
        "deployments": {name: {"num_cpus": 0.5} for name in names},
    }
    application = {"name": "slowwave", "import_path": "serve.app:build", "args": args}
    config = tmp_path / "storm.yaml"
    config.write_text(yaml.safe_dump({"applications": [application]}))
    home = home_at(tmp_path / "home")
    home.prepare()
    plan = Plan(config=config, models_dir=tmp_path)
    try:
        yield up(home, plan, say=lambda line: None).service.url
    finally:
        down(home, say=lambda line: None)


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_storm_over_http_is_one_message_with_a_key_and_64_without(service: str) -> None:
    def post(collection: str, **headers: str) -> Send:
        def send(_number: int) -> httpx.Response:
            url = f"{service}/v1/collections/{collection}/messages"
            while True:
                reply = httpx.post(url, json=said(*KETTLES), headers=headers, timeout=60)
                if reply.status_code != 429:  # more at once than the service takes: come again
                    return reply

        return send

    keyed = at_once(post("keyed", **{"Idempotency-Key": "k"}))
    plain = at_once(post("plain"))

    assert {reply.status_code for reply in [*keyed, *plain]} == {202}
    assert len({reply.text for reply in keyed}) == 1
    assert len({reply.text for reply in plain}) == STORM
    with Client(service) as client:
        for collection, sources in (("keyed", 1), ("plain", STORM)):
            assert client.flush(collection, wait=True)["searchable"]
            found = list(client.all_entries(collection))
            assert sorted(entry["text"] for entry in found) == sorted(KETTLES)
            assert [len(entry["sources"]) for entry in found] == [sources] * len(KETTLES)
            assert len(client.messages(collection, limit=1000)) == sources * len(KETTLES)
