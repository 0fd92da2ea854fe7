"""Erased is erased: in every file and every reply. And what moves comes over whole."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from pipeline.entries import Kind, Status, Update, Writer
from pipeline.ids import EntryId, RunId, point_id
from pipeline.messages import Scope, TenantId
from pipeline.recall.lexical import sparse_passage
from pipeline.runs import LedgerItem, SleepRun, Weighed
from pipeline.state import IndexPoint

MARA = "/v1/collections/mara"
OLA = "/v1/collections/ola"
HOME = Scope(tenant=TenantId("default"), collection="mara")
SECRETS = ["My heron is called Quetzalwing.", "我的鹭叫翡翠羽。"]
WORDS = ["Quetzalwing", "翡翠羽"]
PLAIN = "The library closes at nine."


def say(house: Any, path: str, *texts: str, conversation: str = "c1") -> None:
    messages = [
        {"role": "user", "speaker": "Mara", "content": text, "said_at": f"2025-05-08T12:{n:02}:00Z"}
        for n, text in enumerate(texts)
    ]
    body = {"conversation": conversation, "messages": messages}
    house.client.post(f"{path}/messages", json=body).raise_for_status()


def fill(house: Any, path: str, *texts: str, conversation: str = "c1") -> None:
    say(house, path, *texts, conversation=conversation)
    house.client.post(f"{path}/flush").raise_for_status()
    house.work()


def entries(house: Any, path: str = MARA) -> list[dict[str, Any]]:
    return list(house.client.get(f"{path}/entries").json()["entries"])


def entry_about(house: Any, word: str, path: str = MARA) -> dict[str, Any]:
    [found] = [entry for entry in entries(house, path) if word in entry["text"]]
    return found


def spellings(word: str) -> list[bytes]:
    escaped = json.dumps(word)[1:-1].encode()
    return [
        *{word.encode(), word.lower().encode(), escaped, escaped.upper()},
        word.encode("utf-16-le"),
        word.encode("utf-16-be"),
    ]


def files_with(home: Path, word: str) -> list[str]:
    """The files under the home in which the word lies in any spelling."""
    return [
        path.name
        for path in home.rglob("*")
        if path.is_file() and any(each in path.read_bytes() for each in spellings(word))
    ]


def replies(house: Any, path: str = MARA) -> Iterator[str]:
    """All that the API says of the collection."""
    client = house.client
    for part in ("", "/messages", "/entries", "/segments", "/export"):
        yield client.get(f"{path}{part}").text
    for entry in entries(house, path) if client.get(path).is_success else []:
        yield client.get(f"/v1/entries/{entry['id']}").text
        yield client.get(f"/v1/entries/{entry['id']}/history").text
    for word in WORDS:
        yield client.post(f"{path}/search", json={"query": f"heron 鹭 {word[:1]}"}).text
        yield client.post(f"{path}/context", json={"query": "heron 鹭"}).text
    for run in client.get("/v1/sleep/runs").json()["runs"]:
        yield client.get(f"/v1/sleep/runs/{run['id']}/decisions").text


def assert_gone(house: Any, path: str = MARA) -> None:
    for word in WORDS:
        assert files_with(house.home, word) == []
        assert not any(word in reply for reply in replies(house, path))


@pytest.mark.parametrize("word", WORDS)
def test_an_erased_entry_is_found_in_no_file_and_no_reply(house: Any, word: str) -> None:
    fill(house, MARA, PLAIN, *SECRETS)
    assert files_with(house.home, word)

    receipt = house.client.delete(f"/v1/entries/{entry_about(house, word)['id']}")

    assert receipt.status_code == 200
    assert receipt.json()["messages"] == receipt.json()["entry_versions"] == 1
    assert files_with(house.home, word) == []
    assert not any(word in reply for reply in replies(house))
    other = next(each for each in WORDS if each != word)
    assert files_with(house.home, other)
    assert [m["sequence"] for m in house.client.get(f"{MARA}/messages").json()["messages"]] == [
        1,
        2,
        3,
    ]


def test_what_else_was_said_stays_and_is_found_after_an_erasure(house: Any) -> None:
    fill(house, MARA, PLAIN, *SECRETS)

    for word in WORDS:
        house.client.delete(f"/v1/entries/{entry_about(house, word)['id']}")

    assert [entry["text"] for entry in entries(house)] == [entry_about(house, "library")["text"]]
    hits = house.client.post(f"{MARA}/search", json={"query": "library"}).json()["hits"]
    assert "library" in hits[0]["entry"]["text"]
    assert_gone(house)


def test_an_erased_conversation_is_gone_and_its_neighbour_stays(house: Any) -> None:
    fill(house, MARA, *SECRETS, conversation="herons/日记")
    fill(house, MARA, PLAIN, conversation="c2")

    receipt = house.client.delete(f"{MARA}/conversations/herons/日记")
    counted = house.client.get("/v1/collections").json()["collections"]

    assert [each["messages"] for each in counted] == [1]
    assert house.client.post("/v1/fsck").json() == {"differences": []}
    assert receipt.json()["messages"] == 2
    assert receipt.json()["conversations"] == 1
    assert [entry["text"] for entry in entries(house)] == [entry_about(house, "library")["text"]]
    assert house.client.delete(f"{MARA}/conversations/herons/日记").status_code == 404
    assert_gone(house)


def test_erasing_a_collection_leaves_the_others_whole(house: Any) -> None:
    fill(house, MARA, *SECRETS, "I like tea.")
    fill(house, OLA, PLAIN, "I have a cat.", "I live in Oslo.")

    receipt = house.client.delete(MARA).json()

    assert receipt["messages"] == 3
    assert receipt["collections"] == 1
    assert house.client.get(MARA).status_code == 404
    assert len(entries(house, OLA)) == 3
    assert house.client.post(f"{OLA}/search", json={"query": "cat"}).json()["hits"]
    assert house.client.post("/v1/fsck").json() == {"differences": []}
    for word in WORDS:
        assert files_with(house.home, word) == []


def test_erasing_the_tenant_takes_everything(house: Any) -> None:
    fill(house, MARA, *SECRETS)
    say(house, OLA, *SECRETS)

    other = house.client.delete("/v1/tenants/globex")
    receipt = house.client.delete("/v1/tenants/default").json()

    assert other.status_code == 404
    assert (receipt["tenants"], receipt["collections"], receipt["messages"]) == (1, 2, 4)
    for word in [*WORDS, "Mara"]:
        assert files_with(house.home, word) == []


def test_a_collection_of_an_erased_name_begins_with_new_ids(house: Any) -> None:
    fill(house, MARA, *SECRETS)
    before = {entry["id"] for entry in entries(house)}
    house.client.delete(MARA)

    fill(house, MARA, PLAIN, "I have a cat.")

    assert house.client.get(MARA).json()["messages"] == len(entries(house)) == 2
    assert before.isdisjoint(entry["id"] for entry in entries(house))


def merge(house: Any, target: str, candidate: str) -> str:
    """A finished run that merged the candidate's text into the target."""
    older, newer = entry_about(house, target), entry_about(house, candidate)
    store, run = house.records.sleep, RunId("r1")
    now = house.clock.now()
    store.open_run(
        SleepRun(
            id=run,
            tenant=HOME.tenant,
            window_start=now,
            dry_run=False,
            status="running",
            started_at=now,
        )
    )
    union = f"{older['text']} And: {newer['text']}"
    item = LedgerItem(
        target=EntryId(older["id"]),
        target_version=older["version"],
        candidates=(Weighed(entry=EntryId(newer["id"]), version=newer["version"], similarity=0.9),),
        decision=Update(text=union, used=(EntryId(newer["id"]),), reason=f"adds {newer['text']}"),
        vector=house.embedder.embed([union], purpose="passage")[0],
        decider="rules",
    )
    seen = store.snapshot(HOME, model=house.embedder.model).through
    key = dict.fromkeys(["k"], item.decision)
    store.cache_decisions(key, scope=HOME, through=seen, now=now)
    store.record(
        run, HOME, [item], through=seen, model=house.embedder.model, dry_run=False, now=now
    )
    store.close_run(HOME.tenant, run, status="completed", totals={}, error=None, now=now)
    return run


@pytest.mark.parametrize("undone_first", [False, True])
def test_a_text_that_sleep_merged_from_an_erased_entry_is_made_without_it(
    house: Any, undone_first: bool
) -> None:
    fill(house, MARA, PLAIN, *SECRETS)
    before = entry_about(house, "library")["text"]
    run = merge(house, "library", "Quetzalwing")
    if undone_first:
        house.client.post(f"/v1/sleep/runs/{run}/undo")
    erased = [entry for entry in entries(house) if "heron" in entry["text"]][-1]

    house.client.delete(f"/v1/entries/{erased['id']}")
    undone = house.client.post(f"/v1/sleep/runs/{run}/undo").json()["items"]
    redone = house.client.post(f"/v1/sleep/runs/{run}/redo").json()["items"]

    assert entry_about(house, "library")["text"] == before
    assert [item["done"] for item in undone + redone] == [False]
    assert files_with(house.home, "Quetzalwing") == []
    assert not any("Quetzalwing" in reply for reply in replies(house))
    versions = house.records.entries.history(
        HOME.tenant, EntryId(entry_about(house, "library")["id"])
    )
    assert {version.entry.text for version in versions} == {before}
    assert versions[-1].entry.written_by is Writer.UNDO
    assert house.client.post("/v1/fsck").json() == {"differences": []}


def test_a_running_sleep_writes_nothing_of_what_was_erased_meanwhile(house: Any) -> None:
    fill(house, MARA, PLAIN, *SECRETS)
    older, newer = entry_about(house, "library"), entry_about(house, "Quetzalwing")
    store, now = house.records.sleep, house.clock.now()
    run = SleepRun(
        id=RunId("r1"),
        tenant=HOME.tenant,
        window_start=now,
        dry_run=False,
        status="running",
        started_at=now,
    )
    store.open_run(run)
    seen = store.snapshot(HOME, model=house.embedder.model).through
    decision = Update(
        text=f"{older['text']} {newer['text']}", used=(EntryId(newer["id"]),), reason=newer["text"]
    )
    item = LedgerItem(
        target=EntryId(older["id"]),
        target_version=older["version"],
        candidates=(Weighed(entry=EntryId(newer["id"]), version=1, similarity=0.9),),
        decision=decision,
        vector=house.embedder.embed(["x"], purpose="passage")[0],
    )

    house.client.delete(f"/v1/entries/{newer['id']}")
    store.cache_decisions({"k": decision}, scope=HOME, through=seen, now=now)
    [row] = store.record(
        run.id,
        HOME,
        [item],
        through=seen,
        model=house.embedder.model,
        dry_run=False,
        now=now,
    )

    assert (row.state, row.note, row.text_before, row.text_after) == ("skipped", "erased", "", None)
    assert store.cached_decisions(["k"], scope=HOME) == {}
    assert files_with(house.home, "Quetzalwing") == []


def test_an_export_comes_back_byte_for_byte_under_another_name(house: Any) -> None:
    fill(house, MARA, PLAIN, *SECRETS)
    merge(house, "library", "Quetzalwing")
    say(house, MARA, "Not yet extracted.")
    exported = house.client.get(f"{MARA}/export").content
    house.records.tenants.ensure_tenant(TenantId("other"), now=house.clock.now())

    again = house.client.post(f"{MARA}/import", content=exported)

    assert again.json()["added"] == {}
    assert again.json()["known"] == len(exported.splitlines()) - 2
    assert house.client.get(f"{MARA}/export").content == exported


def test_an_export_older_than_an_erasure_is_refused(house: Any) -> None:
    fill(house, MARA, PLAIN, *SECRETS)
    exported = house.client.get(f"{MARA}/export").content
    house.client.delete(f"/v1/entries/{entry_about(house, WORDS[0])['id']}")

    into_itself = house.client.post(f"{MARA}/import", content=exported)
    house.client.delete(MARA)
    into_nothing = house.client.post(f"{MARA}/import", content=exported)
    under_another_name = house.client.post(f"{OLA}/import", content=exported)

    for reply in (into_itself, into_nothing, under_another_name):
        assert reply.status_code == 409
        assert "older than an erasure" in reply.json()["error"]["message"]
    assert house.client.get("/v1/collections").json() == {"collections": []}
    for word in WORDS:
        assert files_with(house.home, word) == []


def test_messages_kept_long_enough_lose_their_words_and_entries_stay(house: Any) -> None:
    fill(house, MARA, SECRETS[0])
    say(house, MARA, "Wait for me.")
    house.client.put("/v1/retention", json={"days": 30}).raise_for_status()

    early = house.client.post("/v1/retention/run").json()
    house.clock.advance(timedelta(days=31))
    late = house.client.post("/v1/retention/run").json()
    again = house.client.post("/v1/retention/run").json()

    assert [reply["redacted"] for reply in (early, late, again)] == [0, 1, 0]
    contents = [m["content"] for m in house.client.get(f"{MARA}/messages").json()["messages"]]
    assert contents == ["", "Wait for me."]
    segments = house.client.get(f"{MARA}/segments").json()["segments"]
    assert [segment["topic"] for segment in segments] == [""]
    assert "Quetzalwing" in entry_about(house, "heron")["text"]


def test_what_differs_is_found_and_what_is_derived_is_repaired(house: Any) -> None:
    fill(house, MARA, PLAIN, *SECRETS)
    ids = [point.id for point in house.edge.scan(HOME)]
    kept, moved = house.edge.points(ids[:2]).values()
    house.edge.delete(ids[:1])
    house.edge.upsert([stray(house, "nobody"), replace(stray(house, moved.entry), id=moved.id)])
    change(house, "UPDATE collections SET pending = 7")
    change(house, "UPDATE entries SET sources = '[\"nowhere\"]' WHERE id = ?", kept.entry)
    change(house, "UPDATE entry_versions SET sources = '[\"nowhere\"]' WHERE entry = ?", kept.entry)

    found = house.client.post("/v1/fsck").json()["differences"]
    house.client.post("/v1/fsck", json={"repair": True})
    left = house.client.post("/v1/fsck", json={"collection": "mara"}).json()["differences"]

    assert sorted(each["kind"] for each in found) == [
        "extra point",
        "extra point",  # what stands in the place of another says that it is another version
        "missing point",
        "unknown source",
        "wrong counter",
        "wrong payload",
    ]
    assert [each["kind"] for each in left] == ["unknown source"]
    assert house.client.post(f"{MARA}/reindex").json() == {"points": 3}


def test_points_of_a_collection_that_is_no_more_are_found_and_removed(house: Any) -> None:
    fill(house, MARA, PLAIN)
    ghost = replace(HOME, collection="ghost")
    stranger = Scope(tenant=TenantId("globex"), collection="ghost")
    points = [replace(stray(house, "e"), id=str(uuid4()), scope=each) for each in (ghost, stranger)]
    house.edge.upsert(points)

    found = house.client.post("/v1/fsck", json={"repair": True}).json()["differences"]
    left = house.client.post("/v1/fsck").json()["differences"]

    assert [(each["kind"], each["collection"]) for each in found] == [("extra point", "ghost")]
    assert left == []
    assert [point.scope for point in house.edge.scan(stranger.tenant)] == [stranger]


def stray(house: Any, entry: str) -> IndexPoint:
    """A point that no entry asks for."""
    now = house.clock.now()
    return IndexPoint(
        id=point_id(HOME.tenant, EntryId(entry), 9),
        scope=HOME,
        entry=EntryId(entry),
        version=9,
        current=True,
        status=Status.ACTIVE,
        kind=Kind.FACT,
        speaker="",
        said_at=now,
        valid_from=now,
        valid_to=None,
        dense=house.embedder.embed(["x"], purpose="passage")[0],
        lexical=sparse_passage("x"),
    )


def change(house: Any, statement: str, *values: str) -> None:
    """Breaks something behind the service's back."""
    database = sqlite3.connect(house.home / "records.sqlite")
    database.execute(statement, values)
    database.commit()
    database.close()
