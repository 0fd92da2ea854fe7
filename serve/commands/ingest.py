"""``ingest``: conversations or a document into memory, checked whole before anything is sent.

``flush`` and ``end`` say that what was sent is not to wait for more.
"""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pipeline.errors import InputError, NotFound, StoreError
from serve.client import Client
from serve.commands.connection import connect
from serve.commands.parcels import Thread, check, parcels, threads
from serve.commands.recall import named
from serve.commands.screen import JsonOption, Screen, table
from serve.formats import read
from serve.formats.documents import read_document
from serve.replies import Collection

_POLL_S = 0.5
_STUCK_S = 300.0


class Form(StrEnum):
    """The forms of files that can be read."""

    AUTO = "auto"
    JSONL = "jsonl"
    LOCOMO = "locomo"
    BEAM = "beam"
    OPENAI = "openai"
    SHAREGPT = "sharegpt"
    CONVERSATION_LIST = "conversation_list"


class What(StrEnum):
    """What a file is."""

    CONVERSATIONS = "conversations"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What became of a file; ``stored`` counts the messages that were new."""

    conversations: int
    messages: int
    stored: int
    collections: list[Collection]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(ingest)
    app.command()(flush)
    app.command()(end)


def ingest(
    file: Annotated[Path, typer.Argument(help="A file of conversations.")],
    form: Annotated[Form, typer.Option("--format", help="What the file holds.")] = Form.AUTO,
    collection: Annotated[
        str | None, typer.Option(help="Where to; from the file if not given.")
    ] = None,
    what: Annotated[
        What, typer.Option("--as", help="What the file is: conversations, or one document.")
    ] = What.CONVERSATIONS,
    said_at: Annotated[
        str | None,
        typer.Option(help="When the document was written; as it says itself if not given."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Return when everything is searchable.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Put a file of conversations, or a document, into memory; again it stores nothing twice."""
    screen = Screen(as_json=as_json)
    only = None if collection is None else named("collection", collection)
    with screen.working(f"reading {file}"):
        if what is What.DOCUMENT:
            read_in = read_as_document(file, collection=only, said_at=said_at)
        else:
            read_in = read_threads(file, form, collection=only)
    with connect() as client:
        done = send(client, read_in, screen=screen, wait=wait)
    if as_json:
        screen.document(
            {
                "file": str(file),
                "conversations": done.conversations,
                "messages": done.messages,
                "stored": done.stored,
                "collections": done.collections,
            }
        )
        return
    _show(screen, done)


def flush(
    collection: Annotated[str, typer.Argument(help="The collection.")],
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Return when everything is searchable.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Extract what a collection still holds in its buffers, now."""
    screen, name = Screen(as_json=as_json), named("collection", collection)
    with connect() as client, screen.working(f"flushing {name}"):
        found = client.flush(name, wait=wait)
    if as_json:
        screen.document({"collection": name, **found})
        return
    state = {True: "searchable", False: "not yet extracted: see `slowwave status`", None: "asked"}
    screen.out.print(f"up to message {found['through']}: {state[found['searchable']]}")


def end(
    collection: Annotated[str, typer.Argument(help="The collection.")],
    conversation: Annotated[str, typer.Argument(help="The conversation that is over.")],
    as_json: JsonOption = False,
) -> None:
    """Say that a conversation is over: it is cut into segments without waiting for more."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        found = client.end(named("collection", collection), named("conversation", conversation))
    if as_json:
        screen.document({"collection": collection, **found})
        return
    screen.out.print(f"ended with message {found['through']}")


def read_threads(file: Path, form: Form, *, collection: str | None) -> list[Thread]:
    """The conversations of a file, every message checked and with an id.

    Raises:
        InputError: the file cannot be read, is of another form, or holds a message that would be
            refused; nothing of it has been sent then.
    """
    _must_be_there(file)
    return _checked(threads(read(file, form.value), collection=collection, default=file.stem))


def read_as_document(file: Path, *, collection: str | None, said_at: str | None) -> list[Thread]:
    """The document as one conversation, every message checked and with an id.

    Raises:
        InputError: as ``read_threads``. ConfigError: what reads this form is not installed.
    """
    _must_be_there(file)
    document = read_document(file, said_at=said_at)
    return _checked(threads([document], collection=collection, default=file.stem))


def _must_be_there(file: Path) -> None:
    if not file.is_file():
        raise InputError(f"file: no file at {file}", field="file")


def _checked(found: list[Thread]) -> list[Thread]:
    check(found, now=datetime.now(UTC))
    return found


def send(client: Client, outgoing: Sequence[Thread], *, screen: Screen, wait: bool) -> Ingested:
    """Send all conversations, and wait until they are searchable if asked."""
    names = sorted({thread.collection for thread in outgoing})
    before = _totals(client, names)
    total = sum(len(thread.messages) for thread in outgoing)
    with screen.progress("sending", total) as advance:
        for thread in outgoing:
            for parcel in parcels(thread):
                client.ingest(
                    parcel.collection,
                    parcel.messages,
                    conversation=parcel.conversation,
                    zone=parcel.zone,
                    idempotency_key=parcel.key,
                )
                advance(len(parcel.messages))
    if wait:
        _settle(client, names, screen)
    after = _totals(client, names)
    return Ingested(
        conversations=len(outgoing),
        messages=total,
        stored=sum(each["messages"] for each in after) - sum(each["messages"] for each in before),
        collections=after,
    )


def _totals(client: Client, names: Sequence[str]) -> list[Collection]:
    found: list[Collection] = []
    for name in names:
        # A collection begins with its first message.
        with contextlib.suppress(NotFound):
            found.append(client.collection(name))
    return found


def _settle(client: Client, names: Sequence[str], screen: Screen) -> None:
    """Return when nothing of these collections is pending and the index has caught up.

    Raises:
        StoreError: nothing has moved for minutes; what was sent is safe all the same.
    """
    for name in names:
        client.flush(name)
    left = _left(client, names)
    moved = time.monotonic()
    with screen.progress("extracting", left) as advance:
        while left:
            time.sleep(_POLL_S)
            now = _left(client, names)
            advance(left - now)
            moved = time.monotonic() if now != left else moved
            left = now
            if time.monotonic() - moved > _STUCK_S:
                raise StoreError(
                    f"{left} messages are accepted but nothing moved for {_STUCK_S:.0f} s; "
                    "they are not lost, see `slowwave status`"
                )


def _left(client: Client, names: Sequence[str]) -> int:
    return sum(each["pending"] + each["index_lag"] for each in _totals(client, names))


def _show(screen: Screen, done: Ingested) -> None:
    known = done.messages - done.stored
    screen.out.print(
        f"{done.messages} messages of {done.conversations} conversations: "
        f"{done.stored} stored" + (f", {known} were there already" if known else "")
    )
    columns = ("collection", "messages", "pending", "entries", "quarantined")
    rows = [[str(each[name]) for name in columns] for each in map(dict, done.collections)]
    screen.out.print(table("", columns, rows))
