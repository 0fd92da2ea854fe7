"""How errors leave the service."""

from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient

from pipeline.errors import StoreError
from serve.ingress import errors


def test_a_store_that_cannot_be_used_says_when_to_come_again() -> None:
    api = FastAPI()
    errors.install(api)

    @api.get("/full")
    async def full() -> None:
        raise StoreError("磁盘已满: database or disk is full")

    reply = TestClient(api).get("/full")

    assert reply.status_code == 503
    assert reply.headers["Retry-After"] == "5"
    assert reply.json()["error"]["type"] == "StoreError"


def test_the_description_of_the_api_knows_every_refusal(house: Any) -> None:
    paths = house.client.get("/openapi.json").json()["paths"]

    for path, methods in paths.items():
        for method, described in methods.items():
            for status in map(str, errors.RESPONSES):
                shape = described["responses"][status]["content"]["application/json"]["schema"]
                assert shape == {"$ref": "#/components/schemas/RefusedOut"}, (method, path, status)


def test_a_refusal_is_as_the_description_says(house: Any) -> None:
    refused = house.client.get("/v1/collections/nobody")

    told = errors.RefusedOut.model_validate(refused.json(), extra="forbid")
    assert (refused.status_code, told.error.type) == (404, "NotFound")
