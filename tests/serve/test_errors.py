"""How errors leave the service."""

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
