"""Every message is in exactly one turn, whatever the order of the roles."""

from datetime import UTC, datetime

from pipeline.awake.turns import turns
from pipeline.ids import MessageId
from pipeline.messages import Message, Role

NOW = datetime(2024, 5, 1, tzinfo=UTC)


def talk(*roles: str) -> list[Message]:
    return [
        Message(
            id=MessageId(str(i)),
            sequence=i,
            conversation="c",
            role=Role(role),
            speaker=role,
            content=f"{role} {i}",
            said_at=NOW,
            accepted_at=NOW,
        )
        for i, role in enumerate(roles, start=1)
    ]


def lengths(*roles: str) -> list[int]:
    return [len(turn.messages) for turn in turns(talk(*roles))]


def test_a_user_message_and_its_replies_are_one_turn() -> None:
    assert lengths("user", "assistant", "assistant", "user", "assistant") == [3, 2]


def test_when_every_speaker_is_a_user_each_message_is_a_turn() -> None:
    assert lengths("user", "user", "user") == [1, 1, 1]


def test_an_assistant_that_begins_has_a_turn_of_its_own() -> None:
    assert lengths("assistant", "user", "assistant") == [1, 2]


def test_system_text_goes_with_the_user_message_after_it() -> None:
    assert lengths("system", "user", "assistant", "system", "user") == [3, 2]


def test_what_a_tool_says_belongs_to_the_turn_that_asked_for_it() -> None:
    assert lengths("user", "assistant", "tool", "assistant", "user") == [4, 1]


def test_system_text_alone_is_a_turn() -> None:
    assert lengths("system", "system") == [2]


def test_no_messages_are_no_turns() -> None:
    assert turns([]) == []


def test_no_message_is_lost_or_moved() -> None:
    messages = talk("tool", "system", "assistant", "user", "system", "tool", "user", "assistant")

    assert [m for turn in turns(messages) for m in turn.messages] == messages


def test_several_people_and_an_assistant_keep_their_order() -> None:
    assert lengths("user", "user", "assistant", "user", "user", "assistant") == [1, 2, 1, 2]


def test_a_tool_that_begins_is_a_turn_with_what_follows_it() -> None:
    assert lengths("tool", "assistant", "user", "assistant") == [2, 2]


def test_system_text_between_two_replies_opens_a_turn() -> None:
    assert lengths("user", "assistant", "system", "assistant", "user") == [2, 2, 1]


def test_an_assistant_that_talks_alone_is_one_turn() -> None:
    assert lengths("assistant", "assistant", "assistant") == [3]
