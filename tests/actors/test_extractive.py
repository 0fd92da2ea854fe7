import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from actors.extractive import ExtractiveSummariser
from actors.fakes import FakeTokenizer
from pipeline.entries import Kind, Statement, Status
from pipeline.extraction import ExtractionOptions
from pipeline.ids import MessageId, segment_id
from pipeline.messages import Batch, Message, Role, Scope, Segment, TenantId

SAID_AT = datetime(2024, 5, 8, 20, 0, tzinfo=UTC)
SCOPE = Scope(tenant=TenantId("t"), collection="c")


def _message(
    content: str, *, speaker: str = "user", role: Role = Role.USER, n: int = 1, zone: str = "UTC"
) -> Message:
    return Message(
        id=MessageId(f"m{n}"),
        sequence=n,
        conversation="talk",
        role=role,
        speaker=speaker,
        content=content,
        said_at=SAID_AT + timedelta(minutes=n),
        accepted_at=SAID_AT,
        zone=zone,
    )


def _talk(*lines: tuple[str, str]) -> list[Message]:
    """Messages of named people or of the roles user and assistant."""
    return [
        _message(
            content,
            speaker=speaker,
            role=Role(speaker) if speaker in set(Role) else Role.USER,
            n=n,
        )
        for n, (speaker, content) in enumerate(lines, start=1)
    ]


def _extract(messages: Sequence[Message], *, limit: int = 200) -> list[Statement]:
    segment = Segment(
        id=segment_id(messages[0].id), conversation="talk", topic="boats", messages=tuple(messages)
    )
    summariser = ExtractiveSummariser(tokenizer=FakeTokenizer())
    options = ExtractionOptions(max_entry_tokens=limit)
    return summariser.extract(Batch(scope=SCOPE, segments=(segment,)), options=options)


def _texts(messages: Sequence[Message]) -> list[str]:
    return [statement.text for statement in _extract(messages)]


def test_its_name_says_that_it_is_a_baseline() -> None:
    summariser = ExtractiveSummariser(tokenizer=FakeTokenizer())

    assert summariser.name.startswith("extractive-baseline/")


def test_a_statement_names_its_speaker_and_carries_where_it_comes_from() -> None:
    first = _extract(_talk(("Mara", "I live in Brest."), ("Ivo", "Nice!")))[0]

    assert first.text == "Mara lives in Brest."
    assert first.attributes is not None
    assert (first.attributes.key, first.attributes.value) == ("lives in", "Brest")
    assert first.entities == ("Mara", "Brest")
    assert (first.speaker, first.language, first.topic) == ("Mara", "en", "boats")
    assert (first.sources, first.sequence, first.ordinal) == (("m1",), 1, 0)
    assert first.said_at == SAID_AT + timedelta(minutes=1)


def test_an_introduction_names_a_user_and_tells_nothing_of_a_named_speaker() -> None:
    assert _texts(_talk(("Ines", "I'm Ines. I repair oars in winter."))) == [
        "Ines repairs oars in winter."
    ]
    assert _texts(_talk(("user", "I'm Ines."))) == ["The user's name is Ines."]
    assert _texts(_talk(("user", "我叫周梅。"))) == ["用户叫周梅。"]


def test_a_greeting_is_kept_only_for_its_place() -> None:
    assert _texts(_talk(("Mara", "Morning all. I mend nets."))) == ["Mara mends nets."]
    assert _texts(_talk(("Mara", "Hello from Brest! I mend nets here."))) == [
        "Mara wrote from Brest. Mara mends nets here."
    ]


def test_relative_dates_become_absolute_in_the_zone_they_were_said_in() -> None:
    statements = _extract([_message("I repainted the shed yesterday.", zone="Asia/Shanghai")])

    assert "8 May 2024" in statements[0].text
    assert "yesterday" not in statements[0].text


def test_chinese_stays_chinese() -> None:
    statements = _extract(
        _talk(("周梅", "我的猫叫豆豆，它喜欢晒太阳。"), ("林涛", "我明天去宁波。"))
    )

    assert statements[0].text == "周梅的猫叫豆豆，它喜欢晒太阳。"
    assert statements[0].language == "zh"
    assert statements[1].text == "林涛2024年5月9日去宁波。"


def test_system_and_tool_messages_give_nothing() -> None:
    assert _texts(_talk(("system", "You are a gardening helper."), ("tool", "Ivo is 40."))) == []


def test_greetings_and_thanks_give_nothing() -> None:
    assert (
        _texts(_talk(("Mara", "Hey Ivo!"), ("Ivo", "Hello, how are you?"), ("Mara", "谢谢"))) == []
    )


def test_an_answer_that_makes_no_sense_alone_takes_its_question_along() -> None:
    statements = _extract(_talk(("Ivo", "Which size do you wear?"), ("Mara", "Size 9.")))

    assert statements[0].text == "Ivo asked: Which size does Mara wear? Mara answered: Size 9."
    assert statements[0].sources == ("m2", "m1")
    assert statements[0].sequence == 2


def test_a_chinese_answer_takes_its_question_along() -> None:
    statements = _extract(_talk(("林涛", "你穿多大码？"), ("周梅", "42码。")))

    assert statements[0].text == "林涛问：周梅穿多大码？周梅答：42码。"


def test_what_the_user_asks_of_the_assistant_is_a_request() -> None:
    statements = _extract(
        _talk(("user", "I row daily. Can you plan my week?"), ("assistant", "Ok"))
    )

    assert [(s.text, s.kind) for s in statements] == [
        ("The user rows daily.", Kind.FACT),
        ("The user asked the assistant to plan the user's week.", Kind.TASK),
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Don't mention my boat.", "The user asked the assistant not to mention the user's boat."),
        ("Always add tide tables.", "The user asked the assistant to always add tide tables."),
        (
            "Below 30 knots please, and no rain.",
            "The user asked: Below 30 knots please, and no rain.",
        ),
        ("Don't know yet which harbour.", "The user: Don't know yet which harbour."),
        ("别提醒我哥。", "用户请助手别提醒用户哥。"),
        ("写作进度慢，船也没修。", "写作进度慢，船也没修。"),
        ("买了三根缆绳。", "用户：买了三根缆绳。"),
    ],
)
def test_a_sentence_without_a_subject_names_its_speaker(said: str, told: str) -> None:
    assert _texts([_message(said)])[0] == told


def test_an_assistants_words_stay_its_own() -> None:
    statements = _extract(_talk(("user", "我胖了。"), ("assistant", "建议你每天划船30分钟。")))

    assert statements[-1].text == "助手告诉用户：建议用户每天划船30分钟。"
    assert statements[-1].speaker == "assistant"


def test_an_assistant_that_only_agrees_or_echoes_gives_nothing() -> None:
    said = ("user", "My canoe is called Otter.")

    assert len(_texts(_talk(said, ("assistant", "Otter, noted. Your secret is safe.")))) == 1
    assert len(_texts(_talk(("user", "我的船叫水獭。"), ("assistant", "水獭，记住了。")))) == 1


def test_a_person_who_agrees_is_kept() -> None:
    assert len(_texts(_talk(("Mara", "The canoe leaks."), ("Ivo", "That canoe sure leaks.")))) == 2


def test_an_unsure_statement_is_tentative() -> None:
    assert _extract([_message("Maybe I will sell the canoe.")])[0].status is Status.TENTATIVE


def test_code_is_kept_whole() -> None:
    code = "```python\nfor i in range(3):\n    print('yesterday', i)\n```"

    assert _texts([_message(code)]) == [f"The user shared this code:\n{code}"]


def test_a_very_long_message_is_split_and_nothing_of_it_is_lost() -> None:
    content = " ".join(f"harbour{n} opens, harbour{n} closes;" for n in range(1500))

    statements = _extract([_message(content)], limit=40)

    assert all(FakeTokenizer().count([s.text])[0] <= 40 for s in statements)
    assert all(f"harbour{n} " in " ".join(s.text for s in statements) for n in range(1500))
    assert [s.ordinal for s in statements] == list(range(len(statements)))


def _shared(name: str) -> list[Message]:
    folder = os.environ.get("SLOWWAVE_TEST_DATA")
    if folder is None:
        pytest.skip("SLOWWAVE_TEST_DATA names no folder of conversations")
    document = json.loads((Path(folder) / "data" / name).read_text(encoding="utf-8"))
    people = document["session_meta"]["user_details"]
    return [
        _message(
            row["content"],
            speaker=row["sender_name"],
            role=Role(people[row["sender"]]["role"]),
            n=n,
        )
        for n, row in enumerate(document["conversation_list"], start=1)
    ]


@pytest.mark.parametrize("name", ["solo_chat_zh.json", "solo_chat_en.json", "team_chat_zh.json"])
def test_statements_of_real_conversations_keep_the_law(name: str) -> None:
    messages = _shared(name)

    statements = _extract(messages)

    by_id = {message.id: message for message in messages}
    assert statements == _extract(messages)
    assert len(statements) >= len(messages) * 0.6
    for statement in statements:
        assert 1 <= len(statement.sources) <= 3
        assert statement.said_at == by_id[statement.sources[0]].said_at
        assert statement.text.strip() == statement.text != ""
    assert len({(s.sources[0], s.ordinal) for s in statements}) == len(statements)
