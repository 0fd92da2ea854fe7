"""The scratchpad, archived entries and what a night changed, over HTTP."""

from datetime import timedelta

from pipeline.entries import EntryChange, Status
from pipeline.ids import EntryId
from pipeline.messages import TenantId

PAD = "/v1/collections/ola/scratchpad"
DEFAULT = TenantId("default")


def told(house, *texts: str) -> None:
    messages = [{"role": "user", "speaker": "Ola", "content": text} for text in texts]
    body = {"messages": messages}
    assert house.client.post("/v1/collections/ola/messages", json=body).status_code == 202
    house.client.post("/v1/collections/ola/flush")
    house.work()


def test_items_are_there_with_their_sources_once_their_entries_are(house) -> None:
    told(
        house,
        "My name is Ola and I live in Oslo.",
        "Please always answer in French.",
        "我喜欢喝茶。",
    )

    found = house.client.get(PAD).json()

    slots = {item["slot"] for item in found["items"]}
    assert {"instructions", "preferences"} <= slots
    assert found["tokens"] > 0
    for item in found["items"]:
        assert (item["version"], item["status"], item["written_by"]) == (1, "active", "ingest")
        assert item["sources"][0]["sequence"]
        assert len(item["entries"]) == 1
    only = house.client.get(PAD, params={"slot": "instructions"}).json()["items"]
    assert [item["slot"] for item in only] == ["instructions"]


def test_an_item_is_written_edited_removed_and_brought_back_by_version(house) -> None:
    told(house, "I live in Oslo.")
    item = f"{PAD}/mine"
    body = {"slot": "profile", "text": "Ola keeps herons."}

    made = house.client.put(item, json=body)
    again = house.client.put(item, json=body)
    other = house.client.put(item, json=body | {"text": "Something else."})

    assert (made.status_code, made.json()["version"]) == (200, 1)
    assert again.json() == made.json()
    assert other.status_code == 409
    edited = house.client.patch(item, json={"text": "奥拉养鹭。"}, headers={"If-Match": "1"})
    assert (edited.json()["version"], edited.json()["written_by"]) == (2, "user")
    stale = house.client.patch(item, json={"text": "x"}, headers={"If-Match": "1"})
    assert (stale.status_code, stale.json()["error"]["field"]) == (409, "If-Match")
    assert house.client.delete(item).status_code == 422
    gone = house.client.delete(item, headers={"If-Match": "2"}).json()
    assert gone["status"] == "removed"
    assert "mine" not in [each["id"] for each in house.client.get(PAD).json()["items"]]
    back = house.client.put(item, json=body, headers={"If-Match": "3"}).json()
    assert (back["status"], back["version"], back["text"]) == ("active", 4, body["text"])
    versions = house.client.get(f"{item}/history").json()["versions"]
    assert [(each["item"]["version"], each["why"]) for each in versions] == [
        (1, "written by a user"),
        (2, "edited by a user"),
        (3, "edited by a user"),
        (4, "edited by a user"),
    ]


def test_what_makes_no_item_is_refused_by_name(house) -> None:
    told(house, "I live in Oslo.")

    def refused(**body: object) -> tuple[int, str]:
        reply = house.client.put(f"{PAD}/mine", json=body)
        return reply.status_code, reply.json()["error"]["field"]

    assert refused(slot="moods", text="x") == (422, "slot")
    assert refused(slot="profile", text="  ") == (422, "text")
    assert refused(slot="profile", text="x", kind="fact") == (422, "kind")
    nothing = house.client.patch(f"{PAD}/mine", json={}, headers={"If-Match": "1"})
    assert nothing.status_code == 422
    folded = {"status": "folded"}
    assert house.client.put(f"{PAD}/mine", json={"slot": "profile", "text": "x"}).is_success
    wrong = house.client.patch(f"{PAD}/mine", json=folded, headers={"If-Match": "1"})
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, "status")
    assert house.client.get("/v1/collections/nobody/scratchpad").status_code == 404
    assert house.client.get(f"{PAD}/nothing").status_code == 404


def test_a_collection_may_name_its_own_slots(house) -> None:
    own = {
        "slots": {
            "likes": {"kinds": ["preference", "instruction"], "protected": True},
            "goals": {},
        }
    }
    settings = "/v1/collections/ola/settings"
    assert house.client.patch(settings, json=own).is_success
    told(house, "Please always answer in French.", "I moved to Oslo.")

    [item] = house.client.get(PAD).json()["items"]
    goal = house.client.put(f"{PAD}/g", json={"slot": "goals", "text": "Learn Norwegian."})

    assert (item["slot"], goal.status_code) == ("likes", 200)
    twice = {"slots": {"a": {"kinds": ["fact"]}, "b": {"kinds": ["fact"]}}}
    refused = house.client.patch(settings, json=twice)
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "slots")


def test_an_archived_entry_is_restored_and_found_again(house) -> None:
    told(house, "I live in Oslo.")
    [entry] = house.client.get("/v1/collections/ola/entries").json()["entries"]
    house.records.entries.revise(
        DEFAULT,
        EntryId(entry["id"]),
        EntryChange(status=Status.ARCHIVED),
        expected_version=1,
        vector=None,
        model=house.embedder.model,
        why="test",
        now=house.clock.now(),
    )
    house.clock.advance(timedelta(days=1))

    restored = house.client.post(f"/v1/entries/{entry['id']}/restore")

    assert (restored.status_code, restored.json()["status"]) == (200, "active")
    query = {"query": "Where does Ola live?"}
    hits = house.client.post("/v1/collections/ola/search", json=query).json()["hits"]
    assert [hit["entry"]["id"] for hit in hits] == [entry["id"]]
    again = house.client.post(f"/v1/entries/{entry['id']}/restore").json()
    assert again["version"] == restored.json()["version"]
    assert house.client.post("/v1/entries/nothing/restore").status_code == 404


def test_a_run_that_changed_nothing_besides_says_so(house) -> None:
    told(house, "I live in Oslo.")
    run = house.client.post("/v1/sleep/runs", json={"wait": True}).json()["id"]

    assert house.client.get(f"/v1/sleep/runs/{run}/changes").json() == {"changes": []}
    assert house.client.get("/v1/sleep/runs/none/changes").status_code == 404
