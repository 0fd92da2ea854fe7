"""The client against a server that answers from a script."""

import sys
from pathlib import Path

import pytest

from pipeline.errors import (
    AccessError,
    Conflict,
    InputError,
    LimitError,
    ModelError,
    NotFound,
    SlowwaveError,
    StoreError,
    TooLarge,
)
from serve.client import Client

sys.path.insert(0, str(Path(__file__).parent))
from scripted_server import Answer, scripted

MESSAGES = "POST /v1/collections/ana/messages"
SEARCH = "POST /v1/collections/ana/search"
ACCEPTED = {"sequences": [1], "messages": [], "searchable": None}
HELLO = [{"role": "user", "content": "你好"}]


def client(url: str) -> Client:
    return Client(url, pause_s=0.001)


def error(status: int, kind: str) -> Answer:
    return Answer(status, {"error": {"type": kind, "message": "no", "field": "messages[0].role"}})


def test_a_key_is_sent_with_every_call() -> None:
    with (
        scripted({"GET /v1/collections": [Answer(body={"collections": []})]}) as server,
        Client(server.url, "secret") as known,
    ):
        assert known.collections() == []
        assert server.asked[0].headers["Authorization"] == "Bearer secret"


def test_ingestion_carries_a_key_of_its_own_that_stays_over_retries() -> None:
    with (
        scripted({MESSAGES: [None, Answer(503, "busy"), Answer(202, ACCEPTED)]}) as server,
        client(server.url) as mine,
    ):
        assert mine.ingest("ana", HELLO)["sequences"] == [1]
        mine.ingest("ana", HELLO)

        keys = [asked.headers["Idempotency-Key"] for asked in server.asked]
        assert len(keys) == 4
        assert len(set(keys)) == 2
        assert server.asked[0].body["messages"] == HELLO


def test_a_wait_asked_for_by_the_service_is_kept() -> None:
    limited = Answer(429, {"error": {"type": "LimitError"}}, {"Retry-After": "0.01"})
    with (
        scripted({SEARCH: [limited, Answer(body={"hits": []})]}) as server,
        Client(server.url, pause_s=60) as mine,
    ):
        assert mine.search("ana", "tea") == []


def test_the_proxys_error_while_no_replica_is_up_is_tried_again() -> None:
    with (
        scripted({SEARCH: [Answer(500, "Internal Server Error"), Answer(body={"hits": []})]}) as s,
        client(s.url) as mine,
    ):
        assert mine.search("ana", "tea") == []


def test_what_may_not_be_repeated_is_sent_once() -> None:
    with (
        scripted({"POST /v1/sleep/runs": [Answer(503, "busy")]}) as server,
        client(server.url) as mine,
    ):
        with pytest.raises(StoreError):
            mine.sleep()

        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, AccessError),
        (403, AccessError),
        (404, NotFound),
        (409, Conflict),
        (413, TooLarge),
        (422, InputError),
        (429, LimitError),
        (500, SlowwaveError),
        (502, ModelError),
        (503, StoreError),
    ],
)
def test_an_error_of_the_service_is_raised_as_it_was(
    status: int, kind: type[SlowwaveError]
) -> None:
    with (
        scripted({SEARCH: [error(status, kind.__name__)]}) as server,
        Client(server.url, attempts=1) as mine,
    ):
        with pytest.raises(kind, match="no") as caught:
            mine.search("ana", "tea")

        assert type(caught.value) is kind
        assert caught.value.status == status
        assert caught.value.field == "messages[0].role"


def test_a_service_that_does_not_answer_is_a_store_error_with_its_address() -> None:
    with (
        Client("http://127.0.0.1:9", attempts=2, pause_s=0.001) as mine,
        pytest.raises(StoreError, match=r"127\.0\.0\.1:9"),
    ):
        mine.runs()


def test_an_answer_that_is_not_json_is_a_store_error() -> None:
    with (
        scripted({"GET /v1/sleep/runs": [Answer(200, "<html>")]}) as server,
        client(server.url) as mine,
        pytest.raises(StoreError, match="not JSON"),
    ):
        mine.runs()


def test_text_that_is_no_unicode_is_refused_before_it_is_sent() -> None:
    with scripted({}) as server, client(server.url) as mine:
        with pytest.raises(InputError):
            mine.ingest("ana", [{"role": "user", "content": "\ud83d"}])
        with pytest.raises(InputError):
            mine.search("a\ud83d", "tea")

        assert server.asked == []


def test_names_are_quoted_into_one_path_segment() -> None:
    answers = {"GET /v1/collections/a%2Fb%20%E4%B8%AD/segments": [Answer(body={"segments": []})]}
    with scripted(answers) as server, client(server.url) as mine:
        assert mine.segments("a/b 中") == []


def test_all_entries_follow_the_cursor() -> None:
    pages = [
        Answer(body={"entries": [{"id": "1"}], "cursor": "next"}),
        Answer(body={"entries": [{"id": "2"}], "cursor": None}),
    ]
    with (
        scripted({"GET /v1/collections/ana/entries": pages}) as server,
        client(server.url) as mine,
    ):
        assert [entry["id"] for entry in mine.all_entries("ana")] == ["1", "2"]
        assert "cursor=next" in server.asked[1].path


def test_a_correction_names_the_version_it_corrects() -> None:
    with (
        scripted({"PATCH /v1/entries/e1": [Answer(body={"id": "e1", "version": 3})]}) as server,
        client(server.url) as mine,
    ):
        assert mine.correct("e1", version=2, changes={"text": "x"})["version"] == 3
        assert server.asked[0].headers["If-Match"] == "2"
        assert server.asked[0].body == {"text": "x"}
