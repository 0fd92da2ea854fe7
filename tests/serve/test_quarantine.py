"""What cannot be extracted, over HTTP: seen with its reason, sent in again, or dropped."""

from typing import Any

import pytest

from actors.fakes import FakeCompressor
from pipeline.errors import MalformedReply

MARA = "/v1/collections/mara"


def fill(house: Any, text: str, *, path: str = MARA) -> None:
    body = {"messages": [{"role": "user", "speaker": "Mara", "content": text}]}
    house.client.post(f"{path}/messages", json=body).raise_for_status()
    house.client.post(f"{path}/flush").raise_for_status()
    house.work()


class Broken:
    """An extractor that cannot read texts with a certain word."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.word: str | None = "苹果"

    async def extract(self, batch: Any, *, options: Any) -> Any:
        texts = [message.content for message in batch.messages]
        if self.word is not None and any(self.word in text for text in texts):
            raise MalformedReply("the reply was cut short", raw='{"items": [{"s')
        return await self._inner.extract(batch, options=options)


@pytest.fixture
def broken(house: Any) -> Broken:
    extracting = house.worker._walk._extracting
    extracting._extractor = Broken(extracting._extractor)
    return extracting._extractor


def test_what_cannot_be_extracted_is_seen_and_sent_in_again(house: Any, broken: Broken) -> None:
    fill(house, "我喜欢苹果。", path="/v1/collections/lin")
    fill(house, "I live in Oslo.")

    [item] = house.client.get("/v1/quarantine").json()["items"]
    [report] = house.client.get("/v1/ingest").json()["tenants"]
    assert (item["collection"], item["message"]["content"]) == ("lin", "我喜欢苹果。")
    assert "cut short" in item["reason"]
    assert item["raw"] == '{"items": [{"s'
    assert (report["extracted"], report["quarantined"]) == (1, 1)
    assert list(report["failures"].values()) == [1]

    broken.word = None
    retried = house.client.post(f"/v1/quarantine/{item['message']['id']}/retry")
    house.client.post("/v1/collections/lin/flush").raise_for_status()
    house.work()

    assert retried.json()["state"] == "retried"
    assert retried.json()["settled_by"] == "a caller without a key"
    entries = house.client.get("/v1/collections/lin/entries").json()["entries"]
    assert len(entries) == 1
    assert house.client.get("/v1/collections/lin").json()["quarantined"] == 0


def test_what_is_dropped_is_done_and_told_by_whom(house: Any, broken: Broken) -> None:
    fill(house, "我喜欢苹果。")
    [item] = house.client.get("/v1/quarantine").json()["items"]

    dropped = house.client.post(f"/v1/quarantine/{item['message']['id']}/drop")
    again = house.client.post(f"/v1/quarantine/{item['message']['id']}/retry")

    assert dropped.json()["state"] == "dropped"
    assert (again.status_code, again.json()["error"]["field"]) == (409, "message")
    assert house.client.get("/v1/quarantine").json()["items"] == []
    [seen] = house.client.get("/v1/quarantine?state=dropped").json()["items"]
    assert seen["settled_at"] == "2025-06-01T12:00:00Z"
    assert house.client.get(f"{MARA}/messages").json()["messages"][0]["content"] == "我喜欢苹果。"


def test_a_message_kept_whole_is_counted_with_the_reason(house: Any) -> None:
    house.worker._walk._models._compressor = FakeCompressor(fails_on="苹果")

    fill(house, "我喜欢苹果。")
    fill(house, "I live in Oslo.")

    [report] = house.client.get("/v1/ingest").json()["tenants"]
    assert (report["extracted"], report["quarantined"]) == (2, 0)
    assert report["fallbacks"] == {"contains 苹果": 1}
