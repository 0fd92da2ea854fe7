"""Keys, scopes, tenants and quotas over HTTP: who may do what, and nothing of a neighbour."""

import json
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest

from pipeline.tenancy import KeyScope
from serve.ingress.access import SCOPES, needed_scope

BOSS = {"Authorization": "Bearer sw_operators-key-of-the-tests-0123456789"}
MARA = "/v1/collections/mara"


def say(*texts: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "speaker": "Mara", "content": text} for text in texts]}


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def create(house: Any, name: str, **body: Any) -> dict[str, str]:
    """The headers of a new tenant's first key."""
    reply = house.client.post("/v1/tenants", json={"name": name, **body}, headers=BOSS)
    assert reply.status_code == 201, reply.text
    return bearer(reply.json()["secret"])


def fill(house: Any, headers: dict[str, str], *texts: str, path: str = MARA) -> None:
    house.client.post(f"{path}/messages", json=say(*texts), headers=headers).raise_for_status()
    house.client.post(f"{path}/flush", headers=headers).raise_for_status()
    house.work()


def error(reply: httpx.Response) -> tuple[int, str, str | None]:
    found = reply.json()["error"]
    return reply.status_code, found["type"], found["field"]


# Keys ---------------------------------------------------------------------------------------------


def test_without_a_key_nothing_but_health_answers(closed: Any) -> None:
    refused = closed.client.get("/v1/collections")

    assert error(refused)[:2] == (401, "AccessError")
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    assert closed.client.get("/healthz").status_code == 200


def test_the_local_profile_needs_no_key_and_may_administer(house: Any) -> None:
    created = house.client.post("/v1/tenants", json={"name": "acme"})

    assert created.status_code == 201
    names = [tenant["name"] for tenant in house.client.get("/v1/tenants").json()["tenants"]]
    assert names == ["acme", "default"]


@pytest.mark.parametrize("name", ["*", "Acme", "", "a" * 64, "公司", "a b", "../x", "a\x00"])
def test_a_bad_tenant_name_is_refused_by_name(closed: Any, name: str) -> None:
    reply = closed.client.post("/v1/tenants", json={"name": name}, headers=BOSS)

    assert error(reply) == (422, "InputError", "name")


def test_a_key_is_shown_once_and_is_random(closed: Any) -> None:
    first = closed.client.post("/v1/tenants", json={"name": "acme"}, headers=BOSS)
    second = closed.client.post("/v1/tenants", json={"name": "globex"}, headers=BOSS)

    secrets = {first.json()["secret"], second.json()["secret"]}
    listed = closed.client.get("/v1/tenants", headers=BOSS).text
    assert len(secrets) == 2
    assert all(secret.startswith("sw_") and len(secret) > 40 for secret in secrets)
    assert not any(secret in listed for secret in secrets)
    assert error(closed.client.post("/v1/tenants", json={"name": "acme"}, headers=BOSS)) == (
        409,
        "Conflict",
        "name",
    )


@pytest.mark.parametrize(
    ("scope", "method", "path", "body"),
    [
        ("ingest", "POST", f"{MARA}/messages", say("hi")),
        ("ingest", "POST", f"{MARA}/flush", {}),
        ("ingest", "POST", f"{MARA}/conversations/kitchen/end", {}),
        ("read", "GET", "/v1/collections", None),
        ("read", "POST", f"{MARA}/search", {"query": "x"}),
        ("read", "POST", f"{MARA}/context", {"query": "x"}),
        ("read", "POST", f"{MARA}/answer", {"query": "x"}),
        ("ingest", "POST", f"{MARA}/answer", {"query": "x", "store": True}),
        ("read", "GET", "/v1/ingest", None),
        ("read", "GET", "/v1/quarantine", None),
        ("sleep", "POST", "/v1/sleep/runs", {}),
        ("ingest", "POST", "/v1/quarantine/m/retry", None),
        ("ingest", "POST", "/v1/quarantine/m/drop", None),
        ("admin", "GET", "/v1/tenants", None),
        ("admin", "POST", "/v1/tenants", {"name": "evil"}),
        ("admin", "POST", "/v1/tenants/default/keys", {"scopes": ["admin"]}),
        ("admin", "POST", "/v1/tenants/default/disable", None),
        ("admin", "POST", "/v1/tenants/acme/enable", None),
        ("admin", "PATCH", "/v1/tenants/acme/quotas", {"lag_messages": None}),
        ("erase", "DELETE", "/v1/entries/e1", None),
        ("erase", "DELETE", "/v1/collections/mara", None),
        ("erase", "DELETE", "/v1/collections/mara/conversations/a%2Fb", None),
        ("erase", "DELETE", "/v1/tenants/acme", None),
        ("erase", "PUT", "/v1/retention", {"days": 3}),
    ],
)
def test_a_key_without_the_scope_is_refused_and_told_which(
    closed: Any, scope: str, method: str, path: str, body: Any
) -> None:
    others = [each.value for each in KeyScope if each.value not in (scope, "admin")]
    headers = create(closed, "acme", scopes=others)

    reply = closed.client.request(method, path, json=body, headers=headers)

    assert error(reply) == (403, "AccessError", "key")
    assert re.search(rf"the scope {scope}(,| or )", reply.json()["error"]["message"])


def test_every_route_that_changes_something_names_its_scope_or_is_an_operators(house: Any) -> None:
    routes = _routes(house.client.app)
    templates = {(method, path) for method, path in routes if path.startswith("/v1/")}

    assert set(SCOPES) <= templates
    for method, path in templates - set(SCOPES):
        expected = KeyScope.READ if method == "GET" else KeyScope.ADMIN
        assert needed_scope(method, path) is expected


def _routes(app: Any) -> set[tuple[str, str]]:
    document = app.openapi()["paths"]
    return {(method.upper(), path) for path, methods in document.items() for method in methods}


def test_an_operators_key_alone_sees_how_far_ingestion_is_and_no_content(closed: Any) -> None:
    fill(closed, create(closed, "globex"), "I live in Oslo.")
    operator = create(closed, "acme", scopes=["admin"])

    seen = closed.client.get("/v1/ingest", headers=operator)

    assert [each["tenant"] for each in seen.json()["tenants"]] == ["acme", "default", "globex"]
    assert error(closed.client.get("/v1/collections", headers=operator))[0] == 403


@pytest.mark.parametrize(
    ("scopes", "looks", "repairs"),
    [(["read"], 200, 403), (["ingest"], 200, 200), (["sleep", "erase"], 403, 403)],
)
def test_who_may_read_may_check_and_who_may_ingest_may_repair(
    closed: Any, scopes: list[str], looks: int, repairs: int
) -> None:
    headers = create(closed, "acme", scopes=scopes)

    looked = closed.client.post("/v1/fsck", headers=headers)
    repaired = closed.client.post("/v1/fsck", json={"repair": True}, headers=headers)

    assert (looked.status_code, repaired.status_code) == (looks, repairs)


def test_rotation_ends_the_old_key_at_once_here(closed: Any) -> None:
    old = create(closed, "acme")
    assert closed.client.get("/v1/collections", headers=old).status_code == 200

    new = closed.client.post("/v1/tenants/acme/keys", json={}, headers=BOSS).json()["secret"]

    assert error(closed.client.get("/v1/collections", headers=old))[0] == 401
    assert closed.client.get("/v1/collections", headers=bearer(new)).status_code == 200


def test_with_a_grace_both_keys_work_until_it_ends(closed: Any) -> None:
    old = create(closed, "acme")
    body = {"grace_s": 60}
    new = closed.client.post("/v1/tenants/acme/keys", json=body, headers=BOSS).json()["secret"]

    assert closed.client.get("/v1/collections", headers=old).status_code == 200
    closed.clock.advance(timedelta(seconds=61))

    assert error(closed.client.get("/v1/collections", headers=old))[0] == 401
    assert closed.client.get("/v1/collections", headers=bearer(new)).status_code == 200


def test_a_key_revoked_elsewhere_ends_within_the_lifetime_of_a_look_up(closed: Any) -> None:
    headers = create(closed, "acme")
    secret = headers["Authorization"].removeprefix("Bearer ")
    assert closed.client.get("/v1/collections", headers=headers).status_code == 200

    closed.records.keys.revoke("acme", secret, now=closed.clock.now())
    closed.clock.advance(timedelta(seconds=2))

    assert error(closed.client.get("/v1/collections", headers=headers))[0] == 401


def test_a_disabled_tenant_gets_403_at_once_and_its_neighbour_nothing_of_it(closed: Any) -> None:
    acme, globex = create(closed, "acme"), create(closed, "globex")
    fill(closed, acme, "I moved to Lisbon.")

    closed.client.post("/v1/tenants/acme/disable", headers=BOSS).raise_for_status()

    assert error(closed.client.get(MARA, headers=acme)) == (403, "AccessError", "tenant")
    assert closed.client.get("/v1/collections", headers=globex).status_code == 200
    closed.client.post("/v1/tenants/acme/enable", headers=BOSS).raise_for_status()
    assert closed.client.get(MARA, headers=acme).json()["messages"] == 1


def test_a_tenant_disabled_elsewhere_accepts_nothing_from_that_instant(closed: Any) -> None:
    acme = create(closed, "acme")
    closed.client.post(f"{MARA}/messages", json=say("one"), headers=acme).raise_for_status()

    closed.records.tenants.disable("acme", now=closed.clock.now())

    reply = closed.client.post(f"{MARA}/messages", json=say("two"), headers=acme)
    assert error(reply) == (403, "AccessError", "tenant")


def test_an_operator_cannot_lock_itself_out(closed: Any) -> None:
    reply = closed.client.post("/v1/tenants/default/disable", headers=BOSS)

    assert error(reply) == (409, "Conflict", "tenant")


def test_an_unknown_tenant_is_404(closed: Any) -> None:
    for verb in ("keys", "disable", "enable"):
        reply = closed.client.post(f"/v1/tenants/nobody/{verb}", headers=BOSS)
        assert reply.status_code == 404
    assert closed.client.get("/v1/ingest?tenant=nobody", headers=BOSS).status_code == 404


# Nothing crosses ----------------------------------------------------------------------------------


def test_metadata_that_names_another_owner_moves_nothing(closed: Any) -> None:
    acme, globex = create(closed, "acme"), create(closed, "globex")
    fill(closed, acme, "The meeting is on Monday.")
    [entry] = closed.client.get(f"{MARA}/entries", headers=acme).json()["entries"]
    metadata = {"user_id": "u2", "tenant": "globex", "collection": "u2"}

    changed = closed.client.patch(
        f"/v1/entries/{entry['id']}",
        json={"metadata": metadata},
        headers={**acme, "If-Match": str(entry["version"])},
    )
    moved = closed.client.patch(
        f"/v1/entries/{entry['id']}",
        json={"collection": "u2", "tenant": "globex"},
        headers={**acme, "If-Match": str(entry["version"] + 1)},
    )

    assert changed.json()["collection"] == "mara"
    assert error(moved)[0] == 422
    query = {"query": "meeting Monday"}
    assert closed.client.post(f"{MARA}/search", json=query, headers=acme).json()["hits"]
    for where in (MARA, "/v1/collections/u2"):
        assert closed.client.post(f"{where}/search", json=query, headers=globex).status_code == 404
    assert closed.client.get(f"/v1/entries/{entry['id']}", headers=globex).status_code == 404


def test_crafted_filters_find_nothing_of_a_neighbour(closed: Any) -> None:
    acme, globex = create(closed, "acme"), create(closed, "globex")
    fill(closed, acme, "The locker code is the word maple.")
    fill(closed, globex, "The garden is green.")

    plain = closed.client.post(f"{MARA}/search", json={"query": "locker code"}, headers=globex)
    crafted = closed.client.post(
        f"{MARA}/search",
        json={"query": "locker code", "filters": {"user_id": {"in": ["acme"]}}},
        headers=globex,
    )
    context = closed.client.post(f"{MARA}/context", json={"query": "locker code"}, headers=globex)

    assert "maple" not in plain.text + crafted.text + context.text
    assert error(crafted) == (422, "InputError", "filters")


def without_recalls(export: bytes) -> list[bytes]:
    """The rows of an export but what was asked meanwhile."""
    rows = export.splitlines()[1:-1]
    return [row for row in rows if json.loads(row)["table"] != "recalls"]


def test_a_neighbour_with_a_copy_of_all_my_ids_takes_nothing_from_me(closed: Any) -> None:
    acme, globex = create(closed, "acme"), create(closed, "globex")
    fill(closed, acme, "The locker code is the word maple.", "密码是枫叶。")
    exported = closed.client.get(f"{MARA}/export", headers=acme).content
    query = {"query": "locker code 密码"}
    mine = closed.client.post(f"{MARA}/search", json=query, headers=acme).json()["hits"]

    closed.client.post(f"{MARA}/import", content=exported, headers=globex).raise_for_status()
    both = [
        closed.client.post(f"{MARA}/search", json=query, headers=each) for each in (acme, globex)
    ]
    closed.client.delete(MARA, headers=globex).raise_for_status()

    assert [reply.json()["hits"] for reply in both] == [mine, mine]
    assert closed.client.post(f"{MARA}/search", json=query, headers=acme).json()["hits"] == mine
    kept = closed.client.get(f"{MARA}/export", headers=acme).content
    assert without_recalls(kept) == without_recalls(exported)


def test_what_is_done_to_one_tenant_leaves_the_other_as_it_was(closed: Any) -> None:
    first, second = create(closed, "u1"), create(closed, "u2")
    for headers in (first, second):
        fill(closed, headers, "I live in Oslo.", "I have a cat.", "我喜欢喝茶。")

    closed.client.post("/v1/tenants/u1/disable", headers=BOSS).raise_for_status()
    closed.client.post("/v1/tenants/u1/keys", headers=BOSS).raise_for_status()

    entries = closed.client.get(f"{MARA}/entries", headers=second).json()["entries"]
    assert len(entries) == 3


def test_a_tenant_sees_its_own_ingestion_and_an_operator_all(closed: Any) -> None:
    acme, globex = create(closed, "acme"), create(closed, "globex")
    closed.client.post(f"{MARA}/messages", json=say("one", "two"), headers=acme)

    own = closed.client.get("/v1/ingest", headers=acme).json()["tenants"]
    every = closed.client.get("/v1/ingest", headers=BOSS).json()["tenants"]
    named = closed.client.get("/v1/ingest?tenant=acme", headers=globex)

    assert [(each["tenant"], each["accepted"], each["pending"]) for each in own] == [("acme", 2, 2)]
    assert own[0]["oldest_pending_age_s"] == 0
    assert [each["tenant"] for each in every] == ["acme", "default", "globex"]
    assert error(named) == (403, "AccessError", "tenant")


# Limits -------------------------------------------------------------------------------------------


def test_the_quota_per_minute_answers_429_with_whole_seconds(closed: Any) -> None:
    acme = create(closed, "acme", quotas={"messages_per_minute": 3})
    closed.client.post(f"{MARA}/messages", json=say("1", "2", "3"), headers=acme).raise_for_status()

    refused = closed.client.post(f"{MARA}/messages", json=say("4"), headers=acme)

    assert error(refused) == (429, "LimitError", "messages_per_minute")
    assert refused.headers["Retry-After"] == "20"
    assert refused.json()["error"]["limit"] == 3
    closed.clock.advance(timedelta(seconds=20))
    again = closed.client.post(f"{MARA}/messages", json=say("4"), headers=acme)
    assert again.json()["sequences"] == [4]


def test_beyond_the_lag_limit_acceptance_waits_for_extraction(closed: Any) -> None:
    acme = create(closed, "acme", quotas={"lag_messages": 2})
    closed.client.post(f"{MARA}/messages", json=say("1"), headers=acme).raise_for_status()
    closed.client.post(f"{MARA}/messages", json=say("2"), headers=acme).raise_for_status()

    refused = closed.client.post(f"{MARA}/messages", json=say("3"), headers=acme)

    assert error(refused) == (429, "LimitError", "lag_messages")
    assert refused.json()["error"]["current"] == 2
    assert refused.json()["error"]["limit"] == 2
    assert int(refused.headers["Retry-After"]) >= 1
    closed.client.post(f"{MARA}/flush", headers=acme).raise_for_status()
    closed.work()
    closed.clock.advance(timedelta(seconds=1))
    again = closed.client.post(f"{MARA}/messages", json=say("3"), headers=acme)
    assert again.json()["sequences"] == [3]


def test_stored_entries_have_a_limit_of_their_own(closed: Any) -> None:
    acme = create(closed, "acme", quotas={"stored_entries": 1})
    fill(closed, acme, "I live in Oslo.")
    closed.clock.advance(timedelta(seconds=10))

    refused = closed.client.post(f"{MARA}/messages", json=say("I have a cat."), headers=acme)

    assert error(refused) == (429, "LimitError", "stored_entries")
    assert refused.json()["error"]["limit"] == 1


def test_a_changed_quota_counts_from_the_next_request(closed: Any) -> None:
    acme = create(closed, "acme", quotas={"messages_per_minute": 1})
    closed.client.post(f"{MARA}/messages", json=say("1"), headers=acme).raise_for_status()

    changed = closed.client.patch(
        "/v1/tenants/acme/quotas", json={"messages_per_minute": None}, headers=BOSS
    )

    assert changed.json()["quotas"]["messages_per_minute"] is None
    reply = closed.client.post(f"{MARA}/messages", json=say("2", "3"), headers=acme)
    assert reply.status_code == 202


@pytest.mark.parametrize("told", [True, False])
def test_a_body_over_the_limit_is_refused_whether_its_length_is_told_or_not(
    house: Any, told: bool
) -> None:
    body = b'{"messages": [' + b" " * 2_000_001 + b"]}"
    chunks = iter([body[:1_000_000], body[1_000_000:2_000_000], body[2_000_000:]])

    reply = house.client.post(
        f"{MARA}/messages",
        content=body if told else chunks,
        headers={"content-type": "application/json"},
    )

    assert error(reply) == (413, "TooLarge", "body")
    assert ("content-length" in reply.request.headers) == told
