from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.awake.normalise import RawMessage, normalise
from pipeline.errors import InputError
from pipeline.messages import NewMessage, Role

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


def raw(index: int = 0, **fields: Any) -> RawMessage:
    return RawMessage(**{"index": index, "role": "user", "content": "hello", **fields})


def normalised(
    *messages: RawMessage, zone: str | None = None, previous: datetime | None = None
) -> list[NewMessage]:
    return normalise(messages, conversation="c1", zone=zone, previous_said_at=previous, now=NOW)


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ("user", Role.USER),
        ("Human", Role.USER),
        ("assistant", Role.ASSISTANT),
        ("ai", Role.ASSISTANT),
        ("BOT", Role.ASSISTANT),
        ("model", Role.ASSISTANT),
        ("system", Role.SYSTEM),
        ("developer", Role.SYSTEM),
        ("tool", Role.TOOL),
        ("function", Role.TOOL),
    ],
)
def test_usual_names_of_roles_are_understood(said: str, role: Role) -> None:
    assert normalised(raw(role=said))[0].role is role


def test_the_speaker_defaults_to_the_role() -> None:
    messages = normalised(raw(role="human"), raw(1, speaker="Ida"), raw(2, speaker=" "))

    assert [message.speaker for message in messages] == ["user", "Ida", "user"]


def test_the_text_is_never_altered() -> None:
    text = "  Grüße,\t豆豆 \u200d👩\u200d🚀\n\n"

    assert normalised(raw(content=text))[0].content == text


def test_a_message_without_a_time_takes_that_of_the_one_before() -> None:
    messages = normalised(
        raw(),
        raw(1, said_at="2025-03-05T10:00:00Z"),
        raw(2),
        previous=datetime(2025, 1, 2, tzinfo=UTC),
    )

    assert [message.said_at for message in messages] == [
        datetime(2025, 1, 2, tzinfo=UTC),
        datetime(2025, 3, 5, 10, tzinfo=UTC),
        datetime(2025, 3, 5, 10, tzinfo=UTC),
    ]


def test_a_first_message_without_a_time_was_said_now() -> None:
    assert normalised(raw())[0].said_at == NOW


def test_the_zone_of_a_message_comes_before_that_of_the_collection() -> None:
    messages = normalised(
        raw(said_at="2025-07-01 12:45"),
        raw(1, said_at="2025-07-01 12:45", zone="+02:00"),
        raw(2),
        zone="Asia/Shanghai",
    )

    assert [(message.said_at.hour, message.zone) for message in messages] == [
        (4, "Asia/Shanghai"),
        (10, "+02:00"),
        (10, "Asia/Shanghai"),
    ]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"role": "wizard"}, "role"),
        ({"role": None}, "role"),
        ({"role": "\ud83d"}, "role"),
        ({"content": ""}, "content"),
        ({"content": " \n\t\u3000\u200b"}, "content"),
        ({"content": "a\0b"}, "content"),
        ({"content": "a\ud83d"}, "content"),
        ({"content": 7}, "content"),
        ({"content": None}, "content"),
        ({"content": ["a"]}, "content"),
        ({"speaker": "I\0da"}, "speaker"),
        ({"speaker": 3}, "speaker"),
        ({"said_at": "soon"}, "said_at"),
        ({"said_at": True}, "said_at"),
        ({"said_at": "\udc00"}, "said_at"),
        ({"zone": "Mars/Base"}, "zone"),
        ({"zone": 8}, "zone"),
        ({"zone": ["UTC"]}, "zone"),
        ({"message_id": ""}, "message_id"),
        ({"message_id": 5}, "message_id"),
        ({"metadata": {"a": float("nan")}}, "metadata"),
        ({"metadata": {"a": ["\ud83d"]}}, "metadata"),
        ({"metadata": {"a\0": 1}}, "metadata"),
        ({"metadata": {1: 1}}, "metadata"),
        ({"metadata": {"a": object()}}, "metadata"),
    ],
)
def test_one_bad_field_refuses_the_whole_batch_and_is_named(
    fields: dict[str, Any], place: str
) -> None:
    with pytest.raises(InputError) as caught:
        normalised(raw(), raw(3, **fields))

    assert caught.value.field == f"messages[3].{place}"
    assert "got" in str(caught.value)
    assert str(caught.value).encode()


def test_bottomless_metadata_is_refused() -> None:
    nested: dict[str, Any] = {}
    for _ in range(100):
        nested = {"a": nested}

    with pytest.raises(InputError, match="32 levels"):
        normalised(raw(metadata=nested))


def test_metadata_is_kept_as_it_came() -> None:
    metadata = {"tags": ["a", 1, None, True], "place": {"lat": 1.5}}

    assert normalised(raw(metadata=metadata))[0].metadata == metadata


def test_an_unknown_zone_of_the_collection_is_refused_even_without_messages() -> None:
    with pytest.raises(InputError) as caught:
        normalised(zone="Nowhere")

    assert caught.value.field == "zone"


def test_the_name_of_the_conversation_must_be_storable() -> None:
    with pytest.raises(InputError) as caught:
        normalise([], conversation="a\0", zone=None, previous_said_at=None, now=NOW)

    assert caught.value.field == "conversation"


@pytest.mark.parametrize(
    "given",
    [
        {"caption": "a red kite"},
        {"metadata": {"caption": "a red kite"}},
        {"metadata": {"caption": ["a red kite"]}},
        {"caption": "a red kite", "metadata": {"caption": " a red kite "}},
    ],
)
def test_a_caption_enters_as_text_behind_what_was_said(given: dict[str, Any]) -> None:
    [message] = normalised(raw(content="Look!", **given))

    assert message.content == "Look!\n[image: a red kite]"


def test_an_image_alone_is_its_caption() -> None:
    assert normalised(raw(content="", caption="红色的风筝"))[0].content == "[image: 红色的风筝]"


def test_a_caption_that_the_text_holds_already_is_not_said_twice() -> None:
    said = "Look! [image: a red kite]"

    assert normalised(raw(content=said, caption="a red kite"))[0].content == said


@pytest.mark.parametrize("held", [5, "", [], [None, " "], {"en": "a kite"}])
def test_metadata_that_only_share_the_name_are_no_caption(held: Any) -> None:
    assert normalised(raw(content="Look!", metadata={"caption": held}))[0].content == "Look!"


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"caption": " "}, "messages[0].caption"),
        ({"content": ""}, "messages[0].content"),
        ({"content": 5, "caption": "a kite"}, "messages[0].content"),
    ],
)
def test_a_caption_that_is_no_text_is_refused_by_name(given: dict[str, Any], place: str) -> None:
    with pytest.raises(InputError) as refused:
        normalised(raw(**given))

    assert refused.value.field == place
