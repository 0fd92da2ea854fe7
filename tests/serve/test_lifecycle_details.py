"""Entries and their versions, redacted messages, and exports that are refused, over HTTP."""

import json
import sqlite3
from hashlib import sha256
from typing import Any

from actors.records.transfer_rows import line_of

MARA = "/v1/collections/mara"
OLA = "/v1/collections/ola"
PLAIN = "The library closes at nine."
HERON_ZH = "我的鹭叫翡翠羽。"


def fill(house: Any, path: str, *texts: str) -> None:
    messages = [
        {"role": "user", "speaker": "Mara", "content": text, "said_at": f"2025-05-08T12:{n:02}:00Z"}
        for n, text in enumerate(texts)
    ]
    house.client.post(f"{path}/messages", json={"messages": messages}).raise_for_status()
    house.client.post(f"{path}/flush").raise_for_status()
    house.work()


def entries(house: Any) -> list[dict[str, Any]]:
    return list(house.client.get(f"{MARA}/entries").json()["entries"])


def entry_about(house: Any, word: str) -> dict[str, Any]:
    [found] = [entry for entry in entries(house) if word in entry["text"]]
    return found


def change(house: Any, statement: str, *values: str) -> None:
    """Breaks something behind the service's back."""
    database = sqlite3.connect(house.home / "records.sqlite")
    database.execute(statement, values)
    database.commit()
    database.close()


def test_an_entry_that_is_not_as_its_newest_version_is_found_and_restored(house: Any) -> None:
    fill(house, MARA, PLAIN, HERON_ZH)
    heron, library = entry_about(house, "翡翠羽"), entry_about(house, "library")
    change(house, "UPDATE entries SET text = 'Forged.', speaker = 'Eve' WHERE id = ?", heron["id"])
    change(house, "UPDATE entries SET strength = 2.0 WHERE id = ?", library["id"])

    [found] = house.client.post("/v1/fsck").json()["differences"]
    repaired = house.client.post("/v1/fsck", json={"repair": True}).json()["differences"]

    assert (found["kind"], found["subject"]) == ("unlike its version", f"entry {heron['id']}")
    assert found["detail"] == "expected what version 1 says, found another text, speaker"
    assert repaired == [found | {"repaired": True}]
    assert house.client.get(f"/v1/entries/{heron['id']}").json() == heron
    assert house.client.post("/v1/fsck").json() == {"differences": []}


def test_an_entry_whose_version_was_changed_is_only_reported(house: Any) -> None:
    fill(house, MARA, PLAIN)
    [entry] = entries(house)
    change(house, "UPDATE entry_versions SET text = 'Forged.' WHERE entry = ?", entry["id"])

    found = house.client.post("/v1/fsck", json={"repair": True}).json()["differences"]

    assert [each["repaired"] for each in found if each["kind"] == "unlike its version"] == [False]
    assert entries(house) == [entry]


def test_a_redacted_message_names_nobody(house: Any) -> None:
    fill(house, MARA, PLAIN)
    [entry] = entries(house)

    house.client.delete(f"/v1/entries/{entry['id']}").raise_for_status()

    [message] = house.client.get(f"{MARA}/messages").json()["messages"]
    assert (message["content"], message["speaker"], message["role"]) == ("", "user", "user")
    assert message["said_at"] == "2025-05-08T12:00:00Z"
    assert "Mara" not in house.client.get(f"{MARA}/export").text


def test_an_export_of_another_model_is_refused_by_name(house: Any) -> None:
    fill(house, MARA, PLAIN)
    lines = house.client.get(f"{MARA}/export").content.splitlines(keepends=True)
    head = json.loads(lines[0])
    head["models"] = {"another-model": 8}
    lines[0] = line_of(head)
    body = b"".join(lines[:-1])
    end = line_of({"lines": len(lines) - 1, "sha256": sha256(body).hexdigest()})

    reply = house.client.post(f"{OLA}/import", content=body + end)

    assert reply.status_code == 422
    assert reply.json()["error"]["type"] == "InputError"
    assert reply.json()["error"]["field"] == "model"
    assert house.client.get(OLA).status_code == 404


def test_a_second_name_in_one_tenant_is_refused_with_where_the_rows_are(house: Any) -> None:
    fill(house, MARA, PLAIN)
    lines = house.client.get(f"{MARA}/export").content

    reply = house.client.post(f"{OLA}/import", content=lines)

    assert reply.status_code == 409
    assert "the collection 'mara'" in reply.json()["error"]["message"]
    assert "in another tenant or store" in reply.json()["error"]["message"]
