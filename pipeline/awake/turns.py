"""Messages to turns, the one unit of topic segmentation, whatever the order of the roles.

Source: arXiv 2510.18866, section 3.2. There a turn is a strict pair of user and assistant, and
what does not fit the pattern is dropped; here every message is in exactly one turn.
"""

from collections.abc import Sequence

from pipeline.messages import Message, Role, Turn


def turns(messages: Sequence[Message]) -> list[Turn]:
    """All messages in order, cut before each one that opens a turn.

    A user's message opens a turn, so in a talk of several people each message is one. System text
    opens a turn for what follows it; what the assistant and tools say belongs to the turn they
    answer, or is a turn of its own where a talk begins with it.
    """
    groups: list[list[Message]] = []
    for message in messages:
        if groups and not _opens(message, after=groups[-1]):
            groups[-1].append(message)
        else:
            groups.append([message])
    return [Turn(messages=tuple(group)) for group in groups]


def _opens(message: Message, *, after: Sequence[Message]) -> bool:
    is_preamble = all(earlier.role == Role.SYSTEM for earlier in after)
    if message.role == Role.USER:
        return not is_preamble
    return message.role == Role.SYSTEM and not is_preamble
