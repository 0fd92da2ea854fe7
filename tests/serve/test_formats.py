import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.awake.normalise import RawMessage, normalise
from pipeline.errors import InputError
from serve.formats import FORMATS, ConversationIn, detect, read

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def written(folder: Path, content: Any, name: str = "talk.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def rows(*values: Any) -> str:
    return "\n".join(json.dumps(value, ensure_ascii=False) for value in values)


def texts(conversation: ConversationIn) -> list[Any]:
    return [message["content"] for message in conversation.messages]


LOCOMO = [
    {
        "sample_id": "pair-1",
        "qa": [],
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Bo",
            "session_10_date_time": "9:05 am on 2 June, 2024",
            "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "Back again."}],
            "session_2_date_time": "1:56 pm on 8 May, 2024",
            "session_2": [
                {"speaker": "Ana", "dia_id": "D2:1", "text": "Look!", "blip_caption": "a kite"},
                {"speaker": "Bo", "dia_id": "D2:2", "text": "Nice."},
            ],
            "session_3_date_time": "1:56 pm on 9 May, 2024",
        },
    }
]
BEAM = [
    {
        "batch_number": 1,
        "time_anchor": None,
        "turns": [
            [
                {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "Hi ->-> 1,1"},
                {"role": "assistant", "id": 1, "content": "Hello."},
            ],
            [{"role": "user", "id": 2, "content": "Use a ->-> b please"}],
        ],
    },
    {"batch_number": 2, "turns": [[{"role": "user", "id": 3, "content": "More ->-> 2,N/A"}]]},
]
GROUP = {
    "version": "1.0.0",
    "session_meta": {
        "group_id": "g1",
        "default_timezone": "Asia/Shanghai",
        "user_details": {
            "u1": {"full_name": "陈晨", "role": "user"},
            "u2": {"full_name": "小助手", "role": "robot"},
        },
    },
    "conversation_list": [
        {
            "message_id": "m1",
            "create_time": "2025-06-26 09:00",
            "sender": "u1",
            "sender_name": "Chen",
            "type": "text",
            "content": "早上好",
            "refer_list": [],
        },
        {
            "message_id": "m2",
            "create_time": "",
            "sender": "u2",
            "content": "早",
            "refer_list": ["m1"],
        },
    ],
}
OPENAI = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]}
SHAREGPT = [
    {
        "id": "s1",
        "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yo"}],
    }
]
ROWS = rows(
    {"collection": "ida", "zone": "Europe/Oslo"},
    {"conversation": "spring"},
    {"role": "user", "content": "Hei", "said_at": "2025-03-05 14:30", "message_id": "a1"},
    {"conversation": "summer"},
    {"role": "user", "content": "Sol", "speaker": "Ida", "metadata": {"mood": "good"}},
    {"role": "assistant", "content": "Ja", "conversation": "spring", "zone": "+09:00"},
)


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (LOCOMO, "locomo"),
        (LOCOMO[0], "locomo"),
        (BEAM, "beam"),
        ([{"plan-1": BEAM}], "beam"),
        (GROUP, "conversation_list"),
        (OPENAI, "openai"),
        (OPENAI["messages"], "openai"),
        ([OPENAI, OPENAI], "openai"),
        (rows(OPENAI, OPENAI), "openai"),
        (SHAREGPT, "sharegpt"),
        (SHAREGPT[0], "sharegpt"),
        (rows(*SHAREGPT, *SHAREGPT), "sharegpt"),
        (ROWS, "jsonl"),
        (rows({"role": "user", "content": "one line"}), "jsonl"),
    ],
)
def test_the_form_is_told_by_the_content(tmp_path: Path, content: Any, form: str) -> None:
    path = written(tmp_path, content)

    assert detect(path) == form
    assert read(path) == read(path, form)


def test_own_lines_take_collection_conversation_and_zone_from_headings(tmp_path: Path) -> None:
    spring, summer = read(written(tmp_path, ROWS))

    assert (spring.collection, spring.conversation, spring.zone) == ("ida", "spring", "Europe/Oslo")
    assert spring.messages == (
        {"role": "user", "content": "Hei", "said_at": "2025-03-05 14:30", "message_id": "a1"},
        {"role": "assistant", "content": "Ja", "zone": "+09:00"},
    )
    assert (summer.collection, summer.conversation) == ("ida", "summer")
    assert summer.messages[0]["speaker"] == "Ida"
    assert summer.messages[0]["metadata"] == {"mood": "good"}


def test_own_lines_without_a_heading_are_one_conversation_named_by_the_file(tmp_path: Path) -> None:
    content = rows({"role": "user", "content": "a"}, {"role": "user", "content": "b"})

    (only,) = read(written(tmp_path, content, "diary.jsonl"))

    assert (only.collection, only.conversation, texts(only)) == (None, "diary", ["a", "b"])


def test_a_locomo_sample_is_a_collection_and_a_session_a_conversation(tmp_path: Path) -> None:
    second, tenth = read(written(tmp_path, LOCOMO))

    assert (second.collection, second.conversation, tenth.conversation) == (
        "pair-1",
        "session_2",
        "session_10",
    )
    assert second.messages[0] == {
        "role": "user",
        "content": "Look! [image: a kite]",
        "speaker": "Ana",
        "said_at": "1:56 pm on 8 May, 2024",
        "message_id": "D2:1",
    }


def test_a_beam_chat_loses_its_plan_tags_and_carries_its_time(tmp_path: Path) -> None:
    folder = tmp_path / "7"
    folder.mkdir()

    first, second = read(written(folder, BEAM, "chat.json"))

    assert (first.collection, first.conversation) == ("beam-7", "batch-1")
    assert texts(first) == ["Hi", "Hello.", "Use a ->-> b please"]
    assert texts(second) == ["More"]
    assert {each["said_at"] for each in (*first.messages, *second.messages)} == {"March-15-2024"}
    assert [each["message_id"] for each in first.messages] == ["0", "1", "2"]


def test_a_group_chat_keeps_names_roles_and_zone(tmp_path: Path) -> None:
    (chat,) = read(written(tmp_path, GROUP))

    assert (chat.collection, chat.conversation, chat.zone) == (None, "g1", "Asia/Shanghai")
    assert [(each["role"], each["speaker"]) for each in chat.messages] == [
        ("user", "Chen"),
        ("assistant", "小助手"),
    ]
    assert chat.messages[1]["metadata"] == {"refers_to": ["m1"]}
    assert "said_at" not in chat.messages[1]


def test_an_id_that_comes_again_with_another_text_is_made_distinct(tmp_path: Path) -> None:
    twice = {"role": "user", "content": "same", "message_id": "m1"}
    content = rows(twice, twice, {**twice, "content": "other"}, {**twice, "content": "third"})

    (chat,) = read(written(tmp_path, content))

    assert [each["message_id"] for each in chat.messages] == ["m1", "m1", "m1#2", "m1#3"]


def test_parts_of_a_chat_message_are_joined(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": "What is"},
        {
            "type": "image_url",
            "image_url": {"url": "https://example.org/a.png", "caption": "a kite"},
        },
        {"type": "text", "text": "this?"},
    ]
    call = {"function": {"name": "look_up", "arguments": '{"q": "kite"}'}}
    chat = [
        {"role": "user", "content": parts, "name": "Ida", "created_at": 1741185000},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "A toy."},
    ]

    (only,) = read(written(tmp_path, chat))

    assert texts(only) == [
        "What is\n[image: a kite]\nthis?",
        '[calls look_up({"q": "kite"})]',
        "A toy.",
    ]
    assert (only.messages[0]["speaker"], only.messages[0]["said_at"]) == ("Ida", 1741185000)


def test_an_image_without_a_caption_is_refused_by_name(tmp_path: Path) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    path = written(tmp_path, {"messages": [{"role": "user", "content": [image]}]})

    with pytest.raises(InputError, match=r"talk.json: messages\[0\].content\[0\].*'image_url'"):
        read(path)


def test_many_chats_are_numbered_or_named(tmp_path: Path) -> None:
    named = {**OPENAI, "id": "trip"}

    assert [each.conversation for each in read(written(tmp_path, [OPENAI, named]))] == [
        "talk-1",
        "trip",
    ]


def test_sharegpt_speakers_become_roles(tmp_path: Path) -> None:
    turns = [{"from": name, "value": "x"} for name in ("system", "human", "gpt", "observation")]

    (chat,) = read(written(tmp_path, [{"conversations": turns}]))

    assert [each["role"] for each in chat.messages] == ["system", "human", "gpt", "tool"]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("", "empty file"),
        ("hello there", "line 1, column 1"),
        ("[1, 2", "breaks off"),
        (json.dumps(LOCOMO)[:-40], "breaks off"),
        (json.dumps(GROUP, indent=2)[:-40], "breaks off"),
        (ROWS[:-10], "line 6, column 73: .*breaks off"),
        (ROWS + "\nnot json", "line 7, column 1"),
        ('{"messages": NaN}', "NaN"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "plain JSON"),
        ("[]", "got a list of 0"),
        ({}, "an empty object"),
        ({"name": "x"}, "an object with name"),
        ([{"dial_id": 1, "utterances": []}], "a list of 1"),
        ('"a text"', "the text"),
        ({"messages": []}, "no message"),
        ({"messages": [{"role": "user"}]}, r"messages\[0\].content: expected a text"),
        ({"messages": [{"role": "user", "content": " "}]}, r"messages\[0\].content"),
        ({"messages": ["hi"]}, r"messages\[0\]"),
        ({"conversations": [{"from": "human"}]}, r"conversations\[0\].value"),
        ({"conversation_list": [{"sender": "a"}]}, r"conversation_list\[0\].content"),
        ({"conversation": {"session_1": [{"text": "a"}]}}, "conversation.session_1_date_time"),
        ([{"turns": [[{"role": "user"}]]}], r"\[0\].turns\[0\]\[0\].content"),
        (rows({"role": "user", "content": "a"}, {"role": "user"}), "line 2.content"),
        (rows({"role": "user", "content": "a", "mood": 1}, {}), "line 1: expected no other fields"),
        (rows({"role": "user", "content": "a", "metadata": 3}, {}), "line 1.metadata"),
        (rows({"role": "user", "content": "a", "said_at": []}, {}), "line 1.said_at"),
    ],
)
def test_a_bad_file_is_refused_by_file_and_place(tmp_path: Path, content: Any, place: str) -> None:
    with pytest.raises(InputError, match=place) as caught:
        read(written(tmp_path, content))

    assert "talk.json" in str(caught.value)
    assert "expected" in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_file_of_another_form_is_refused_with_both_names(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected LoCoMo samples.*got a file of the form openai"):
        read(written(tmp_path, OPENAI), "locomo")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ([LOCOMO[0], {"sample_id": "x"}], r"\[1\]: expected LoCoMo samples"),
        ([LOCOMO[0], 3], r"\[1\]: expected LoCoMo samples"),
        ([BEAM[0], {"a": 1}], r"\[1\]: expected a BEAM chat"),
        ([SHAREGPT[0], {"a": 1}], r"\[1\]: expected ShareGPT conversations"),
        ([{"turns": "x"}], r"\[0\].turns: expected a list"),
        ([{"turns": [[{"id": 1.5, "role": "user", "content": "a"}]]}], r"a whole number"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, r"content\[0\].text"),
    ],
)
def test_a_file_that_changes_form_midway_is_refused(
    tmp_path: Path, content: Any, place: str
) -> None:
    with pytest.raises(InputError, match=place):
        read(written(tmp_path, content))


def test_a_file_of_no_known_form_has_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected one of jsonl"):
        detect(written(tmp_path, {"name": "x"}))


def test_a_refusal_and_empty_text_beside_a_call_are_read(tmp_path: Path) -> None:
    call = {"name": "stop", "arguments": ""}
    chat = [
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I can not."}]},
        {"role": "assistant", "content": "", "function_call": call},
    ]

    (only,) = read(written(tmp_path, chat))

    assert texts(only) == ["I can not.", "[calls stop()]"]


def test_an_unknown_form_is_refused_with_those_known(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="auto, jsonl, locomo") as caught:
        read(written(tmp_path, OPENAI), "csv")

    assert caught.value.field == "format"


def test_a_file_that_is_not_utf8_is_refused_with_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_bytes(b'{"messages":\n "caf\xe9"}')

    with pytest.raises(InputError, match="line 2, byte 18: expected UTF-8 text, got the byte 0xe9"):
        read(path)


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    assert detect(written(tmp_path, "\ufeff" + json.dumps(OPENAI))) == "openai"


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError, match="can be read"):
            read(path)


def normalised(conversation: ConversationIn) -> int:
    raw = [RawMessage(index=i, **each) for i, each in enumerate(conversation.messages)]  # type: ignore[arg-type]
    return len(
        normalise(
            raw,
            conversation=conversation.conversation,
            zone=conversation.zone,
            previous_said_at=None,
            now=NOW,
        )
    )


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.jsonl"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_read_with_ids_and_times(path: Path) -> None:
    found = read(path, "jsonl")

    messages = [each for conversation in found for each in conversation.messages]
    assert {conversation.collection for conversation in found} == {path.stem}
    assert len({each["message_id"] for each in messages}) == len(messages)
    assert all("said_at" in each for each in messages)
    assert sum(map(normalised, found)) == len(messages)


def test_every_given_file_of_conversations_is_read_whole() -> None:
    if "SLOWWAVE_TEST_DATA" not in os.environ:
        pytest.skip("SLOWWAVE_TEST_DATA names no folder of conversations")
    folder = Path(os.environ["SLOWWAVE_TEST_DATA"]) / "data"
    chats = [
        *folder.glob("locomo*.json"),
        *folder.glob("*_chat_*.json"),
        *folder.rglob("chat.json"),
    ]

    counts = {path: sum(normalised(each) for each in read(path)) for path in chats}

    assert all(count > 0 for count in counts.values())
    assert FORMATS.keys() >= {detect(path) for path in chats}
