"""Answers over HTTP: events, citations down to messages, what is not known, what is kept."""

import json
from typing import Any, cast

import pytest

from actors.fakes import Scripted, ScriptedChat
from pipeline.chat import ChatReply
from pipeline.errors import InputError, MalformedReply, ModelError, StoreError
from pipeline.settings import RecallSettings
from serve.answer_client import answer as ask
from serve.answering import Answering
from serve.client import Client

MARA = "/v1/collections/mara"


def told(house: Any, *texts: str) -> None:
    messages = [{"role": "user", "speaker": "Mara", "content": text} for text in texts]
    house.client.post(f"{MARA}/messages", json={"messages": messages}).raise_for_status()
    house.client.post(f"{MARA}/flush").raise_for_status()
    house.work()


def model(house: Any, *script: Scripted, floor: float | None = None) -> ScriptedChat:
    """Has the service answer with a chat model that says this."""
    chat = ScriptedChat(*script)
    answers_with(house, chat, floor=floor)
    return chat


def answers_with(house: Any, chat: ScriptedChat | None, *, floor: float | None = None) -> None:
    """Has the service answer with this chat model, or with none."""
    house.memory.answering = Answering(
        contexts=house.memory.contexts,
        store=house.memory._keep,
        spend=house.memory._spend,
        chat=chat,
        recall=RecallSettings(answer_min_score=floor),
    )


def events(house: Any, query: str, **more: Any) -> list[tuple[str, dict[str, Any]]]:
    reply = house.client.post(f"{MARA}/answer", json={"query": query, **more})
    reply.raise_for_status()
    assert reply.headers["content-type"].startswith("text/event-stream")
    blocks = [block.split("\n") for block in reply.text.strip().split("\n\n")]
    return [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for name, data in blocks
    ]


def answer(house: Any, query: str, **more: Any) -> dict[str, Any]:
    (first, _), (last, document) = events(house, query, **more)
    assert (first, last) == ("context", "answer")
    return document


@pytest.mark.parametrize(
    ("said", "query", "reply"),
    [
        ("I keep herons.", "What does Mara keep?", "Herons [1]."),
        ("我养了一只黑猫。", "养了什么？", "一只黑猫[1]。"),
    ],
)
def test_an_answer_cites_entries_and_messages(
    house: Any, said: str, query: str, reply: str
) -> None:
    told(house, said)
    chat = model(house, reply)

    found = answer(house, query)

    assert (found["text"], found["known"], found["model"]) == (reply, True, "scripted-chat")
    assert found["citations"][0]["entries"]
    assert found["citations"][0]["sources"][0]["sequence"] == 1
    assert found["tokens_in"] > 0
    assert found["messages"] == []
    assert said in chat.asked[0].user


def spent(house: Any) -> list[tuple[str, int, int, int]]:
    """Purpose, calls, tokens in and out, as the usage has them."""
    rows = house.client.get("/v1/usage").json()["usage"]
    return [(row["purpose"], row["calls"], row["tokens_in"], row["tokens_out"]) for row in rows]


def test_the_tokens_of_an_answer_are_counted(house: Any) -> None:
    told(house, "I keep herons.")
    model(house, "Herons [1].")

    found = answer(house, "What does Mara keep?")

    assert spent(house) == [("answer", 1, found["tokens_in"], found["tokens_out"])]


def test_so_are_those_of_a_reply_that_is_none(house: Any) -> None:
    told(house, "I keep herons.")
    call = ChatReply(text="", model="scripted-chat", tokens_in=7, tokens_out=2)
    model(house, MalformedReply("expected a text, got none", raw="", call=call))

    (_, (name, _)) = events(house, "What does Mara keep?")

    assert name == "error"
    assert spent(house) == [("answer", 1, 7, 2)]


def test_what_memory_does_not_hold_is_not_known(house: Any) -> None:
    told(house, "I keep herons.")
    chat = model(house, "UNKNOWN")

    unknown = answer(house, "What does Mara keep?")
    nothing = answer(house, "What does Mara keep?", kinds=["relation"], budget_tokens=50)

    assert (unknown["known"], nothing["known"]) == (False, False)
    assert unknown["text"] == nothing["text"]
    assert nothing["model"] is None
    assert len(chat.asked) == 1


def test_below_the_floor_no_model_is_asked(house: Any) -> None:
    told(house, "I keep herons.")
    chat = model(house, "Herons [1].", floor=1.0)

    found = answer(house, "Quarterly taxes?")

    assert (found["known"], found["model"], chat.asked) == (False, None, [])


def test_an_exchange_that_is_kept_is_a_message_each_and_the_answer_no_new_fact(house: Any) -> None:
    told(house, "I keep herons.")
    model(house, "Mara keeps herons and a boat [1].")

    found = answer(house, "What do I keep?", store=True, conversation="c2")
    house.client.post(f"{MARA}/flush").raise_for_status()
    house.work()

    kept = house.client.get(f"{MARA}/messages", params={"after": 1}).json()["messages"]
    assert [one["id"] for one in kept] == found["messages"]
    assert [(one["role"], one["content"]) for one in kept] == [
        ("user", "What do I keep?"),
        ("assistant", "Mara keeps herons and a boat."),
    ]
    assert {one["conversation"] for one in kept} == {"c2"}
    entries = house.client.get(f"{MARA}/entries").json()["entries"]
    assert not any("boat" in one["text"] for one in entries)
    assert house.client.get(MARA).json()["pending"] == 0


def test_without_a_chat_model_the_endpoint_says_what_to_configure(house: Any) -> None:
    told(house, "I keep herons.")
    answers_with(house, None)

    reply = house.client.post(f"{MARA}/answer", json={"query": "What does Mara keep?"})

    assert (reply.status_code, reply.json()["error"]["field"]) == (422, "chat")
    assert "configs/openai.yaml" in reply.json()["error"]["message"]


def test_a_failing_model_ends_the_stream_with_a_typed_error(house: Any) -> None:
    told(house, "I keep herons.")
    model(house, ModelError("the chat endpoint failed: 500"))

    (_, (name, document)) = events(house, "What does Mara keep?", store=True)

    assert name == "error"
    assert document["error"]["type"] == "ModelError"
    assert document["error"]["status"] == 502
    assert len(house.client.get(f"{MARA}/messages").json()["messages"]) == 1


def test_to_keep_an_exchange_a_key_must_be_allowed_to_ingest(closed: Any) -> None:
    reply = closed.client.post(f"{MARA}/answer", json={"query": "x", "store": True})

    assert reply.status_code == 401


class Wire(Client):
    """The client over an application in this process."""

    def __init__(self, house: Any) -> None:
        self.http = house.client


def test_the_client_gives_the_answer_or_raises_what_the_service_raised(house: Any) -> None:
    told(house, "I keep herons.")
    client = Wire(house)
    answers_with(house, None)
    with pytest.raises(InputError, match="chat model"):
        ask(client, "mara", "What does Mara keep?")
    model(house, "Herons [1].", ModelError("the chat endpoint failed: 500"))

    found = ask(client, "mara", "What does Mara keep?", filter={"speaker": "Mara"})

    assert found["text"] == "Herons [1]."
    with pytest.raises(ModelError, match="500"):
        ask(client, "mara", "What does Mara keep?")


def test_a_stream_that_breaks_off_is_an_error(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serve.answer_client.events", lambda *_: iter([("context", {})]))

    with pytest.raises(StoreError, match="ended"):
        ask(cast(Client, None), "mara", "x")
