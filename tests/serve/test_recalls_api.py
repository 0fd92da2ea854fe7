"""Recalls over HTTP and by the client: what was asked, why, and what of it is kept."""

import logging
from datetime import timedelta
from typing import Any

import pytest

from pipeline.errors import StoreError

MARA, PER = "/v1/collections/mara", "/v1/collections/per"


def say(house: Any, at: str, *texts: str) -> None:
    messages = [
        {"role": "user", "speaker": "Mara", "content": text, "said_at": "2025-05-08T12:00:00Z"}
        for text in texts
    ]
    body = {"conversation": "c1", "messages": messages}
    house.client.post(f"{at}/messages", json=body).raise_for_status()
    house.client.post(f"{at}/flush").raise_for_status()
    house.work()


def asked(house: Any, path: str, query: str, **more: Any) -> dict[str, Any]:
    house.clock.advance(timedelta(seconds=1))
    reply = house.client.post(path, json={"query": query, **more})
    reply.raise_for_status()
    found: dict[str, Any] = reply.json()
    return found


def got(house: Any, path: str, **query: Any) -> dict[str, Any]:
    reply = house.client.get(path, params=query)
    reply.raise_for_status()
    found: dict[str, Any] = reply.json()
    return found


def test_a_search_is_a_recall_with_its_entries_versions_scores_and_cost(house: Any) -> None:
    say(house, MARA, "I keep a grey cat.", "我喜欢喝茶。")

    reply = asked(house, f"{MARA}/search", "cat")
    [recall] = got(house, "/v1/recalls")["recalls"]

    assert recall["id"] == reply["recall"]
    assert (recall["kind"], recall["collections"]) == ("search", ["mara"])
    assert recall["query"] is None
    assert len(recall["query_hash"]) == 64
    expected = [
        (hit["entry"]["id"], hit["entry"]["version"], hit["score"]) for hit in reply["hits"]
    ]
    shown = [(one["entry"], one["version"], one["score"]) for one in recall["entries"]]
    assert shown == expected
    assert recall["tokens"] > 0
    assert recall["seconds"] > 0
    assert recall["created_at"] == "2025-06-01T12:00:01Z"


def test_a_context_is_a_recall_and_strengthens_what_it_shows(house: Any) -> None:
    say(house, MARA, "I keep a grey cat.")
    asked(house, f"{MARA}/search", "cat")

    first = asked(house, f"{MARA}/context", "Which cat?")
    asked(house, f"{MARA}/context", "Which cat?")
    found = got(house, "/v1/recalls", collection="mara", limit=2)["recalls"]

    assert [one["kind"] for one in found] == ["context", "context"]
    assert found[1]["id"] == first["recall"]
    assert found[1]["tokens"] == first["tokens"]
    assert [one["entry"] for one in found[1]["entries"]] == first["entries"] != []
    [entry] = got(house, f"{MARA}/entries")["entries"]
    assert entry["strength"] == pytest.approx(1.44)
    assert entry["version"] == 1


def test_why_shows_the_text_then_and_entry_and_messages_now(house: Any) -> None:
    say(house, MARA, "I keep a grey cat.")
    reply = asked(house, f"{MARA}/search", "cat")
    entry = reply["hits"][0]["entry"]
    house.client.patch(
        f"/v1/entries/{entry['id']}",
        json={"text": "I keep a 黑猫."},
        headers={"If-Match": str(entry["version"])},
    ).raise_for_status()

    [reason] = got(house, f"/v1/recalls/{reply['recall']}")["reasons"]

    assert reason["text"] == entry["text"]
    assert (reason["now"]["text"], reason["now"]["version"]) == ("I keep a 黑猫.", 2)
    assert [one["content"] for one in reason["messages"]] == ["I keep a grey cat."]


def test_a_message_erased_since_is_shown_without_words(house: Any) -> None:
    say(house, MARA, "I keep a grey cat.")
    say(house, PER, "I keep a grey dog.")
    reply = asked(house, "/v1/search", "keep", collections=["mara", "per"])
    entry = next(hit["entry"] for hit in reply["hits"] if hit["entry"]["collection"] == "per")
    got(house, "/v1/recalls")
    house.clock.advance(timedelta(seconds=1))

    house.client.delete(f"/v1/entries/{entry['id']}").raise_for_status()

    why = got(house, f"/v1/recalls/{reply['recall']}")
    assert why["recall"]["collections"] == ["mara"]
    assert "dog" not in str(why)


def test_a_recall_of_a_tenant_whose_words_are_kept_shows_its_question(house: Any) -> None:
    say(house, MARA, "I keep a grey cat.")
    setting = {"query": "text", "days": 3}
    house.client.put("/v1/recalls/settings", json=setting).raise_for_status()

    asked(house, f"{MARA}/search", "猫在哪里？")

    assert got(house, "/v1/recalls/settings") == setting
    assert got(house, "/v1/recalls")["recalls"][0]["query"] == "猫在哪里？"
    house.client.put("/v1/recalls/settings", json={}).raise_for_status()
    assert got(house, "/v1/recalls")["recalls"][0]["query"] is None


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/v1/recalls", {"collection": "nobody"}, 404),
        ("/v1/recalls", {"before": "x"}, 404),
        ("/v1/recalls", {"limit": 0}, 422),
        ("/v1/recalls/nothing", {}, 404),
    ],
)
def test_what_is_not_there_is_refused(house: Any, path: str, query: Any, status: int) -> None:
    assert house.client.get(path, params=query).status_code == status


@pytest.mark.parametrize("body", [{"days": 0}, {"query": "some"}, {"kept": 1}])
def test_a_wrong_setting_is_refused(house: Any, body: Any) -> None:
    assert house.client.put("/v1/recalls/settings", json=body).status_code == 422


def test_recalls_that_the_store_refuses_are_lost_aloud_and_no_reply_fails(
    house: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> int:
        raise StoreError("the disk is full")

    say(house, MARA, "I keep a grey cat.")
    monkeypatch.setattr(house.records.recalls, "write", full, raising=False)

    with caplog.at_level(logging.ERROR, logger="slowwave.recalls"):
        asked(house, f"{MARA}/search", "cat")
        assert got(house, "/v1/recalls")["recalls"] == []

    assert house.memory.recalls.lost == 1
    assert "the disk is full" in caplog.text
