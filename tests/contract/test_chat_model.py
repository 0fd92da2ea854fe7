"""The laws of a chat model, over an endpoint, the stand-in and, where it is installed, vLLM."""

import asyncio
import importlib.util
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from scripted_chat import scripted_chat

from actors.chat import Endpoint, EndpointChat
from actors.chat_limits import EndpointLimits
from actors.fake_chat import FakeChat
from actors.models import SMOLLM2, prepared, resolve
from pipeline.chat import ChatPurpose, ChatReply, ChatRequest
from pipeline.messages import TenantId
from pipeline.ports import ChatModel
from serve.local.home import models_dir

MOODS = ["glad", "sad"]
REQUEST = ChatRequest(
    tenant=TenantId("t"),
    purpose=ChatPurpose.SUMMARISE,
    system="Reply with JSON.",
    user="Mara hums all day. 她很高兴。",
    max_tokens=60,
    schema={
        "type": "object",
        "properties": {"mood": {"enum": MOODS}},  # type: ignore[dict-item]  # a list of texts
        "required": ["mood"],
        "additionalProperties": False,
    },
)

Made = Callable[[], ChatModel]


@pytest.fixture(params=["fake", "endpoint", "vllm"])
def made(request: pytest.FixtureRequest) -> Iterator[Made]:
    """Makes the model, on the event loop that it then answers on."""
    match request.param:
        case "fake":
            yield FakeChat
        case "endpoint":
            with scripted_chat() as script:
                yield lambda: _endpoint(script.url)
        case _:
            yield _vllm()


def _endpoint(url: str) -> ChatModel:
    room = EndpointLimits(requests_per_minute=None, tokens_per_minute=None)
    return EndpointChat(Endpoint(url=url, model="tiny"), limits=room)


def _vllm() -> Made:
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed here")
    if not prepared(SMOLLM2.name, models_dir()):
        pytest.skip(f"{SMOLLM2.name} is not prepared")
    from actors.vllm_chat import VllmChat

    engine = {"dtype": "bfloat16", "enforce_eager": True, "max_model_len": 1024, "max_num_seqs": 8}
    path = resolve(SMOLLM2.name, Path(models_dir()))
    return lambda: VllmChat(path, name=SMOLLM2.name, engine=engine)


async def _closed(model: ChatModel) -> None:
    close = getattr(model, "close", None)
    if close is not None:
        found = close()
        if asyncio.iscoroutine(found):
            await found


@pytest.mark.timeout(600)
def test_the_laws(made: Made) -> None:
    """One test, for an engine takes half a minute to start."""

    async def run() -> tuple[str, list[ChatReply], ChatReply]:
        model = made()
        try:
            many = await asyncio.gather(*(model.reply(REQUEST) for _ in range(8)))
            free = await model.reply(
                ChatRequest(
                    tenant=TenantId("t"),
                    purpose=ChatPurpose.ANSWER,
                    system="",
                    user="Say hello.",
                    max_tokens=8,
                )
            )
            return model.name, many, free
        finally:
            await _closed(model)

    name, many, free = asyncio.run(run())

    for reply in many:
        said = json.loads(reply.text)
        assert said.keys() == {"mood"}
        assert said["mood"] in MOODS
        assert reply.model == name
        assert reply.tokens_in > 0
        assert 0 < reply.tokens_out <= REQUEST.max_tokens
        assert reply.retried == ()
    assert len({reply.tokens_in for reply in many}) == 1
    assert free.tokens_in < many[0].tokens_in
    assert free.tokens_out <= 8 or not free.is_cut
