"""The real application with real vLLM in a Ray Serve replica, from a message to its entries."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from vllm_profile import profile_of, ray_environment

from actors.models import resolve
from pipeline.chat import ChatPurpose, ChatRequest
from pipeline.messages import TenantId
from serve.client import Client
from serve.local.home import Home, home_at, models_dir
from serve.local.plan import planned
from serve.local.record import Service
from serve.local.service import down, up
from serve.settings import ChatSettings, load

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    # The service outlives the call that starts it, so its first process is not waited for.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
]

HERE = Path(__file__).parent
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "mood": {"enum": ["glad", "sad"]},
        "year": {"type": "integer", "minimum": 1000, "maximum": 2999},
    },
    "required": ["name", "mood", "year"],
    "additionalProperties": False,
}
SAID = [
    ("user", "Mara", "I adopted a grey cat yesterday. Her name is Pixel."),
    ("assistant", "Bot", "Congratulations! How is Pixel settling in?"),
    ("user", "Mara", "She sleeps on the radiator. I am allergic to peanuts, by the way."),
    ("user", "Mara", "上周三我搬到了杭州，住在西湖边。"),
    ("assistant", "Bot", "杭州很美！新家怎么样？"),
    ("user", "Mara", "很安静。明天下午3点我要去看牙医。"),
]


@dataclass(frozen=True)
class Running:
    """The service of a profile."""

    service: Service
    chat: ChatSettings


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, vllm: None) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("vllm")
    home: Home = home_at(folder / "home")
    config = profile_of(folder)
    plan = planned(home, config, models_dir=models_dir(), port=None, say=print)
    settings = load(config, home=home.path, models_dir=models_dir())
    assert settings.chat is not None
    yield Running(up(home, plan, say=print).service, settings.chat)
    down(home, say=print)


def request(user: str, *, schema: Any = SCHEMA, max_tokens: int = 80) -> ChatRequest:
    return ChatRequest(
        tenant=TenantId("t"),
        purpose=ChatPurpose.EXTRACT,
        system="Reply with JSON about the person.",
        user=user,
        max_tokens=max_tokens,
        schema=schema,
    )


def asked(running: Running, *requests: ChatRequest) -> dict[str, Any]:
    """What ``ask_chat`` prints."""
    env = ray_environment(running.service.ray_address, running.service.token_file)
    rows = [asdict(each) | {"purpose": each.purpose.value} for each in requests]
    done = subprocess.run(
        [sys.executable, str(HERE / "ask_chat.py")],
        input=json.dumps(rows),
        env={**env, "PYTHONPATH": str(HERE.parent.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_the_engine_lives_in_a_replica_of_the_chat_deployment(running: Running) -> None:
    found = asked(running)["actors"]

    assert len(found) == 1
    assert found[0]["name"].startswith("SERVE_REPLICA::slowwave#Chat#")
    assert any("EngineCore" in title for title in found[0]["children"])


def test_replies_follow_their_schema_and_every_token_is_counted(running: Running) -> None:
    from transformers import AutoTokenizer

    requests = [request(f"Person {n}: Mara, born in {1980 + n}, smiling.") for n in range(12)]
    replies = asked(running, *requests)["replies"]

    tokenizer = AutoTokenizer.from_pretrained(resolve(running.chat.name, models_dir()))
    for each, reply in zip(requests, replies, strict=True):
        spoken = [
            {"role": "system", "content": each.system},
            {"role": "user", "content": each.user},
        ]
        prompt = tokenizer.apply_chat_template(spoken, add_generation_prompt=True, tokenize=False)
        assert reply["in"] == len(tokenizer.encode(prompt, add_special_tokens=False))
        assert 0 < reply["out"] <= each.max_tokens
        assert_follows(json.loads(reply["text"]))


def assert_follows(said: Any) -> None:
    """What ``SCHEMA`` says, by hand."""
    assert said.keys() == {"name", "mood", "year"}
    assert isinstance(said["name"], str)
    assert len(said["name"]) <= 20
    assert said["mood"] in ("glad", "sad")
    assert isinstance(said["year"], int)


def test_a_reply_at_its_bound_says_that_it_was_cut(running: Running) -> None:
    (reply,) = asked(running, request("Count to a hundred.", schema=None, max_tokens=5))["replies"]

    assert (reply["cut"], reply["out"]) == (True, 5)


def assert_walked_in(client: Client, collection: str, *, within_s: float = 1200) -> None:
    """A busy CPU needs longer than one request waits for a batch and its repairs."""
    until = time.monotonic() + within_s
    while not client.flush(collection, wait=True)["searchable"]:
        assert time.monotonic() < until, client.call("GET", "/v1/ingest")


def test_a_conversation_walks_in_and_nothing_of_it_is_left_behind(running: Running) -> None:
    messages = [
        {
            "role": role,
            "speaker": speaker,
            "content": content,
            "message_id": f"m{number}",
            "said_at": f"2025-03-05T10:{number:02}:00Z",
        }
        for number, (role, speaker, content) in enumerate(SAID)
    ]

    with Client(running.service.url) as client:
        client.ingest("mara", messages)
        assert_walked_in(client, "mara")
        kept = client.messages("mara")
        entries = list(client.all_entries("mara"))
        usage = client.call("GET", "/v1/usage")["usage"]

    # A model of this size may say nothing that can be used: then its messages are held, with why.
    assert {str(each["state"]) for each in kept} <= {"extracted", "quarantined"}
    said = {str(each["message_id"]) for each in kept}
    assert said == {f"m{number}" for number in range(len(SAID))}
    for entry in entries:
        assert {str(source["message_id"]) for source in entry["sources"]} <= said
    (spent,) = usage
    assert (spent["purpose"], spent["model"]) == ("extract", running.chat.name)
    assert spent["calls"] >= 1
    assert spent["tokens_in"] > 20 * spent["calls"]
    assert spent["tokens_out"] > 0
