"""The Chat deployment's class, and the chat model behind its handle."""

import asyncio
import pickle
from pathlib import Path
from typing import Any, cast

import pytest
from scripted_chat import FAILING, say, scripted_chat

from actors.chat_limits import EndpointLimits
from pipeline.chat import ChatPurpose, ChatReply, ChatRequest
from pipeline.errors import ConfigError, LimitError, ModelUnavailable
from pipeline.messages import TenantId
from pipeline.ports import ChatModel
from serve.chat import Chat, ChatRoom, ServeChat, ServeLimits, load_chat, request_of, row_of
from serve.handles import Handle
from serve.settings import ChatSettings

REQUEST = ChatRequest(
    tenant=TenantId("t"),
    purpose=ChatPurpose.EXTRACT,
    system="Note what was said.",
    user="<messages>\nbk Mara: The kettle is 红色的.\n</messages>",
    max_tokens=100,
    schema={"type": "object"},
    images=("data:image/png;base64,AAAA",),
)
ROOM = EndpointLimits(requests_per_minute=None, tokens_per_minute=None)


class Local:
    """A deployment's object as a handle offers it; what passes is pickled, as on its way."""

    def __init__(self, target: object) -> None:
        self._target = target

    def __getattr__(self, name: str) -> "Local":
        return Local(getattr(self._target, name))

    async def remote(self, *args: Any, **kwargs: Any) -> Any:
        sent = pickle.loads(pickle.dumps((args, kwargs)))
        return pickle.loads(pickle.dumps(await cast(Any, self._target)(*sent[0], **sent[1])))


def handle(target: object) -> Handle:
    return cast(Handle, Local(target))


async def replied(chat: Chat) -> ChatReply:
    """What the deployment's object says over a handle."""
    try:
        return await ServeChat(handle(chat), name="tiny").reply(REQUEST)
    finally:
        await chat.close()


def test_a_request_comes_back_whole_from_the_plain_values_that_travel() -> None:
    row = row_of(REQUEST)

    assert request_of(row) == REQUEST
    assert {type(value) for value in row.values()} <= {str, int, float, dict, tuple, type(None)}


def test_a_reply_comes_over_the_handle_with_why_it_was_asked_for_again(tmp_path: Path) -> None:
    with scripted_chat(FAILING, say("ja")) as script:

        async def ask() -> ChatReply:
            settings = ChatSettings(endpoint=script.url, model="tiny", attempts=2)
            return await replied(Chat(settings=settings, models_dir=tmp_path))

        reply = asyncio.run(ask())

    assert (reply.text, reply.model, reply.retried) == ("ja", "tiny", ("500",))


def test_what_the_endpoint_does_comes_over_the_handle_as_an_error_of_ours(tmp_path: Path) -> None:
    with scripted_chat(FAILING) as script:

        async def ask() -> ChatReply:
            settings = ChatSettings(endpoint=script.url, model="tiny", attempts=1)
            return await replied(Chat(settings=settings, models_dir=tmp_path))

        with pytest.raises(ModelUnavailable):
            asyncio.run(ask())


def test_replicas_that_share_a_room_send_no_more_together_than_it_gives(tmp_path: Path) -> None:
    with scripted_chat() as script:
        settings = ChatSettings(
            endpoint=script.url, model="tiny", attempts=1, requests_per_minute=12, patience_s=0.5
        )  # two at once, then one in five seconds

        async def ask() -> list[object]:
            room = handle(ChatRoom(settings=settings))
            replicas = [Chat(settings=settings, models_dir=tmp_path, limits=room) for _ in range(3)]
            asked = [replica.reply(row_of(REQUEST)) for replica in replicas for _ in range(4)]
            answers = await asyncio.gather(*asked, return_exceptions=True)
            for replica in replicas:
                await replica.close()
            return list(answers)

        answers = asyncio.run(ask())

    assert len(script.asked) == 2
    assert sum(isinstance(each, LimitError) for each in answers) == 10


def test_a_pause_that_one_replica_is_asked_for_holds_for_all() -> None:
    settings = ChatSettings(endpoint="https://example.org/v1", model="tiny")

    async def wait() -> float:
        room = handle(ChatRoom(settings=settings))
        await ServeLimits(room).pause(30.0)
        return await ServeLimits(room).reserve(10, patience_s=60.0)

    assert 29.0 < asyncio.run(wait()) <= 36.0  # a fifth more at most, so that not all come at once


def load(settings: ChatSettings, **variables: str) -> ChatModel:
    return load_chat(settings, models_dir=Path(), limits=ROOM, secret=variables.get)


def test_the_key_comes_from_the_variable_that_is_named() -> None:
    settings = ChatSettings(endpoint="https://example.org/v1", model="m", key_env="MY_KEY")

    assert load(settings, MY_KEY="sk-1").name == "m"
    with pytest.raises(ConfigError, match="MY_KEY") as refused:
        load(settings, OPENAI_API_KEY="sk-2")
    assert refused.value.field == "chat.key_env"


def test_without_a_named_variable_no_key_of_the_environment_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    with scripted_chat() as script:

        async def ask() -> None:
            chat = load(ChatSettings(endpoint=script.url, model="m"))
            await chat.reply(REQUEST)
            await cast(Any, chat).close()

        asyncio.run(ask())

    assert "sk-of-somebody-else" not in str(script.asked[0].headers)


def test_a_stand_in_says_every_line_again() -> None:
    reply = asyncio.run(load(ChatSettings(model="fake")).reply(REQUEST))

    assert reply.text == '{"items": [{"s": ["bk"], "t": "The kettle is 红色的.", "k": "fact"}]}'
