"""Chance, and exports with the ids of somebody else in them."""

import hashlib
import json
import random
import re
import uuid
from collections.abc import Sequence
from typing import Any

from isolation_place import Known
from isolation_words import DAMAGES

_ID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ORIGIN = re.compile('"origin":"[^"]*"')
_KINDS = ("entry", "message", "run", "segment")


class Dice:
    """The chances of one request, the same whenever it is made again."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def often(self, share: float) -> bool:
        """True in this share of the calls."""
        return self._random.random() < share

    def one(self, some: Sequence[Any]) -> Any:
        """Any of them."""
        return self._random.choice(some)

    def id(self) -> str:
        """An id that nothing has yet."""
        return str(uuid.UUID(int=self._random.getrandbits(128)))

    def number(self, low: int, high: int) -> int:
        """Any from the low to the high one."""
        return self._random.randint(low, high)


def forged_export(dice: Dice, lines: bytes, own: Known, told: Known) -> bytes:
    """The export as of another collection, with the neighbour's ids and a checksum that fits."""
    text = lines.decode()
    taken: set[str] = set()
    for mine in sorted(set(_ID.findall(text))):
        theirs = next((getattr(told, kind) for kind in _KINDS if mine in getattr(own, kind)), [])
        free = [each for each in theirs if each not in taken]
        other = dice.one(free) if free and dice.often(0.7) else dice.id()
        taken.add(other)
        text = text.replace(mine, other)
    text = _ORIGIN.sub(f'"origin":"{dice.id()}"', text, count=1)
    if dice.often(0.4):
        old, new = dice.one(DAMAGES)
        text = text.replace(old, new, 1)
    body = "".join(f"{line}\n" for line in text.split("\n")[:-2]).encode()
    end = {"lines": body.count(b"\n"), "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(end, sort_keys=True, separators=(",", ":")).encode() + b"\n"
