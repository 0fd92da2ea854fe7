"""Any settings of a collection, any steps, any flushes: no message is lost, doubled or stuck."""

import asyncio
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from noting import Noting, walk_with

from actors.fakes import (
    FakeExtractor,
)
from pipeline.awake.shortterm import Granularity, Trigger
from pipeline.ids import MessageId, message_id
from pipeline.messages import Json, Message, Role, Scope, Segment, TenantId
from pipeline.state import AwakeCommit, AwakeState

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)
MARA = Scope(tenant=TenantId("t"), collection="mara")
LIN = Scope(tenant=TenantId("t"), collection="lin")
WORDS = ("The kettle holds two litres.", "茶壶能装两升水。", "ok", "A cat sleeps on the sill.")


def said(rows: Sequence[tuple[Role, str, str]]) -> list[Message]:
    return [
        Message(
            id=message_id(MARA.tenant, MARA.collection, number),
            sequence=number,
            conversation=conversation,
            role=role,
            speaker=role.value,
            content=f"{number} {text}",
            said_at=NOON,
            accepted_at=NOON,
        )
        for number, (role, conversation, text) in enumerate(rows, start=1)
    ]


@dataclass
class Shelf:
    """What a record store holds of one collection, in memory."""

    waiting: list[Message]
    windows: dict[str, list[Message]] = field(default_factory=dict)
    buffered: list[Segment] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    done: list[MessageId] = field(default_factory=list)

    def state(self, size: int, *, flush: bool, own: Mapping[str, Json]) -> AwakeState:
        accepted, self.waiting = self.waiting[:size], self.waiting[size:]
        return AwakeState(
            step=0,
            accepted=tuple(accepted),
            windows={name: tuple(held) for name, held in self.windows.items() if held},
            buffered=tuple(self.buffered),
            flush=flush,
            flush_through=accepted[-1].sequence if accepted else 0,
            settings=own,
        )

    def take(self, before: AwakeState, commit: AwakeCommit) -> None:
        for message in before.accepted:
            if message.id in commit.compressed:
                short = commit.compressed[message.id].text
                held = self.windows.setdefault(message.conversation, [])
                held.append(replace(message, compressed=short))
        gone = {each.id for segment in commit.segments for each in segment.messages}
        self.windows = {
            name: [each for each in held if each.id not in gone]
            for name, held in self.windows.items()
        }
        self.segments += commit.segments
        self.buffered = sorted([*self.buffered, *commit.segments], key=lambda one: one.sequence)
        left = [one for one in self.buffered if one.id in set(commit.extracted)]
        self.done += [each.id for segment in left for each in segment.messages]
        self.done += commit.unused
        self.buffered = [one for one in self.buffered if one not in left]


ROWS = st.lists(
    st.tuples(st.sampled_from(Role), st.sampled_from(["a", "b"]), st.sampled_from(WORDS)),
    min_size=1,
    max_size=25,
)
OWN = st.fixed_dictionaries(
    {},
    optional={
        "triggers": st.lists(st.sampled_from([t.value for t in Trigger]), min_size=1, unique=True),
        "turns": st.integers(1, 6),
        "granularity": st.sampled_from([g.value for g in Granularity]),
        "roles": st.lists(st.sampled_from([r.value for r in Role]), min_size=1, unique=True),
        "compression": st.booleans(),
        "rate": st.sampled_from([0.3, 0.6, 1.0]),
        "window_tokens": st.integers(1, 60),
        "short_term_tokens": st.integers(1, 60),
        "min_shift": st.sampled_from([0.1, 0.7, 3.0]),
    },
)


@given(
    rows=ROWS,
    steps=st.lists(st.tuples(st.integers(0, 6), st.booleans(), OWN), max_size=12),
)
def test_every_message_ends_in_one_segment_and_one_batch_in_order(
    rows: list[tuple[Role, str, str]], steps: list[tuple[int, bool, dict[str, Json]]]
) -> None:
    messages = said(rows)
    shelf, extractor = Shelf(list(messages)), Noting()
    walk = walk_with(extractor)

    for size, flush, own in [*steps, (len(rows), True, steps[-1][2] if steps else {})]:
        before = shelf.state(size, flush=flush, own=own)
        shelf.take(before, asyncio.run(walk.step({MARA: before}))[MARA])

    assert sorted(shelf.done) == sorted(message.id for message in messages)
    cut = [each.id for segment in shelf.segments for each in segment.messages]
    assert len(cut) == len(set(cut))
    read = [each.sequence for batch in extractor.batches for each in batch.messages]
    assert len(read) == len(set(read))
    for segment in shelf.segments:
        places = [each.sequence for each in segment.messages]
        assert places == sorted(places)
        assert {each.conversation for each in segment.messages} == {segment.conversation}


@given(rows=ROWS, own=OWN, sizes=st.lists(st.integers(1, 9), min_size=1))
def test_where_a_window_is_cut_does_not_depend_on_the_size_of_steps(
    rows: list[tuple[Role, str, str]], own: dict[str, Json], sizes: list[int]
) -> None:
    def cuts(sizes: Iterator[int]) -> dict[str, list[list[int]]]:
        shelf = Shelf(said(rows))
        walk = walk_with(FakeExtractor())
        while shelf.waiting:
            size = next(sizes)
            before = shelf.state(size, flush=size >= len(shelf.waiting), own=own)
            shelf.take(before, asyncio.run(walk.step({MARA: before}))[MARA])
        found: dict[str, list[list[int]]] = {}
        for one in shelf.segments:
            places = [each.sequence for each in one.messages]
            found.setdefault(one.conversation, []).append(places)
        return found

    at_once = cuts(itertools.repeat(len(rows)))

    assert cuts(itertools.cycle(sizes)) == at_once


def test_turn_by_turn_no_topics_are_looked_for() -> None:
    shelf, extractor = Shelf(said([(Role.USER, "a", WORDS[0])] * 3)), Noting()
    walk = walk_with(extractor)

    before = shelf.state(3, flush=True, own={"granularity": "turn"})
    commit = asyncio.run(walk.step({MARA: before}))[MARA]

    assert [len(segment.messages) for segment in commit.segments] == [1, 1, 1]


def test_a_topic_shift_extracts_what_was_said_before_it() -> None:
    talk = ["cats cats cats"] * 3 + ["dogs dogs dogs"] * 4
    shelf, extractor = Shelf(said([(Role.USER, "a", text) for text in talk])), Noting()
    walk = walk_with(extractor)
    own: dict[str, Json] = {
        "triggers": ["topic_shift"],
        "window_tokens": 12,
        "short_term_tokens": 500,
        "min_shift": 0.9,
    }

    before = shelf.state(7, flush=False, own=own)
    commit = asyncio.run(walk.step({MARA: before}))[MARA]

    assert len(commit.segments) >= 1
    assert set(commit.extracted) == {segment.id for segment in commit.segments}


def test_so_many_turns_are_extracted_without_a_flush() -> None:
    rows = [(Role.USER, "a", "ok"), (Role.ASSISTANT, "a", "ok")] * 4
    shelf, extractor = Shelf(said(rows)), Noting()
    walk = walk_with(extractor)
    own: dict[str, Json] = {"triggers": ["turns"], "turns": 3, "window_tokens": 500}

    before = shelf.state(8, flush=False, own=own)
    shelf.take(before, asyncio.run(walk.step({MARA: before}))[MARA])

    assert [[each.sequence for each in one.messages] for one in extractor.batches] == [
        [1, 2, 3, 4, 5, 6]
    ]
    assert [each.sequence for each in shelf.windows["a"]] == [7, 8]


def test_collections_of_one_step_are_compressed_each_at_its_own_rate() -> None:
    mara, lin = said([(Role.USER, "a", "one two three")]), said([(Role.USER, "a", "一二三四")])
    lin = [replace(each, id=message_id(LIN.tenant, LIN.collection, 1)) for each in lin]
    states = {
        MARA: Shelf(mara).state(1, flush=False, own={"rate": 0.5}),
        LIN: Shelf(lin).state(1, flush=False, own={"compression": False}),
    }

    commits = asyncio.run(walk_with(FakeExtractor()).step(states))

    assert [kept.text for kept in commits[MARA].compressed.values()] == ["1 one"]
    assert [kept.text for kept in commits[LIN].compressed.values()] == ["1 一二三四"]


# Over a real store ---------------------------------------------------------------------------
