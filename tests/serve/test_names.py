"""``.`` and ``..`` name nothing, and no path is turned into that of another thing."""

from typing import Any

import pytest

TRIP = "/v1/collections/trip"
STEPS = ["%2E", "%2E%2E", "%2e%2E"]


def say(*texts: str, conversation: str = "c1") -> dict[str, Any]:
    messages = [{"role": "user", "content": text} for text in texts]
    return {"conversation": conversation, "messages": messages}


def refusal(reply: Any) -> tuple[int, str, str]:
    error = reply.json()["error"]
    return reply.status_code, error["type"], error["field"]


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize(
    ("method", "rest", "body"),
    [
        ("POST", "/messages", say("Hello.")),
        ("POST", "/flush", {}),
        ("POST", "/search", {"query": "hello"}),
        ("POST", "/import", {}),
        ("POST", "/reindex", {}),
        ("GET", "/export", None),
        ("GET", "", None),
        ("DELETE", "", None),
        ("DELETE", "/conversations/c1", None),
    ],
)
def test_no_collection_is_named_by_a_step_of_a_path(
    house: Any, name: str, method: str, rest: str, body: Any
) -> None:
    reply = house.client.request(method, f"/v1/collections/{name}{rest}", json=body)

    assert refusal(reply) == (422, "InputError", "collection")
    assert house.client.get("/v1/collections").json() == {"collections": []}


@pytest.mark.parametrize("name", [".", "..", "a/../../b"])
def test_no_conversation_is_named_by_a_step_of_a_path(house: Any, name: str) -> None:
    reply = house.client.post(f"{TRIP}/messages", json=say("Hello.", conversation=name))

    assert refusal(reply) == (422, "InputError", "conversation")
    assert house.client.get(TRIP).status_code == 404


@pytest.mark.parametrize("path", ["/v1/fsck", "/v1/sleep/runs"])
def test_no_body_names_a_collection_by_a_step_of_a_path(house: Any, path: str) -> None:
    reply = house.client.post(path, json={"collection": ".."})

    assert refusal(reply) == (422, "InputError", "collection")


@pytest.mark.parametrize("name", STEPS)
def test_erasing_a_step_of_a_path_erases_nothing(house: Any, name: str) -> None:
    house.client.post(f"{TRIP}/messages", json=say("Hello.")).raise_for_status()

    conversation = house.client.delete(f"{TRIP}/conversations/{name}")
    tenant = house.client.delete(f"/v1/tenants/{name}")
    entry = house.client.delete(f"/v1/entries/{name}")

    assert refusal(conversation) == (422, "InputError", "conversation")
    assert (tenant.status_code, entry.status_code) == (404, 404)
    assert house.client.get(TRIP).json()["messages"] == 1


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{TRIP}/", 404),
        (f"{TRIP}/conversations/c1/", 404),
        (f"{TRIP}/conversations/", 422),
        ("/v1/tenants/default/", 404),
    ],
)
def test_a_path_with_a_slash_at_its_end_is_not_redirected(
    house: Any, path: str, status: int
) -> None:
    house.client.post(f"{TRIP}/messages", json=say("Hello.")).raise_for_status()

    reply = house.client.delete(path, follow_redirects=False)

    assert reply.status_code == status
    assert house.client.get(TRIP).json()["messages"] == 1


def test_an_empty_idempotency_key_is_refused_by_name(house: Any) -> None:
    reply = house.client.post(
        f"{TRIP}/messages", json=say("Hello."), headers={"Idempotency-Key": ""}
    )

    assert refusal(reply) == (422, "InputError", "Idempotency-Key")
