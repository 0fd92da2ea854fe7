"""The HTTP application over real stores: what goes in comes out, what is bad is named."""

import base64
import json
from typing import Any

import pytest

MARA = "/v1/collections/mara"


def say(*texts: str, **extra: Any) -> dict[str, Any]:
    messages = [
        {"role": "user", "speaker": "Mara", "content": text, "said_at": "2025-05-08T12:00:00Z"}
        for text in texts
    ]
    return {"conversation": "c1", "messages": messages, **extra}


def fill(house: Any, *texts: str) -> None:
    house.client.post(f"{MARA}/messages", json=say(*texts)).raise_for_status()
    house.client.post(f"{MARA}/flush").raise_for_status()
    house.work()


def test_what_is_accepted_has_gapless_sequences(house: Any) -> None:
    first = house.client.post(f"{MARA}/messages", json=say("I live in Lisbon.", "I like tea."))
    second = house.client.post(f"{MARA}/messages", json=say("I have a cat."))

    assert first.status_code == 202
    assert first.json()["sequences"] + second.json()["sequences"] == [1, 2, 3]


def test_a_question_gets_the_statement_back_with_its_source(house: Any) -> None:
    fill(house, "I moved to Lisbon in March 2025.", "My cat Biscuit is six years old.")

    reply = house.client.post(f"{MARA}/search", json={"query": "cat Biscuit", "explain": True})

    hit = reply.json()["hits"][0]
    assert "Biscuit" in hit["entry"]["text"]
    assert [source["sequence"] for source in hit["entry"]["sources"]] == [2]
    assert hit["explain"]["lexical_rank"] == 1


def test_a_chinese_question_gets_a_chinese_statement(house: Any) -> None:
    fill(house, "我上个月搬到了杭州。", "我的猫叫豆豆，喜欢晒太阳。")

    hits = house.client.post(f"{MARA}/search", json={"query": "豆豆"}).json()["hits"]

    assert "豆豆" in hits[0]["entry"]["text"]
    assert hits[0]["entry"]["language"] == "zh"


def test_a_message_is_visible_to_context_before_it_is_extracted(house: Any) -> None:
    house.client.post(f"{MARA}/messages", json=say("The locker code is maple."))

    reply = house.client.post(f"{MARA}/context", json={"query": "locker", "budget_tokens": 300})

    assert "maple" in reply.json()["text"]
    assert reply.json()["tokens"] <= 300


def test_a_correction_is_a_new_version_that_search_finds(house: Any) -> None:
    fill(house, "The meeting is on Monday.")
    entry = house.client.get(f"{MARA}/entries").json()["entries"][0]

    changed = house.client.patch(
        f"/v1/entries/{entry['id']}",
        json={"text": "The meeting is on Thursday."},
        headers={"If-Match": str(entry["version"])},
    )

    assert changed.json()["version"] == entry["version"] + 1
    found = house.client.post(f"{MARA}/search", json={"query": "Thursday meeting"}).json()["hits"]
    assert found[0]["entry"]["text"] == "The meeting is on Thursday."
    history = house.client.get(f"/v1/entries/{entry['id']}/history").json()["versions"]
    assert [version["entry"]["text"] for version in history] == [
        entry["text"],
        "The meeting is on Thursday.",
    ]


def test_a_correction_of_another_version_is_refused(house: Any) -> None:
    fill(house, "The meeting is on Monday.")
    entry = house.client.get(f"{MARA}/entries").json()["entries"][0]

    reply = house.client.patch(
        f"/v1/entries/{entry['id']}", json={"text": "No."}, headers={"If-Match": "7"}
    )

    assert reply.status_code == 409


def test_the_same_idempotency_key_gives_the_same_messages(house: Any) -> None:
    key = {"Idempotency-Key": "k1"}

    first = house.client.post(f"{MARA}/messages", json=say("Yes."), headers=key).json()
    again = house.client.post(f"{MARA}/messages", json=say("Yes."), headers=key).json()
    other = house.client.post(f"{MARA}/messages", json=say("No."), headers=key)

    assert first == again
    assert other.status_code == 409


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (say(""), "messages[0].content"),
        (say("   "), "messages[0].content"),
        (say("a\x00b"), "messages[0].content"),
        ({"messages": [{"role": "wizard", "content": "hi"}]}, "messages[0].role"),
        (
            {"messages": [{"role": "user", "content": "hi", "said_at": "soonish"}]},
            "messages[0].said_at",
        ),
        (
            {"messages": [{"role": "user", "content": "hi", "said_at": True}]},
            "messages[0].said_at",
        ),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": "hi", "colour": 1}]}, "messages[0].colour"),
        (
            {"messages": [{"role": "user", "content": "hi", "metadata": {"a": ["\x00"]}}]},
            "messages[0].metadata",
        ),
        ({"conversation": "", "messages": [{"role": "user", "content": "hi"}]}, "conversation"),
    ],
)
def test_bad_input_names_the_field_and_stores_nothing(
    house: Any, body: dict[str, Any], field: str
) -> None:
    good = {"role": "user", "content": "fine", "said_at": "2025-05-08T12:00:00Z"}
    mixed = {**body, "messages": [*body["messages"], good]} if body["messages"] else body

    reply = house.client.post(f"{MARA}/messages", json=mixed)

    assert reply.status_code == 422
    assert reply.json()["error"]["field"] == field
    assert house.client.get("/v1/collections").json() == {"collections": []}


@pytest.mark.parametrize(
    "raw",
    [
        b'{"messages": [{"role": "user", "content": "\\ud83d"}]}',
        b'{"messages": [{"role": "user", "content": "hi", "metadata": {"a": "\\ud83d"}}]}',
        b'{"messages": [{"role": "user", "content": "hi", "message_id": "\\udc00"}]}',
        b'{"messages": [',
        b"[]",
        b'"text"',
        b"\xff\xfe",
    ],
)
def test_what_is_not_clean_json_is_refused(house: Any, raw: bytes) -> None:
    reply = house.client.post(
        f"{MARA}/messages", content=raw, headers={"content-type": "application/json"}
    )

    assert reply.status_code == 422
    assert reply.json()["error"]["message"]
    assert house.client.get("/v1/collections").json() == {"collections": []}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/collections/nobody", None),
        ("GET", "/v1/collections/nobody/entries", None),
        ("GET", "/v1/collections/nobody/messages", None),
        ("GET", "/v1/collections/nobody/segments", None),
        ("POST", "/v1/collections/nobody/search", {"query": "x"}),
        ("POST", "/v1/collections/nobody/context", {"query": "x"}),
        ("POST", "/v1/collections/nobody/flush", {}),
        ("GET", "/v1/entries/none", None),
        ("GET", "/v1/entries/none/history", None),
        ("POST", "/v1/sleep/runs", {"collection": "nobody"}),
        ("GET", "/v1/sleep/runs/none", None),
        ("POST", "/v1/sleep/runs/none/undo", None),
        ("GET", "/v1/nothing", None),
    ],
)
def test_what_is_unknown_is_404(house: Any, method: str, path: str, body: object) -> None:
    reply = house.client.request(method, path, json=body)

    assert reply.status_code == 404
    assert reply.json()["error"]["type"] == "NotFound"
    assert house.client.get("/v1/collections").json() == {"collections": []}


@pytest.mark.parametrize(
    ("method", "path", "field"),
    [
        ("GET", "/v1/entries/a%00b", "entry"),
        ("GET", "/v1/entries/%00/history", "entry"),
        ("PATCH", "/v1/entries/%00", "entry"),
        ("DELETE", "/v1/entries/%00", "entry"),
        ("DELETE", f"{MARA}/conversations/%00", "name"),
        ("DELETE", "/v1/tenants/%00", "name"),
        ("POST", "/v1/tenants/%00/disable", "tenant"),
        ("GET", "/v1/sleep/runs/%00", "run"),
        ("GET", "/v1/sleep/runs/%00/decisions", "run"),
        ("POST", "/v1/sleep/runs/%00/undo", "run"),
        ("POST", "/v1/quarantine/%00/retry", "message"),
        ("POST", "/v1/quarantine/%00/drop", "message"),
        ("GET", "/v1/collections/%00/messages", "collection"),
        ("GET", f"{MARA}/messages?after={2**63}", "after"),
    ],
)
def test_what_no_store_can_hold_is_refused_by_name(
    house: Any, method: str, path: str, field: str
) -> None:
    body = {"text": "x"} if method == "PATCH" else None
    reply = house.client.request(method, path, json=body, headers={"If-Match": "1"})

    assert reply.status_code == 422
    assert reply.json()["error"]["field"] == field


@pytest.mark.parametrize(
    "place",
    [["2024-03-01T12:00:00+00:00", 2**63, 0, "e"], ["2024-03-01T12:00:00+00:00", 0, 0, "\x00"]],
)
def test_a_forged_cursor_is_refused_by_name(house: Any, place: list[object]) -> None:
    fill(house, "I like tea.")
    cursor = base64.urlsafe_b64encode(json.dumps(place).encode()).decode()

    reply = house.client.get(f"{MARA}/entries", params={"cursor": cursor})

    assert (reply.status_code, reply.json()["error"]["field"]) == (422, "cursor")


@pytest.mark.parametrize("value", ["Infinity", "NaN", "[" * 40 + "]" * 40, '"\\u0000"'])
def test_a_correction_takes_no_metadata_that_cannot_be_stored(house: Any, value: str) -> None:
    fill(house, "I like tea.")
    [entry] = house.client.get(f"{MARA}/entries").json()["entries"]

    reply = house.client.patch(
        f"/v1/entries/{entry['id']}",
        content=f'{{"metadata": {{"a": {value}}}}}',
        headers={"If-Match": "1", "content-type": "application/json"},
    )

    assert (reply.status_code, reply.json()["error"]["field"]) == (422, "metadata")


@pytest.mark.parametrize("days", [0, 36_501, 10**30])
def test_a_retention_that_no_calendar_holds_is_refused(house: Any, days: int) -> None:
    reply = house.client.put("/v1/retention", json={"days": days})

    assert (reply.status_code, reply.json()["error"]["field"]) == (422, "days")
    assert house.client.post("/v1/retention/run").json() == {"redacted": 0}


@pytest.mark.parametrize("body", [{}, {"query": ""}, {"query": "a\x00b"}, {"query": 5}])
def test_a_question_that_cannot_be_asked_is_named(house: Any, body: object) -> None:
    fill(house, "I like tea.")

    for path in ("search", "context"):
        reply = house.client.post(f"{MARA}/{path}", json=body)

        assert reply.status_code == 422
        assert reply.json()["error"]["field"] == "query"


def test_a_very_long_message_is_accepted_and_extracted(house: Any) -> None:
    fill(house, "The kettle holds two litres. " * 2000)

    info = house.client.get(MARA).json()

    assert info["pending"] == 0
    assert info["entries"] >= 1


def test_a_message_over_the_limit_is_too_large(house: Any) -> None:
    reply = house.client.post(f"{MARA}/messages", json=say("x" * 100_001))

    assert reply.status_code == 413
    assert reply.json()["error"]["field"] == "messages[0].content"


def test_a_key_that_nobody_has_is_refused(house: Any) -> None:
    reply = house.client.get("/v1/collections", headers={"Authorization": "Bearer nope"})

    assert reply.status_code == 401


def test_segments_show_topics_and_messages(house: Any) -> None:
    fill(house, *[f"My cat Biscuit sleeps on chair {n}." for n in range(12)])

    segments = house.client.get(f"{MARA}/segments").json()["segments"]

    assert sum(segment["messages"] for segment in segments) == 12
    assert all(segment["topic"] for segment in segments)


def test_a_sleep_run_is_listed_and_read(house: Any) -> None:
    started = house.client.post("/v1/sleep/runs", json={"wait": True}).json()

    assert started["status"] == "completed"
    assert house.client.get("/v1/sleep/runs").json()["runs"][0]["id"] == started["id"]
    decisions = house.client.get(f"/v1/sleep/runs/{started['id']}/decisions").json()
    assert decisions == {"decisions": []}


def test_health_and_readiness_answer(house: Any) -> None:
    assert house.client.get("/healthz").json()["status"] == "ok"
    assert house.client.get("/readyz").json()["status"] == "ready"


def test_a_repeat_without_a_time_of_its_own_is_the_same_message(house: Any) -> None:
    message = {"role": "user", "speaker": "Mara", "content": "我回来了。", "message_id": "m1"}
    body = {"conversation": "c2", "messages": [message]}
    first = house.client.post(f"{MARA}/messages", json=body).json()
    later = {**message, "message_id": "m2", "said_at": "2025-09-01T08:00:00Z"}
    house.client.post(f"{MARA}/messages", json={"conversation": "c2", "messages": [later]})

    again = house.client.post(f"{MARA}/messages", json=body)

    assert again.status_code == 202
    assert again.json() == first


def test_a_name_that_is_no_utf8_is_refused(house: Any) -> None:
    reply = house.client.post("/v1/collections/%ff/messages", json=say("I like tea."))

    assert reply.status_code == 422
    assert reply.json()["error"]["field"] == "collection"
    assert house.client.get("/v1/collections").json()["collections"] == []
