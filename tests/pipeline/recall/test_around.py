from datetime import UTC, datetime

from pipeline.ids import MessageId
from pipeline.messages import Message, Role
from pipeline.recall.around import around

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)


def talk(*roles: Role, redacted: int = 0) -> list[Message]:
    return [
        Message(
            id=MessageId(f"m{number}"),
            sequence=number,
            conversation="c",
            role=role,
            speaker=role.value,
            content="茶",
            said_at=NOON,
            accepted_at=NOON,
            redacted_at=NOON if number == redacted else None,
        )
        for number, role in enumerate(roles, start=1)
    ]


USER, REPLY = Role.USER, Role.ASSISTANT


def test_whole_turns_around_a_message_are_shown() -> None:
    messages = talk(USER, REPLY, USER, REPLY, REPLY, USER, REPLY, USER)

    shown = around(messages, 4, turns_each_side=1)

    assert [one.sequence for one in shown] == [1, 2, 3, 4, 5, 6, 7]


def test_no_neighbours_is_the_turn_itself_and_the_ends_are_ends() -> None:
    messages = talk(USER, REPLY, USER)

    assert [one.sequence for one in around(messages, 1, turns_each_side=0)] == [1, 2]
    assert len(around(messages, 3, turns_each_side=9)) == 3


def test_redacted_messages_are_left_out_and_an_unknown_one_has_no_neighbours() -> None:
    messages = talk(USER, USER, USER, redacted=2)

    assert [one.sequence for one in around(messages, 1, turns_each_side=2)] == [1, 3]
    assert around(messages, 9, turns_each_side=2) == []
