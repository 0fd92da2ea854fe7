"""``demo``: the main job on the example conversations, in a home of its own."""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from pipeline.errors import ConfigError
from serve.client import Client
from serve.commands.demo_view import View
from serve.commands.ingest import Form, read_threads, send
from serve.commands.parcels import Thread
from serve.commands.screen import JsonOption, Screen
from serve.commands.sleeping import finished_run
from serve.local.home import Home, current_home, home_at, models_dir
from serve.local.plan import planned
from serve.local.record import Service
from serve.local.service import Say, down, up
from serve.local.shipped import shipped
from serve.replies import Entry, Hit, Run

_COUNTS = ("targets", "update", "delete", "ignore", "skipped", "failed", "model_calls")
_LIMIT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to one collection."""

    collection: str
    query: str


QUESTIONS = (
    Question(collection="mara", query="Where does Mara live now?"),
    Question(collection="mara", query="Does Mara drink coffee?"),
    Question(collection="lin", query="林夏现在住在哪里？"),
    Question(collection="team", query="试点小区是哪三个？"),
    Question(collection="novel", query="沈砚的疤在哪只手上？"),
)


class Stopwatch:
    """Seconds by step, in the order of the steps."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what happens inside towards ``name``."""
        start = time.monotonic()
        yield
        self.seconds[name] = round(time.monotonic() - start, 2)

    def total(self) -> dict[str, float]:
        """Every step, and ``total`` since the beginning."""
        return {**self.seconds, "total": round(time.monotonic() - self._start, 2)}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo(
    examples: Annotated[
        Path | None, typer.Option(help="A folder of .jsonl files; the shipped one if not given.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the service of the demo running.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Ingest example conversations, ask, sleep, ask again, take the sleep back and redo it."""
    screen, watch = Screen(as_json=as_json), Stopwatch()
    threads = _threads(examples or shipped("examples"))
    home = home_at(current_home().path / "demo")
    with _fresh_service(home, keep=keep, watch=watch, screen=screen) as service:
        with Client(service.url) as client:
            document = walk(client, threads, screen=screen, watch=watch)
        View(screen).end(service, home=home, is_kept=keep)
    if as_json:
        links: dict[str, JsonValue] = {
            "docs": f"{service.url}/docs",
            "dashboard": service.dashboard,
            "kept": keep,
        }
        seconds: dict[str, JsonValue] = {**watch.total()}
        screen.document({**document, "service": links, "seconds": seconds})


def walk(
    client: Client, threads: Sequence[Thread], *, screen: Screen, watch: Stopwatch
) -> dict[str, JsonValue]:
    """The main job over these conversations; what came out, as JSON."""
    view = View(screen)
    with watch.step("ingest"):
        done = send(client, threads, screen=screen, wait=True)
    names = [each["collection"] for each in done.collections]
    segments = {name: client.segments(name) for name in names}
    entries = {name: list(client.all_entries(name)) for name in names}
    view.memory(done.collections, segments, entries)
    asked = [each for each in QUESTIONS if each.collection in names]
    with watch.step("questions_before"):
        before = [_ask(client, each) for each in asked]
    with watch.step("sleep"):
        run = _slept(client, screen)
    decisions = client.decisions(run["id"])
    view.sleep(run, decisions)
    with watch.step("questions_after"):
        after = [_ask(client, each) for each in asked]
    view.questions([each.query for each in asked], before, after)
    with watch.step("undo_redo"):
        undone, redone = client.undo(run["id"]), client.redo(run["id"])
    view.undo_redo(undone, redone)
    with watch.step("second_sleep"):
        second = _slept(client, screen)
    view.second_sleep(second)
    return {
        "messages": done.stored,
        "segments": sum(map(len, segments.values())),
        "entries": sum(map(len, entries.values())),
        "collections": list(names),
        "sleep": _counts(run),
        "second_sleep": _counts(second),
        "decisions": [
            {
                "collection": each["collection"],
                "action": each["action"],
                "reason": each["reason"],
                "state": each["state"],
                "text_before": each["text_before"],
                "text_after": each["text_after"],
                "newer": [candidate["text"] for candidate in each["candidates"]],
            }
            for each in decisions
        ],
        "undone": sum(item["done"] for item in undone),
        "redone": sum(item["done"] for item in redone),
        "questions": [
            {
                "collection": question.collection,
                "query": question.query,
                "before": [_hit(hit) for hit in hits_before],
                "after": [_hit(hit) for hit in hits_after],
            }
            for question, hits_before, hits_after in zip(asked, before, after, strict=True)
        ],
    }


@contextmanager
def _fresh_service(
    home: Home, *, keep: bool, watch: Stopwatch, screen: Screen
) -> Iterator[Service]:
    """A service over an empty home, which is ended and emptied afterwards unless kept."""
    is_done = False
    try:
        with watch.step("start"), screen.working("starting Slowwave") as say:
            _clear(home, say)
            plan = planned(home, None, models_dir=models_dir(), port=None, say=say)
            service = up(home, plan, say=say).service
        yield service
        is_done = True
    finally:
        if not (keep and is_done):
            with watch.step("stop"), screen.working("stopping Slowwave") as say:
                _clear(home, say)


def _clear(home: Home, say: Say) -> None:
    down(home, say=say)
    if home.path.exists():
        shutil.rmtree(home.path)


def _threads(examples: Path) -> list[Thread]:
    files = sorted(examples.glob("*.jsonl"))
    if not files:
        raise ConfigError(f"no .jsonl files in {examples}", field="examples")
    return [thread for file in files for thread in read_threads(file, Form.JSONL, collection=None)]


def _ask(client: Client, question: Question) -> list[Hit]:
    return client.search(question.collection, question.query, limit=_LIMIT)


def _slept(client: Client, screen: Screen) -> Run:
    with screen.working("sleeping"):
        return finished_run(client, client.sleep())


def _counts(run: Run) -> dict[str, JsonValue]:
    return {name: run["totals"].get(name, 0) for name in _COUNTS}


def _hit(hit: Hit) -> dict[str, JsonValue]:
    entry: Entry = hit["entry"]
    return {
        "id": entry["id"],
        "text": entry["text"],
        "status": entry["status"],
        "said_at": entry["said_at"],
        "score": hit["score"],
    }
