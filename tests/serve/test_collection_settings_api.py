"""Settings of a collection's own over HTTP: set, seen, refused by name, kept to."""

from typing import Any

import pytest

MARA = "/v1/collections/mara"
BOSS = "sw_operators-key-of-the-tests-0123456789"


def message(text: str, **extra: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, "said_at": "2025-05-08T12:00:00Z", **extra}


def say(house: Any, *messages: dict[str, Any], **extra: Any) -> Any:
    return house.client.post(f"{MARA}/messages", json={"messages": list(messages), **extra})


def test_settings_are_put_seen_changed_and_taken_back(house: Any) -> None:
    put = house.client.put(f"{MARA}/settings", json={"rate": 0.5, "window_tokens": 256})
    patched = house.client.patch(f"{MARA}/settings", json={"rate": None, "roles": ["user"]})
    seen = house.client.get(f"{MARA}/settings").json()

    assert put.json()["settings"] == {"rate": 0.5, "window_tokens": 256}
    assert seen == patched.json()
    assert seen["settings"] == {"window_tokens": 256, "roles": ["user"]}
    assert seen["in_force"]["rate"] == 0.6
    assert seen["in_force"]["window_tokens"] == 256
    assert house.client.get("/v1/collections").json()["collections"][0]["collection"] == "mara"


def test_what_is_not_there_has_no_settings(house: Any) -> None:
    reply = house.client.get(f"{MARA}/settings")

    assert reply.status_code == 404
    assert reply.json()["error"]["field"] == "collection"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"triggers": []}, "triggers"),
        ({"triggers": ["turns"]}, "turns"),
        ({"turns": 3}, "turns"),
        ({"triggers": ["topic_shift"], "granularity": "turn"}, "triggers"),
        ({"rate": 1.5}, "rate"),
        ({"prompt": "\ud83d"}, "body"),
        ({"prompt": "字" * 20_001}, "prompt"),
    ],
)
@pytest.mark.parametrize("method", ["put", "patch"])
def test_what_cannot_be_kept_to_is_refused_by_name_and_changes_nothing(
    house: Any, method: str, body: dict[str, Any], field: str
) -> None:
    house.client.put(f"{MARA}/settings", json={"rate": 0.5})
    if field == "body":
        content = b'{"prompt": "\\ud83d"}'
        reply = house.client.request(method, f"{MARA}/settings", content=content)
    else:
        reply = house.client.request(method, f"{MARA}/settings", json=body)

    assert reply.status_code == 422
    assert reply.json()["error"]["field"] in (field, "prompt")
    assert house.client.get(f"{MARA}/settings").json()["settings"] == {"rate": 0.5}


def test_a_turn_at_a_time_is_extracted_without_a_flush(house: Any) -> None:
    house.client.put(
        f"{MARA}/settings", json={"granularity": "turn", "triggers": ["turns"], "turns": 1}
    )
    say(house, message("I moved to Lisbon."), message("我养了一只猫。"))
    house.work()

    found = house.client.get(f"{MARA}/entries").json()["entries"]

    assert len(found) == 1
    assert "Lisbon" in found[0]["text"]
    assert house.client.get(MARA).json()["pending"] == 1


def test_a_collection_that_leaves_no_flush_refuses_one_and_takes_no_message_that_waits(
    house: Any,
) -> None:
    house.client.put(f"{MARA}/settings", json={"triggers": ["tokens", "idle"]})

    waited = say(house, message("I like tea."), wait=True)
    flushed = house.client.post(f"{MARA}/flush")

    for reply in (waited, flushed):
        assert reply.status_code == 409
        assert reply.json()["error"]["field"] == "triggers"
    assert house.client.get(MARA).json()["messages"] == 0
    assert say(house, message("I like tea.")).status_code == 202


def test_an_ended_conversation_is_cut_into_segments_and_goes_on_as_a_new_topic(house: Any) -> None:
    say(house, message("I moved to Lisbon."), message("I like tea."), conversation="kitchen")
    house.work()
    assert house.client.get(f"{MARA}/segments").json()["segments"] == []

    ended = house.client.post(f"{MARA}/conversations/kitchen/end")
    house.work()

    assert ended.status_code == 202
    assert ended.json() == {"conversation": "kitchen", "through": 2}
    assert len(house.client.get(f"{MARA}/segments").json()["segments"]) == 1
    assert house.client.get(f"{MARA}/entries").json()["entries"] == []  # it waits in the buffer

    say(house, message("I sing."), conversation="kitchen")
    house.client.post(f"{MARA}/flush").raise_for_status()
    house.work()
    assert len(house.client.get(f"{MARA}/segments").json()["segments"]) == 2
    assert len(house.client.get(f"{MARA}/entries").json()["entries"]) == 3


def test_where_conversations_are_extracted_as_a_whole_one_that_ended_leaves_alone(
    house: Any,
) -> None:
    own = {"triggers": ["flush"], "granularity": "conversation"}
    house.client.put(f"{MARA}/settings", json=own).raise_for_status()
    say(house, message("I moved to Lisbon."), conversation="kitchen")
    say(house, message("I grow beans."), conversation="garden")
    house.work()

    house.client.post(f"{MARA}/conversations/kitchen/end").raise_for_status()
    house.work()

    entries = house.client.get(f"{MARA}/entries").json()["entries"]
    assert len(entries) == 1
    assert "Lisbon" in entries[0]["text"]
    assert house.client.get(MARA).json()["pending"] == 1


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (f"{MARA}/conversations/attic/end", "conversation"),
        ("/v1/collections/nobody/conversations/kitchen/end", "collection"),
    ],
)
def test_the_end_of_a_conversation_that_there_is_not_is_a_404(
    house: Any, path: str, field: str
) -> None:
    say(house, message("I like tea."))

    reply = house.client.post(path)

    assert reply.status_code == 404
    assert reply.json()["error"]["field"] == field


def test_an_unknown_key_is_told_with_the_nearest_one(house: Any) -> None:
    reply = house.client.patch(f"{MARA}/settings", json={"rates": 0.5})

    assert reply.status_code == 422
    assert "did you mean rate? Expected one of triggers" in reply.json()["error"]["message"]


def test_a_flush_of_an_empty_window_empties_the_buffer_and_a_second_one_changes_nothing(
    house: Any,
) -> None:
    house.client.put(f"{MARA}/settings", json={"granularity": "turn", "short_term_tokens": 500})
    say(house, message("I moved to Lisbon."), message("I like tea."))
    house.work()
    assert house.client.get(f"{MARA}/entries").json()["entries"] == []

    for _ in range(2):
        house.client.post(f"{MARA}/flush").raise_for_status()
        house.work()
        assert len(house.client.get(f"{MARA}/entries").json()["entries"]) == 2
    assert house.client.get(MARA).json()["pending"] == 0


def test_a_key_that_may_only_read_sets_nothing_and_no_key_reaches_another_tenant(
    closed: Any,
) -> None:
    boss = {"Authorization": f"Bearer {BOSS}"}
    made = closed.client.post(
        "/v1/tenants", json={"name": "reader", "scopes": ["read"]}, headers=boss
    )
    reader = {"Authorization": f"Bearer {made.json()['secret']}"}
    closed.client.put(f"{MARA}/settings", json={"rate": 0.4}, headers=boss).raise_for_status()

    refused = closed.client.put(f"{MARA}/settings", json={"rate": 0.4}, headers=reader)
    unseen = closed.client.get(f"{MARA}/settings", headers=reader)

    assert refused.status_code == 403
    assert unseen.status_code == 404


def test_a_message_without_content_is_an_error_that_names_it(house: Any) -> None:
    house.client.put(f"{MARA}/settings", json={"granularity": "turn", "compression": False})

    reply = say(house, message("I like tea."), message("  "))

    assert reply.status_code == 422
    assert reply.json()["error"]["field"] == "messages[1].content"
