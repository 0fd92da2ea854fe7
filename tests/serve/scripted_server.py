"""An HTTP server that answers from a script and remembers what it was asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """``body`` is sent as JSON, a text as it is; None cuts the connection."""

    status: int = 200
    body: object = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Script:
    """Answers by ``METHOD /path``, each list used from the front and its last for ever."""

    answers: dict[str, list[Answer | None]]
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    def next(self, asked: Asked) -> Answer | None:
        self.asked.append(asked)
        line = f"{asked.method} {asked.path.partition('?')[0]}"
        left = self.answers.get(line)
        if left is None:
            error = {"type": "NotFound", "message": f"no {line}", "field": None}
            return Answer(404, {"error": error})
        return left.pop(0) if len(left) > 1 else left[0]


@contextmanager
def scripted(answers: dict[str, list[Answer | None]]) -> Iterator[Script]:
    script = Script(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else self.streamed()
            answer = script.next(Asked(self.command, self.path, dict(self.headers), body))
            if answer is None:
                self.close_connection = True
                return
            is_text = isinstance(answer.body, str)
            text = answer.body if is_text else json.dumps(answer.body)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            raw = str(text).encode()
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = respond

        def streamed(self) -> bytes | None:
            """A body that came in pieces, as it came."""
            if self.headers.get("Transfer-Encoding") != "chunked":
                return None
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size + 2)[:-2]
            self.rfile.readline()
            return body

        def log_message(self, format: str, *args: object) -> None:
            """Keeps quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
