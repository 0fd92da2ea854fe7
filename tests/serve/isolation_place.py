"""Two tenants of one service: one that tries everything, and its neighbour, who has secrets."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from raw_http import Reply, Request, ask
from sqlalchemy import func, insert, select

from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.registry import REGISTRY
from actors.records.tables import (
    collections,
    entries,
    ledger_changes,
    messages,
    quarantine,
    recalls,
    scratchpad_items,
    scratchpad_versions,
    segments,
    sleep_runs,
    usage,
)
from pipeline.entries import Delete
from pipeline.errors import MalformedReply
from pipeline.ids import EntryId, item_id
from pipeline.messages import Scope, TenantId
from pipeline.tenancy import OWN_SCOPES, KeyScope

MINE, THEIRS = TenantId("acme"), TenantId("globex")
MY_KEY, THEIR_KEY = "sw_my-own-key-0123456789", "sw_their-secret-key-9876543210"
REVOKED_KEY, READ_KEY = "sw_my-revoked-key-0123456789", "sw_my-reading-key-0123456789"

SECRETS = ("Quetzalwing", "翡翠羽", "Ximbolaya", "藏宝洞", "geheimkammer")
"""Words that only the neighbour ever says, in texts and in names."""

SHARED, TOLD = "mara", "their-衣柜"
"""A collection that both have, and one of the neighbour's whose name is known."""

HIDDEN = "geheimkammer 藏宝洞"
_BROKEN = "unreadable"


class Picky:
    """An extractor that cannot read texts with a certain word."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def extract(self, batch: Any, *, options: Any) -> Any:
        if any(_BROKEN in message.content for message in batch.messages):
            raise MalformedReply("the reply was cut short", raw="{")
        return await self._inner.extract(batch, options=options)


@dataclass
class Known:
    """Ids and names that a request may carry, by what they name."""

    collection: list[str] = field(default_factory=list)
    conversation: list[str] = field(default_factory=list)
    entry: list[str] = field(default_factory=list)
    version: dict[str, int] = field(default_factory=dict)
    run: list[str] = field(default_factory=list)
    message: list[str] = field(default_factory=list)
    segment: list[str] = field(default_factory=list)
    item: list[str] = field(default_factory=list)
    recall: list[str] = field(default_factory=list)
    export: bytes = b"{}"


class Place:
    """The service, asked over plain ASGI in one event loop."""

    def __init__(self, house: Any) -> None:
        self.house = house
        self.app = house.client.app
        self.loop = asyncio.Runner()
        walk = house.worker._walk
        walk._extracting._extractor = Picky(walk._extracting._extractor)
        self.own = Known()
        self._rounds = 0

    # Asking -------------------------------------------------------------------------------------

    def ask(self, request: Request) -> Reply:
        """The reply; whatever it waits for is extracted meanwhile."""
        self.house.clock.advance(timedelta(milliseconds=1))
        return self.loop.run(self._asked(request))

    async def _asked(self, request: Request) -> Reply:
        asked = asyncio.create_task(ask(self.app, request))
        if b'"wait": true' in request.body:
            while not asked.done():
                await self.house.worker.round()
                await asyncio.sleep(0.01)
        return await asked

    def told(self, key: str, method: str, path: str, body: object = None, **headers: str) -> Any:
        """What a granted request answers, as JSON."""
        given = {"authorization": f"Bearer {key}", "content-type": "application/json", **headers}
        sent = tuple((n.replace("_", "-").encode(), v.encode()) for n, v in given.items())
        raw = b"" if body is None else json.dumps(body).encode()
        reply = self.ask(Request(method=method, target=path, headers=sent, body=raw))
        assert reply.is_success, (method, path, reply)
        return json.loads(reply.body)

    def work(self) -> None:
        """Ingest rounds until nothing is due."""
        while self.loop.run(self.house.worker.round()):
            pass

    # Filling ------------------------------------------------------------------------------------

    def say(self, key: str, collection: str, *texts: str, conversation: str = "talk") -> None:
        """Messages, extracted when this returns."""
        said = [{"role": "user", "speaker": "Mara", "content": text} for text in texts]
        path = f"/v1/collections/{_quoted(collection)}"
        body = {"conversation": conversation, "messages": said}
        self.told(key, "PUT", f"{path}/settings", {})  # a request may have switched flushing off
        self.told(key, "POST", f"{path}/messages", body)
        self.told(key, "POST", f"{path}/flush")
        self.work()

    def admit(self, tenant: TenantId, key: str) -> None:
        """The tenant with a key that may do all that tenants may."""
        now = self.house.clock.now()
        self.house.records.tenants.ensure_tenant(tenant, now=now)
        self.house.records.keys.add(tenant, key, scopes=list(OWN_SCOPES), now=now)

    def admit_mine(self) -> None:
        """The tenant that tries everything, also with a revoked key and one that only reads."""
        self.admit(MINE, MY_KEY)
        self.admit(MINE, REVOKED_KEY)
        keys, now = self.house.records.keys, self.house.clock.now()
        keys.revoke(MINE, REVOKED_KEY, now=now)
        keys.add(MINE, READ_KEY, scopes=[KeyScope.READ], now=now)

    def tend(self) -> None:
        """Sees to it that there is something of its own that a request can name."""
        if MINE not in self.house.records.tenants.tenants():
            self.admit_mine()
            self.house.clock.advance(timedelta(seconds=3))  # look-ups of keys are kept that long
        self.work()
        self.own = self.known(MINE)
        for name in (SHARED, "衣柜"):
            if (
                sum(1 for each in self.own.collection if each == name) == 0
                or len(self.own.entry) < 6
            ):
                self.say(MY_KEY, name, "I live in Oslo.", "我喜欢喝茶。", "The heron is grey.")
        if len(self.own.message) < 2:
            self.say(MY_KEY, SHARED, f"an {_BROKEN} word", f"{_BROKEN} 一 too")
        if not self.own.run:
            self.told(MY_KEY, "POST", "/v1/sleep/runs", {"wait": True})
        self.own = self.known(MINE)
        scope = Scope(tenant=MINE, collection=self.own.collection[-1])
        self.own.export = b"".join(self.house.records.exports.lines(scope))

    def known(self, tenant: TenantId) -> Known:
        """What there is of the tenant; messages are those held in quarantine."""
        found = Known()
        with reading(self.house.records.engine, tenant) as connection:

            def column(wanted: Any, *where: Any) -> list[Any]:
                query = select(wanted).where(wanted.table.c.tenant == tenant, *where).limit(60)
                return list(connection.execute(query.order_by(wanted)).scalars())

            found.collection = column(collections.c.name)
            found.conversation = sorted(set(column(messages.c.conversation)))
            found.entry = column(entries.c.id)
            found.run = column(sleep_runs.c.id)
            found.segment = column(segments.c.id)
            held = (quarantine.c.released_at.is_(None), quarantine.c.dropped_at.is_(None))
            found.message = column(quarantine.c.message, *held)
            mine = select(entries.c.id, entries.c.version).where(entries.c.tenant == tenant)
            found.version = {row.id: row.version for row in connection.execute(mine)}
            found.item = column(scratchpad_items.c.id)
            found.recall = column(recalls.c.id)
            pad = select(scratchpad_items.c.id, scratchpad_items.c.version)
            pad = pad.where(scratchpad_items.c.tenant == tenant)
            found.version |= {row.id: row.version for row in connection.execute(pad)}
        return found

    def counts(self, tenant: TenantId) -> dict[str, int]:
        """Rows of the tenant per table."""
        counted = {}
        with reading(self.house.records.engine, EVERY_TENANT) as connection:
            for rule in REGISTRY:
                query = select(func.count()).select_from(rule.table)
                mine = query.where(rule.table.c[rule.tenant] == tenant)
                counted[rule.table.name] = int(connection.execute(mine).scalar_one())
        return counted

    def close(self) -> None:
        """Ends the loop."""
        self.loop.close()


def _quoted(name: str) -> str:
    return "".join(f"%{byte:02X}" for byte in name.encode())


# The neighbour ------------------------------------------------------------------------------------


def settle_neighbour(place: Place) -> Known:
    """The neighbour with a row in every table; returns what of it is known to the other."""
    place.admit(THEIRS, THEIR_KEY)
    for collection in (SHARED, TOLD, HIDDEN):
        texts = [f"My {word} is in room {n} of {collection}." for n, word in enumerate(SECRETS)]
        place.say(THEIR_KEY, collection, *texts, "鹭叫翡翠羽，藏在藏宝洞。", conversation="told")
        place.say(THEIR_KEY, collection, "The garden is green.", conversation="geheimkammer")
    place.say(THEIR_KEY, HIDDEN, f"an {_BROKEN} Quetzalwing", f"{_BROKEN} 翡翠羽")
    path = f"/v1/collections/{_quoted(TOLD)}"
    said = {"role": "user", "content": "Ximbolaya waits.", "message_id": "told-1"}
    body = {"conversation": "told", "messages": [{**said, "metadata": {"where": "藏宝洞"}}]}
    place.told(THEIR_KEY, "POST", f"{path}/messages", body, idempotency_key="told-key")
    place.work()
    _correct_and_erase(place)
    _write_items(place)
    run = place.told(THEIR_KEY, "POST", "/v1/sleep/runs", {"wait": True})["id"]
    changes = place.told(THEIR_KEY, "GET", f"/v1/sleep/runs/{run}/changes")["changes"]
    assert {change["kind"] for change in changes} == {"merge", "item"}
    place.told(THEIR_KEY, "PUT", "/v1/retention", {"days": 3000})
    place.told(THEIR_KEY, "PUT", "/v1/sleep/schedule", {"cron": "0 0 29 2 *", "max_tokens": 7})
    _add_rows(place)
    place.house.clock.advance(timedelta(seconds=3))
    return _told(place.known(THEIRS))


def _correct_and_erase(place: Place) -> None:
    found = place.told(THEIR_KEY, "GET", f"/v1/collections/{SHARED}/entries")["entries"]
    first, last = found[0], found[-1]
    body = {"text": "Corrected: Quetzalwing 翡翠羽.", "metadata": {"Ximbolaya": "藏宝洞"}}
    place.told(
        THEIR_KEY, "PATCH", f"/v1/entries/{first['id']}", body, if_match=str(first["version"])
    )
    place.told(THEIR_KEY, "DELETE", f"/v1/entries/{last['id']}")


def _write_items(place: Place) -> None:
    """Two that a night will merge, and a scratchpad item with a history."""
    place.say(THEIR_KEY, SHARED, "Quetzalwing 住在藏宝洞。", "Quetzalwing 住在藏宝洞啊。")
    path, headers = f"/v1/collections/{SHARED}/scratchpad/geheimkammer", {"if_match": '"1"'}
    body = {"slot": "profile", "text": "Ximbolaya"}
    place.told(THEIR_KEY, "PUT", path, body)
    place.told(THEIR_KEY, "PATCH", path, {"text": "翡翠羽 Ximbolaya"}, **headers)


def _add_rows(place: Place) -> None:
    """What no route writes yet."""
    now = place.house.clock.now()
    row: dict[str, Any] = {"tenant": THEIRS, "collection": SHARED}
    item = {
        "version": 1,
        "slot": "profile",
        "text": "Quetzalwing",
        "status": "active",
        "said_at": now,
        "sources": [],
        "entries": [],
        "conflicts": [],
        "written_by": "sleep",
        "written_at": now,
    }
    entry = place.known(THEIRS).entry[0]
    shown = [{"entry": entry, "version": 1, "score": 0.5, "rank": 1}]
    returned = {"query_hash": "h", "entries": shown, "tokens": 3, "seconds": 0.1, "parts": 1}
    asked = {"kind": "search", "query": "藏宝洞", "returned": returned, "created_at": now}
    asked["id"] = "recall-of-theirs"
    with writing(place.house.records.engine, THEIRS) as connection:
        connection.execute(insert(scratchpad_items).values(**row, id="item-of-theirs", **item))
        version = {"item": "item-of-theirs", "why": "Ximbolaya", **item}
        connection.execute(insert(scratchpad_versions).values(**row, **version))
        change = {
            "run": "run-of-theirs",
            "subject": "item-of-theirs",
            "ordinal": 1,
            "kind": "item",
            "version_before": 0,
            "version_after": 1,
            "reason": "Ximbolaya",
            "state": "applied",
            "changed_at": now,
        }
        connection.execute(insert(ledger_changes).values(**row, **change))
        connection.execute(insert(recalls).values(**row, **asked))
        day = {"day": now.date(), "purpose": "extract", "model": "m", "measure": "geheimkammer"}
        day["amount"] = 7
        connection.execute(insert(usage).values(**row, **day))
    decision = Delete(superseded_by=EntryId("x"), reason="翡翠羽")
    scope = Scope(tenant=THEIRS, collection=SHARED)
    place.house.records.sleep.cache_decisions({"k": decision}, scope=scope, through=99, now=now)


def _told(known: Known) -> Known:
    """Every other id, and no name that holds a secret."""

    def half(ids: Sequence[str]) -> list[str]:
        return [each for each in ids[::2] if not any(word in each for word in SECRETS)]

    return Known(
        collection=[SHARED, TOLD],
        conversation=["told"],
        entry=half(known.entry),
        run=half(known.run),
        message=half(known.message),
        segment=half(known.segment),
        item=half(known.item),
        recall=known.recall,
    )


def canaries(place: Place, told: Known) -> list[str]:
    """All that must appear in no reply to anybody else: secrets, and ids that were not told."""
    engine = place.house.records.engine
    found = {*SECRETS, THEIR_KEY}
    with reading(engine, EVERY_TENANT) as connection:
        for table in (entries, messages, scratchpad_items, segments, sleep_runs):
            query = select(table.c.id).where(table.c.tenant == THEIRS)
            found.update(connection.execute(query).scalars())
    # Whoever imports an entry under an id that was told has the item that follows from that id.
    follows = {item_id(EntryId(each)) for each in told.entry}
    told_ids = {*told.entry, *told.run, *told.message, *told.segment, *told.item}
    return sorted(found - told_ids - follows)


def state(place: Place, tenant: TenantId) -> dict[str, list[str]]:
    """Everything of the tenant: rows by table, exports and points, to be compared as a whole."""
    found: dict[str, list[str]] = {}
    records = place.house.records
    with reading(records.engine, EVERY_TENANT) as connection:
        for rule in REGISTRY:
            query = select(rule.table).where(rule.table.c[rule.tenant] == tenant)
            rows = connection.execute(query).all()
            found[rule.table.name] = sorted(repr(tuple(map(_exact, row))) for row in rows)
    for name in place.known(tenant).collection:
        scope = Scope(tenant=tenant, collection=name)
        found[f"export of {name}"] = [repr(line) for line in records.exports.lines(scope)]
        points = place.house.edge.scan(scope, limit=10_000)
        found[f"points of {name}"] = [repr((each, each.dense.tolist())) for each in points]
    return found


def _exact(value: object) -> object:
    return value.tobytes() if hasattr(value, "tobytes") else value
