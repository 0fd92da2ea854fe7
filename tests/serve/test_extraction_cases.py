"""What users suffered from in extraction, each as a case, by rules and by a chat model."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from actors.extractor_chat import ChatExtractor
from actors.fakes import FakeTokenizer, Scripted, ScriptedChat
from pipeline.awake.chat_extract import Limits
from pipeline.chat import ChatRequest
from pipeline.errors import LimitError

PATH = "/v1/collections/mara"
LINE = re.compile(r"^([a-z]{2,3}) \*?([^:]+): (.*)$", re.MULTILINE)


def each_line(request: ChatRequest) -> str:
    """One statement for every line, in its own words."""
    items = [f"{m[1]} fact: {m[3]}" for m in LINE.finditer(request.user)]
    return json.dumps({"items": items}, ensure_ascii=False)


def with_chat(house: Any, *script: Scripted) -> ScriptedChat:
    """The house extracts by a chat model from now on."""
    chat = ScriptedChat(*script)
    limits = Limits(attempts=2, request_tokens=6000, reply_tokens=4000)
    extractor = ChatExtractor(chat=chat, tokenizer=FakeTokenizer(), limits=limits)
    house.worker._walk._extracting._extractor = extractor
    return chat


@pytest.fixture(params=["rules", "chat"])
def either(request: pytest.FixtureRequest, house: Any) -> Any:
    """A house that extracts by rules, and one by a chat model that repeats what it reads."""
    if request.param == "chat":
        with_chat(house, each_line)
    return house


def add(house: Any, *messages: dict[str, Any], zone: str | None = None) -> None:
    body: dict[str, Any] = {"messages": list(messages)} | ({"zone": zone} if zone else {})
    house.client.post(f"{PATH}/messages", json=body).raise_for_status()
    house.client.post(f"{PATH}/flush").raise_for_status()
    house.work()


def said(content: str, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content} | more


def entries(house: Any) -> list[dict[str, Any]]:
    return list(house.client.get(f"{PATH}/entries").json()["entries"])


def test_boot_prompts_and_recalled_memories_are_never_extracted(either: Any) -> None:
    for _ in range(20):
        add(
            either,
            said("You are a gardening helper. Memory: the user prefers clay pots.", "system"),
            said('{"memory": "Prefers clay pots"}', "tool"),
            said("hello"),
        )

    found = entries(either)
    assert len(found) <= 1
    assert all("clay" not in entry["text"] and "helper" not in entry["text"] for entry in found)


@pytest.mark.parametrize("granularity", ["turn", "segment", "conversation"])
def test_no_label_that_a_model_is_shown_holds_system_text(house: Any, granularity: str) -> None:
    chat = with_chat(house, each_line)
    house.client.put(f"{PATH}/settings", json={"granularity": granularity}).raise_for_status()

    add(
        house,
        said("I cook lentil soup."),
        said("Secret zebras: zebras guard the secret. 斑马", "system"),
        said('{"tool": "zebras"}', "tool"),
        said("我喜欢喝茶。"),
    )

    shown = "\n".join(request.user for request in chat.asked)
    segments = house.client.get(f"{PATH}/segments").json()["segments"]
    assert "lentil" in shown
    assert "zebra" not in shown.lower() + str([each["topic"] for each in segments]).lower()
    assert "斑马" not in shown


def test_times_are_told_alike_by_every_route(either: Any) -> None:
    add(either, said("I live in Oslo.", said_at="2025-07-25T02:00:00Z"))

    [message] = either.client.get(f"{PATH}/messages").json()["messages"]
    [entry] = entries(either)
    [hit] = either.client.post(f"{PATH}/search", json={"query": "Oslo"}).json()["hits"]
    times = {message["said_at"], entry["said_at"], hit["entry"]["said_at"]}
    assert times == {"2025-07-25T02:00:00Z"}


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I repainted the shed yesterday", "6 May 2023"),
        ("I repainted the shed last Friday", "5 May 2023"),
        ("我上周三粉刷了棚子", "2023年4月26日"),
        ("我昨天粉刷了棚子", "2023年5月6日"),
        ("我明天下午3点粉刷棚子", "2023年5月8日下午3点"),
    ],
)
def test_a_relative_date_of_an_old_conversation_is_counted_from_then(
    either: Any, text: str, day: str
) -> None:
    add(either, said(text, said_at="2023-05-07T10:00:00Z"))

    [entry] = entries(either)
    assert day in entry["text"]
    assert entry["said_at"] == "2023-05-07T10:00:00Z"


def test_local_time_is_read_in_its_zone_and_stored_in_utc(either: Any) -> None:
    add(
        either,
        said("I left the tram yesterday", said_at="2025-05-08T00:45:00", zone="Asia/Shanghai"),
    )

    [message] = either.client.get(f"{PATH}/messages").json()["messages"]
    [entry] = entries(either)
    assert (message["said_at"], message["zone"]) == ("2025-05-07T16:45:00Z", "Asia/Shanghai")
    assert "7 May 2025" in entry["text"]


def test_chinese_stays_chinese_with_its_names(either: Any) -> None:
    add(either, said("我的猫叫豆豆，喜欢晒太阳", speaker="小林"))

    found = entries(either)
    text = "".join(entry["text"] for entry in found)
    assert "豆豆" in text
    assert {entry["language"] for entry in found} == {"zh"}
    assert not re.search(r"\b(?:cat|sun|Doudou)\b", text)


@pytest.mark.parametrize(
    "bad",
    [
        "",
        '"\\ud83d"',
        "\ud83d",
        '{"memory": null}',
        '{"items": [{"s": ["12"], "t": "x", "k": "fact"}]}',
        '{"items": [{"s": ["',
        '{"items": [' + '{"s": ["q1"], "t": "x"},' * 200_000,
    ],
    ids=lambda text: repr(text[:16]),
)
def test_malformed_replies_leave_the_message_in_sight_and_never_lose_it(
    house: Any, bad: str
) -> None:
    with_chat(house, bad)

    add(house, said("I live in Oslo."))

    assert entries(house) == []
    [item] = house.client.get("/v1/quarantine").json()["items"]
    [report] = house.client.get("/v1/ingest").json()["tenants"]
    [usage] = house.client.get("/v1/usage").json()["usage"]
    assert item["message"]["content"] == "I live in Oslo."
    assert bad[:20].encode("utf-8", "ignore").decode() in item["raw"]
    assert (report["quarantined"], report["usage"]["calls"]) == (1, 3)
    assert (usage["calls"], usage["repairs"], usage["cost"]) == (3, 2, None)
    assert sum(usage["refused"].values()) >= 3

    with_chat(house, each_line)
    house.client.post(f"/v1/quarantine/{item['message']['id']}/retry").raise_for_status()
    house.client.post(f"{PATH}/flush").raise_for_status()
    house.work()

    [entry] = entries(house)
    assert entry["text"].startswith("I live in")


def test_ten_thousand_characters_take_one_call_a_batch_though_the_endpoint_has_little_room(
    house: Any,
) -> None:
    text = " ".join(f"Parcel {n} lies on shelf {n}." for n in range(10, 370))
    busy = [LimitError("20 a minute", retry_after_s=3)] * 3
    chat = with_chat(house, *busy, each_line)

    add(house, said(text[:10_000]))
    for _ in range(4):
        house.clock.advance(timedelta(seconds=20))
        house.work()

    [usage] = house.client.get("/v1/usage").json()["usage"]
    [report] = house.client.get("/v1/ingest").json()["tenants"]
    assert len(chat.asked) == 4
    assert (usage["calls"], usage["repairs"]) == (1, 0)
    assert (report["pending"], report["quarantined"]) == (0, 0)
    assert len(entries(house)) >= 1


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("window", [1, 20, 1000])
@pytest.mark.parametrize("buffer", [1, 20, 1000])
def test_every_combination_of_settings_stores_what_was_said(
    either: Any, compress: bool, window: int, buffer: int
) -> None:
    walk = either.worker._walk
    walk._settings = replace(
        walk._settings, compress=compress, window_tokens=window, shortterm_tokens=buffer
    )

    add(
        either,
        said("I live in Oslo."),
        said("I have a cat called Tom."),
        said("Nice to hear that!", "assistant"),
        said("Noted.", "assistant"),
        said("我喜欢喝茶。"),
    )

    found = entries(either)
    [report] = either.client.get("/v1/ingest").json()["tenants"]
    assert (report["pending"], report["quarantined"]) == (0, 0)
    assert len(found) >= 3
    assert {source["sequence"] for entry in found for source in entry["sources"]} >= {1, 2, 5}


def test_speakers_roles_and_times_stay_exact_in_any_order_of_roles(either: Any) -> None:
    add(
        either,
        said("I tuned the old piano.", "assistant", speaker="Ada", said_at="2025-01-01T10:00:00Z"),
        said("I sold canoes at the harbour.", speaker="Ivo", said_at="2025-01-01T10:01:00Z"),
        said("I planted a fig tree by the wall.", speaker="Mara", said_at="2025-01-01T10:02:00Z"),
        said("Be brief.", "system"),
        said("旧钟我昨天修好了。", speaker="小林", said_at="2025-01-01T10:03:00Z"),
    )

    found = {entry["speaker"]: entry for entry in entries(either)}
    assert {"Ivo", "Mara", "小林"} <= set(found)
    assert "canoes" in found["Ivo"]["text"]
    assert "fig" in found["Mara"]["text"]
    assert "旧钟" in found["小林"]["text"]
    assert found["Ivo"]["said_at"] == "2025-01-01T10:01:00Z"
    assert found["小林"]["said_at"] == "2025-01-01T10:03:00Z"


def test_usage_is_told_with_its_cost_to_its_tenant_alone(closed: Any) -> None:
    boss = {"Authorization": "Bearer sw_operators-key-of-the-tests-0123456789"}
    with_chat(closed, each_line)
    key = closed.client.post("/v1/tenants", json={"name": "acme"}, headers=boss).json()["secret"]
    own = {"Authorization": f"Bearer {key}"}
    body = {"messages": [said("I live in Oslo.")]}
    closed.client.post(f"{PATH}/messages", json=body, headers=own).raise_for_status()
    closed.client.post(f"{PATH}/flush", headers=own).raise_for_status()
    closed.work()

    mine = closed.client.get("/v1/usage", headers=own).json()["usage"]
    every = closed.client.get("/v1/usage?since=2025-06-01&until=2025-06-01", headers=boss).json()
    none = closed.client.get("/v1/usage?since=2025-06-02", headers=boss).json()
    foreign = closed.client.get("/v1/usage?tenant=default", headers=own)

    [row] = mine
    assert (row["tenant"], row["day"], row["purpose"]) == ("acme", "2025-06-01", "extract")
    assert every["usage"] == mine
    assert none["usage"] == []
    assert foreign.status_code == 403
