"""A chat endpoint on a real port that follows a script, and remembers what it was asked.

What it says by itself is what ``FakeChat`` says: one statement for each line of an extraction.
"""

import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from actors.fake_chat import items_of, said_by_fake
from actors.fakes import fake_tokens
from pipeline.chat import ChatPurpose, ChatRequest
from pipeline.messages import TenantId

LONG = 5 * 1024 * 1024
"""Bytes of a reply that is far too long."""

Body = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """One request; header names are in lower case, ``at`` is a time of the monotonic clock."""

    path: str
    headers: dict[str, str]
    body: Body
    at: float


@dataclass(frozen=True)
class Act:
    """What the endpoint does once.

    ``says`` makes the reply's text of the request; ``body`` is sent instead of a chat completion.
    ``seconds`` is how long it takes first; without ``answers`` it then cuts the connection.
    """

    says: Callable[[Body], str] = field(default=lambda body: obedient(body))
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    usage: object = None
    seconds: float = 0.0
    answers: bool = True
    finish: str = "stop"


def obedient(body: Body) -> str:
    """A statement for each message of an extraction, the least that the schema allows else."""
    asked = body.get("response_format", {}).get("json_schema", {})
    system, user = _texts(body)
    purpose = asked.get("name", "extract")
    request = ChatRequest(
        tenant=TenantId("t"),
        purpose=ChatPurpose(purpose),
        system=system,
        user=user,
        max_tokens=1,
        schema=asked.get("schema"),
    )
    return said_by_fake(request)


def say(text: str) -> Act:
    """A reply with this text."""
    return Act(says=lambda body: text)


def fenced(body: Body) -> str:
    """What it would say, as chat models like to wrap it."""
    return f"Here is the JSON you asked for:\n```json\n{obedient(body)}\n```\nAnything else?"


def truncated(body: Body) -> str:
    """The first two thirds of what it would say."""
    said = obedient(body)
    return said[: 2 * len(said) // 3]


def invented(body: Body) -> str:
    """Valid JSON about messages that nobody sent."""
    items = [{"s": ["zzz", "qqq"], "t": "Mara owns a palace on the moon.", "k": "fact"}]
    return json.dumps({"items": items})


def untrue(body: Body) -> str:
    """Valid JSON with the right ids, about what nobody said."""
    items = items_of(_texts(body)[1])
    told = [{**item, "t": "Zacharias owes the bank 77,123 crowns."} for item in items]
    return json.dumps({"items": told})


FAILING = Act(status=500, body=b'{"error": {"message": "boom"}}')
FULL = Act(status=429, headers={"Retry-After": "1"}, body=b'{"error": {"message": "slow down"}}')
HANGING = Act(seconds=3_600.0)
ENDLESS = Act(says=lambda body: "x" * LONG)


@dataclass
class Script:
    """Acts in order, the last one for ever; ``acts`` may be replaced while it runs.

    With ``draw`` each act is one of them by chance instead.
    """

    acts: list[Act]
    draw: random.Random | None = None
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    _turn: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)

    def next(self, asked: Asked) -> Act:
        with self._turn:
            self.asked.append(asked)
            if self.draw is not None:
                return self.draw.choice(self.acts)
            return self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]


class Server(ThreadingHTTPServer):
    """A server that knows its connections, and waits for their threads when it closes."""

    daemon_threads = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._connections: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.append(connection)
        return connection, address

    def hang_up(self) -> None:
        """Ends every connection."""
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keeps quiet: a caller may have read enough, or gone away."""


@contextmanager
def scripted_chat(*acts: Act) -> Iterator[Script]:
    """The endpoint, gone afterwards; obedient without acts."""
    script = Script(list(acts) or [Act()])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length))
            act = script.next(Asked(self.path, _lower(self.headers), body, time.monotonic()))
            script.over.wait(act.seconds)
            if not act.answers or script.over.is_set():
                self.close_connection = True
                return
            self._send(act, act.body if act.body is not None else _completion(act, body))

        def _send(self, act: Act, raw: bytes) -> None:
            self.send_response(act.status)
            headers = {"Content-Type": "application/json", "Content-Length": str(len(raw))}
            for name, value in {**headers, **act.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            """Keeps quiet."""

    server = Server(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        script.over.set()
        server.shutdown()
        server.hang_up()
        server.server_close()
        thread.join()


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _completion(act: Act, body: Body) -> bytes:
    text = act.says(body)
    counted = {
        "prompt_tokens": sum(len(fake_tokens(each)) for each in _texts(body)),
        "completion_tokens": len(fake_tokens(text)),
    }
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": body.get("model"),
        "choices": [
            {
                "index": 0,
                "finish_reason": act.finish,
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": counted if act.usage is None else act.usage,
    }
    return json.dumps(document).encode()


def _texts(body: Body) -> tuple[str, str]:
    """The system's and the user's words."""
    found = {"system": "", "user": ""}
    for message in body["messages"]:
        content = message["content"]
        spoken = content if isinstance(content, str) else content[0]["text"]
        found[message["role"]] = spoken
    return found["system"], found["user"]
