"""Ids: deterministic where the same input must give the same id, random nowhere.

Determinism is for tracing and for repeating a step; what keeps work from being stored twice is
the fenced commit, not these ids.
"""

import hashlib
import unicodedata
import uuid
from collections.abc import Sequence
from typing import NewType

MessageId = NewType("MessageId", str)
SegmentId = NewType("SegmentId", str)
EntryId = NewType("EntryId", str)
RunId = NewType("RunId", str)
ItemId = NewType("ItemId", str)
RecallId = NewType("RecallId", str)

_NAMESPACE = uuid.UUID("5e0c8a30-7d0e-5d9e-9d43-4b6b0c6f7a51").bytes
_VARIANTS = {sign: "89ab"[int(sign, 16) % 4] for sign in "0123456789abcdef"}


def _derive(kind: str, *parts: str | int) -> str:
    """The UUID of version 5 (RFC 9562), written here because several are made of each message."""
    name = "\x1f".join([kind, *map(str, parts)])
    sha = hashlib.sha1(_NAMESPACE + name.encode(), usedforsecurity=False).hexdigest()
    return f"{sha[:8]}-{sha[8:12]}-5{sha[13:16]}-{_VARIANTS[sha[16]]}{sha[17:20]}-{sha[20:32]}"


def message_id(tenant: str, collection: str, sequence: int) -> MessageId:
    """The id of the message that took ``sequence`` in its collection."""
    return MessageId(_derive("message", tenant, collection, sequence))


def segment_id(first: MessageId) -> SegmentId:
    """The id of the segment that begins with message ``first``."""
    return SegmentId(_derive("segment", first))


def entry_id(tenant: str, collection: str, source: MessageId, ordinal: int) -> EntryId:
    """The id of the ``ordinal``-th entry whose first source is ``source``."""
    return EntryId(_derive("entry", tenant, collection, source, ordinal))


def item_id(entry: EntryId) -> ItemId:
    """The id of the scratchpad item that an entry becomes."""
    return ItemId(_derive("item", entry))


def shorter_item_id(run: RunId, slot: str, taken_in: Sequence[ItemId]) -> ItemId:
    """The id of the item that a run makes of others, in whatever order they are named."""
    return ItemId(_derive("shorter", run, slot, *sorted(taken_in)))


def point_id(tenant: str, entry: EntryId, version: int) -> str:
    """The UUID of an entry version in the vector index, which all tenants share.

    Two tenants may hold entries of one id, where one has imported what the other exported.
    """
    return _derive("point", tenant, entry, version)


def identity(text: str, speaker: str, kind: str) -> str:
    """A digest that two statements share when they say the same: normalised text, speaker, kind."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = " ".join(folded.split()).rstrip(".!?。！？ ")
    return hashlib.sha256("\x1f".join([words, speaker.casefold(), kind]).encode()).hexdigest()


def digest(*parts: str) -> str:
    """A SHA-256 hex digest over the parts, unambiguous in where one ends."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode()).hexdigest()
