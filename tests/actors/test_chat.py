"""A chat model behind an endpoint that is slow, fails, lies or talks without end."""

import asyncio
import gzip
import json
import logging
import pickle
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from scripted_chat import (
    ENDLESS,
    FAILING,
    FULL,
    HANGING,
    LONG,
    Act,
    Script,
    say,
    scripted_chat,
)

from actors.chat import Endpoint, EndpointChat, is_strict
from actors.chat_failures import retry_after_s
from actors.chat_limits import EndpointLimits
from pipeline.chat import ChatPurpose, ChatReply, ChatRequest
from pipeline.errors import (
    ConfigError,
    LimitError,
    MalformedReply,
    ModelError,
    ModelUnavailable,
    SlowwaveError,
)
from pipeline.messages import TenantId

KEY = "sk-a-key-that-nobody-may-see"
SECRET = "Mara hid the ring under the third stair."
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
REQUEST = ChatRequest(
    tenant=TenantId("t"),
    purpose=ChatPurpose.SUMMARISE,
    system="Reply with JSON.",
    user=SECRET,
    max_tokens=50,
    schema=SCHEMA,
)


def asking(
    script: Script,
    *requests: ChatRequest,
    pauses: list[float] | None = None,
    draw: Callable[[], float] = lambda: 0.5,
    **changes: Any,
) -> list[ChatReply | BaseException]:
    """What becomes of the requests, asked at once; pauses are noted and not waited for."""

    async def sleep(seconds: float) -> None:
        if pauses is not None:
            pauses.append(seconds)
        await asyncio.sleep(0)

    async def ask() -> list[ChatReply | BaseException]:
        room = EndpointLimits(requests_per_minute=None, tokens_per_minute=None, draw=lambda: 0.0)
        endpoint = replace(
            Endpoint(url=script.url, model="tiny", key=KEY, timeout_s=5.0, attempts=3), **changes
        )
        chat = EndpointChat(endpoint, limits=room, sleep=sleep, draw=draw)
        try:
            return await asyncio.gather(
                *(chat.reply(request) for request in requests or [REQUEST]), return_exceptions=True
            )
        finally:
            await chat.close()

    return asyncio.run(ask())


def asked_once(script: Script, **changes: Any) -> ChatReply:
    (reply,) = asking(script, **changes)
    assert isinstance(reply, ChatReply)
    return reply


def failing(script: Script, **changes: Any) -> SlowwaveError:
    (error,) = asking(script, **changes)
    assert isinstance(error, SlowwaveError)
    return error


def test_a_reply_comes_with_its_model_and_the_tokens_that_were_counted() -> None:
    with scripted_chat(say('{"a": "b"}')) as script:
        reply = asked_once(script)

    assert reply == ChatReply(text='{"a": "b"}', model="tiny", tokens_in=13, tokens_out=9)
    (asked,) = script.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["messages"] == [
        {"role": "system", "content": "Reply with JSON."},
        {"role": "user", "content": SECRET},
    ]
    assert (asked.body["max_tokens"], asked.body["temperature"]) == (50, 0.0)


@pytest.mark.parametrize(
    ("structured", "expected"),
    [
        (
            "json_schema",
            {
                "type": "json_schema",
                "json_schema": {"name": "summarise", "schema": SCHEMA, "strict": False},
            },
        ),
        ("json_object", {"type": "json_object"}),
        ("none", None),
    ],
)
def test_a_schema_is_asked_for_as_far_as_the_endpoint_can(
    structured: str, expected: object
) -> None:
    with scripted_chat(say("{}")) as script:
        asked_once(script, structured=structured)

    assert script.asked[0].body.get("response_format") == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (SCHEMA, False),
        (SCHEMA | {"additionalProperties": False}, True),
        (SCHEMA | {"additionalProperties": False, "required": []}, False),
        ({"type": "array", "items": SCHEMA}, False),
        ({"anyOf": [SCHEMA | {"additionalProperties": False}, {"type": "null"}]}, True),
    ],
)
def test_only_a_schema_without_optional_parts_is_enforced_to_the_letter(
    schema: dict[str, Any], expected: bool
) -> None:
    assert is_strict(schema) is expected


def test_an_endpoint_may_name_its_bound_otherwise_and_refuse_a_temperature() -> None:
    with scripted_chat() as script:
        asked_once(script, tokens_field="max_completion_tokens", has_temperature=False)

    body = script.asked[0].body
    assert body["max_completion_tokens"] == 50
    assert not body.keys() & {"max_tokens", "temperature"}


def test_images_travel_beside_the_users_text() -> None:
    seen = replace(REQUEST, images=("https://example.org/a.png", "data:image/png;base64,AAAA"))

    with scripted_chat() as script:
        asking(script, seen)

    assert script.asked[0].body["messages"][1]["content"] == [
        {"type": "text", "text": SECRET},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]


@pytest.mark.parametrize(
    ("act", "sign"),
    [(FAILING, "500"), (FULL, "429"), (Act(answers=False), "connection"), (HANGING, "timeout")],
)
def test_what_may_pass_is_tried_again_and_the_reply_says_why(act: Act, sign: str) -> None:
    with scripted_chat(act, say("yes")) as script:
        reply = asked_once(script, timeout_s=0.5)

    assert (reply.text, reply.retried) == ("yes", (sign,))
    assert len(script.asked) == 2


def test_pauses_grow_and_one_that_the_endpoint_asks_for_is_kept() -> None:
    pauses: list[float] = []

    with scripted_chat(FAILING, FAILING, FULL, say("yes")) as script:
        reply = asked_once(script, pauses=pauses, attempts=4)

    assert reply.retried == ("500", "500", "429")
    assert pauses[:3] == [0.5, 1.0, 2.0]  # the third try's own pause is longer than Retry-After
    assert pauses[3] == pytest.approx(1.0, abs=0.2)  # everybody's, noted again at the next try


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (FAILING, ModelUnavailable),
        (HANGING, ModelUnavailable),
        (FULL, LimitError),
    ],
)
def test_an_endpoint_that_answers_nobody_is_given_up_after_all_tries(
    act: Act, kind: type[SlowwaveError]
) -> None:
    with scripted_chat(act) as script:
        error = failing(script, timeout_s=0.3)

    assert type(error) is kind
    assert isinstance(error, LimitError | ModelUnavailable)
    assert error.retry_after_s > 0
    assert len(script.asked) == 3


def test_a_request_that_fails_alone_while_others_are_answered_is_told_apart() -> None:
    def act_for(body: dict[str, Any]) -> str:
        if "poison" in body["messages"][-1]["content"]:
            time.sleep(1.5)
        return "yes"

    requests = [replace(REQUEST, user=text) for text in ("poison", "one", "two")]
    with scripted_chat(Act(says=act_for)) as script:
        bad, *good = asking(script, *requests, timeout_s=0.5)

    assert type(bad) is ModelError
    assert [isinstance(each, ChatReply) for each in good] == [True, True]


@pytest.mark.parametrize("status", [401, 403, 404, 307])
def test_an_endpoint_that_lets_nobody_in_is_not_asked_again(status: int) -> None:
    with scripted_chat(Act(status=status, body=b"{}", headers={"Location": "/away"})) as script:
        error = failing(script)

    assert type(error) is ModelUnavailable
    assert str(status) in str(error)
    assert len(script.asked) == 1


def test_a_request_that_is_refused_is_not_sent_again_and_the_code_is_told() -> None:
    refusal = {"error": {"message": f"too long: {SECRET}", "code": "context_length_exceeded"}}

    with scripted_chat(Act(status=400, body=json.dumps(refusal).encode())) as script:
        error = failing(script)

    assert type(error) is ModelError
    assert error.message == "the chat endpoint failed: 400 context_length_exceeded"
    assert len(script.asked) == 1


def test_a_wait_longer_than_patience_is_handed_on() -> None:
    with scripted_chat(replace(FULL, headers={"Retry-After": "3600"})) as script:
        error = failing(script)

    assert isinstance(error, LimitError)
    assert error.retry_after_s == 3600
    assert len(script.asked) == 1


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.25"}, 0.25),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After-Ms": "1500", "Retry-After": "9"}, 1.5),
        ({}, None),
    ],
)
def test_when_to_come_again_is_read_in_every_form(
    headers: dict[str, str], expected: float | None
) -> None:
    assert retry_after_s(headers, now=lambda: 10.0) == expected


def test_five_megabytes_are_not_taken_in() -> None:
    with scripted_chat(ENDLESS) as script:
        began = time.monotonic()
        error = failing(script, max_reply_chars=10_000)

    assert isinstance(error, MalformedReply)
    assert len(error.raw) <= 2_000 < LONG
    assert time.monotonic() - began < 5
    assert len(script.asked) == 1


def test_many_who_are_told_to_wait_come_back_one_after_the_other() -> None:
    chances = iter([0.0, 1.0, 0.5] * 10)
    pauses: list[float] = []
    wait = replace(FULL, headers={"Retry-After": "5"})

    with scripted_chat(wait, wait, wait, say("yes")) as script:
        asking(script, REQUEST, REQUEST, REQUEST, pauses=pauses, draw=lambda: next(chances))

    assert sorted(pauses)[-3:] == [5.0, 5.5, 6.0]


@pytest.mark.parametrize(
    ("act", "tokens"),
    [
        (Act(body=b"<html>busy</html>"), (14, 5, True)),
        (Act(body=b""), (14, 0, True)),
        (ENDLESS, (14, 50, True)),
        (Act(body=b'{"usage": {"prompt_tokens": 7, "completion_tokens": 3}}'), (7, 3, False)),
        (Act(body=b'{"usage": {"prompt_tokens": 7}}'), (7, 8, True)),
        (Act(body=b"x" * 10, headers={"Content-Encoding": "gzip"}), (14, 0, True)),
    ],
    ids=range(6),
)
def test_a_call_counts_whatever_was_in_its_answer(act: Act, tokens: tuple[int, int, bool]) -> None:
    with scripted_chat(act) as script:
        error = failing(script, max_reply_chars=10_000)

    assert isinstance(error, MalformedReply)
    call = error.call
    assert call is not None
    assert (call.tokens_in, call.tokens_out, call.is_estimated) == tokens
    assert (call.text, call.model) == ("", "tiny")
    assert pickle.loads(pickle.dumps(error)).call == call


def test_a_reply_inside_the_bound_of_bytes_and_over_that_of_characters_is_refused() -> None:
    with scripted_chat(say("词" * 101)) as script:
        error = failing(script, max_reply_chars=100)

    assert isinstance(error, MalformedReply)
    assert "101 characters" in error.message


def test_an_answer_that_unfolds_is_not_unpacked() -> None:
    packed = gzip.compress(b" " * 50_000_000)

    with scripted_chat(Act(body=packed, headers={"Content-Encoding": "gzip"})) as script:
        error = failing(script)

    assert isinstance(error, MalformedReply)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>busy</html>",
        b"[]",
        b"null",
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": [{"message": {"content": ["x"]}}]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=range(9),
)
def test_an_answer_that_is_no_reply_is_an_error_with_how_it_began(body: bytes) -> None:
    with scripted_chat(Act(body=body)) as script:
        error = failing(script)

    assert isinstance(error, MalformedReply)
    assert error.raw == body[:2_000].decode(errors="replace")


@pytest.mark.parametrize("usage", [None, 7, {}, {"prompt_tokens": -4, "completion_tokens": 10**30}])
def test_tokens_that_are_not_counted_credibly_are_estimated(usage: object) -> None:
    document = {"choices": [{"message": {"content": "词词词词"}}], "usage": usage}

    with scripted_chat(Act(body=json.dumps(document).encode())) as script:
        reply = asked_once(script)

    assert (reply.tokens_in, reply.tokens_out, reply.is_estimated) == (14, 3, True)


@pytest.mark.parametrize("text", ["", "\ud83d", '{"a": "x', "```json\n{}\n```", "上周三"])
def test_the_text_is_handed_on_as_it_came(text: str) -> None:
    with scripted_chat(say(text)) as script:
        assert asked_once(script).text == text


def test_a_reply_without_content_is_empty_and_one_at_its_bound_is_cut() -> None:
    document = {"choices": [{"message": {"content": None}, "finish_reason": "length"}]}

    with scripted_chat(Act(body=json.dumps(document).encode())) as script:
        reply = asked_once(script)

    assert (reply.text, reply.is_cut, reply.model) == ("", True, "tiny")


def test_many_requests_are_in_flight_at_once() -> None:
    with scripted_chat(Act(seconds=0.5)) as script:
        began = time.monotonic()
        replies = asking(script, *[REQUEST] * 20)

    assert all(isinstance(each, ChatReply) for each in replies)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("act", [FAILING, FULL, HANGING, ENDLESS, Act(body=b"no"), Act(status=418)])
def test_neither_log_nor_error_holds_words_or_the_key(
    act: Act, caplog: pytest.LogCaptureFixture
) -> None:
    telling = replace(act, body=SECRET.encode() if act.body == b"no" else act.body)
    logging.getLogger("openai").setLevel(logging.DEBUG)
    caplog.set_level(logging.DEBUG)

    with scripted_chat(telling) as script:
        error = failing(script, timeout_s=0.3, max_reply_chars=1_000)

    told = "".join(traceback.format_exception(error)) + str(error) + caplog.text
    for hidden in (SECRET, SECRET[:12], KEY):
        assert hidden not in told
    assert KEY not in repr(Endpoint(url="https://example.org/v1", model="m", key=KEY))


@pytest.mark.parametrize(
    "url",
    ["", "example.org", "ftp://example.org", "http://example.org/v1", "https://me:pw@example.org"],
)
def test_an_address_that_cannot_be_trusted_is_refused(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Endpoint(url=url, model="m")

    assert refused.value.field == "chat.endpoint"
    assert "pw" not in str(refused.value)


def test_plain_http_is_for_this_machine_or_where_it_is_asked_for() -> None:
    urls: Sequence[str] = ("http://127.0.0.1:1/v1", "http://localhost/v1", "https://example.org")

    assert [Endpoint(url=url, model="m").url for url in urls] == list(urls)
    assert Endpoint(url="http://vllm.inside/v1", model="m", plain_http=True).plain_http


def test_a_certificate_that_nobody_vouches_for_is_refused(tls_url: str) -> None:
    script = Script([], url=tls_url)

    error = failing(script)

    assert type(error) is ModelUnavailable
    assert "connection" in error.message


@pytest.fixture
def tls_url(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """An endpoint with a certificate of its own making."""
    import ssl
    import subprocess
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.handle_error = lambda *about: None  # type: ignore[method-assign]  # the client hangs up
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()
