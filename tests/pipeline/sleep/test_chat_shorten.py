"""Scratchpad items made shorter by a chat model: only what they say is taken."""

import asyncio
import json

import pytest
from keeping import item

from actors.fakes import FakeTokenizer, Scripted, ScriptedChat
from pipeline.chat import ChatPurpose, ChatReply
from pipeline.errors import MalformedReply, ModelUnavailable
from pipeline.messages import TenantId
from pipeline.scratchpad import Item
from pipeline.sleep.chat_shorten import Chunk, Shortened, chunks, shorten

CAT = item("cat", "Mara has a cat called Pixel since 2019.")
DOG = item("dog", "Mara has a dog called Rex.", day=1)
RUN = item("run", "Mara went for a short run.", day=2)
ZH = [item("c", "玛拉养了一只猫，名叫豆豆。"), item("d", "玛拉还养了一条狗，名叫大黄。", day=1)]


def reply(*lines: str) -> str:
    return json.dumps({"items": list(lines)}, ensure_ascii=False)


def ask(*script: Scripted, items: tuple[Item, ...] = (CAT, DOG, RUN), attempts: int = 1):
    chat = ScriptedChat(*script)
    chunk = Chunk(slot="profile", items=items, room_tokens=20)
    done = asyncio.run(
        shorten(
            chunk,
            tenant=TenantId("acme"),
            ask=chat.reply,
            measure=lambda text: FakeTokenizer().count([text])[0],
            attempts=attempts,
        )
    )
    return done, chat


def told(done: Shortened) -> list[tuple[str, list[str]]]:
    return [(one.text, [part.text for part in one.made_of]) for one in done.shorter]


def test_a_shorter_note_is_taken_with_the_notes_it_names_and_the_others_are_left_out() -> None:
    done, chat = ask(reply("1,2: Mara has a cat, Pixel (since 2019), and a dog, Rex."))

    assert told(done) == [
        ("Mara has a cat, Pixel (since 2019), and a dog, Rex.", [CAT.text, DOG.text])
    ]
    assert (done.left_out, done.failure) == ((RUN,), None)
    [request] = chat.asked
    assert request.purpose is ChatPurpose.SUMMARISE
    assert "1 2025-03-01: Mara has a cat called Pixel since 2019." in request.user
    assert "about 20 tokens" in request.system
    [spent] = done.spent
    assert (spent.calls, spent.repairs, spent.tokens_in > 0) == (1, 0, True)


def test_chinese_notes_are_asked_for_and_taken_in_chinese() -> None:
    done, chat = ask(reply("1,2: 玛拉养了猫豆豆和狗大黄。"), items=tuple(ZH))

    assert told(done) == [("玛拉养了猫豆豆和狗大黄。", [ZH[0].text, ZH[1].text])]
    assert "缩短" in chat.asked[0].system


@pytest.mark.parametrize(
    "line",
    [
        "1,2: Mara has a cat, Pixel, and a dog, Rover.",
        "1: Mara has had Pixel since 2018.",
        "1,9: Mara has a cat called Pixel.",
        "1: 玛拉养了一只猫。",
        "x: Mara has a cat.",
    ],
)
def test_a_note_with_another_name_number_language_or_id_is_refused(line: str) -> None:
    done, _ = ask(reply(line, "2,3: Mara has a dog, Rex; she ran."), attempts=0)

    assert told(done) == [("Mara has a dog, Rex; she ran.", [DOG.text, RUN.text])]
    assert CAT not in done.left_out or line.startswith("x")


def test_no_item_is_taken_twice() -> None:
    done, _ = ask(reply("1: Mara has a cat.", "1,2: Mara has a cat and a dog."))

    assert told(done) == [
        ("Mara has a cat.", [CAT.text]),
        ("Mara has a cat and a dog.", [DOG.text]),
    ]


def test_a_note_that_repeats_its_item_leaves_it_as_it_is() -> None:
    done, _ = ask(reply(f"1: {CAT.text}"))

    assert (done.shorter, done.left_out) == ((), (DOG, RUN))


def test_a_reply_that_cannot_be_used_is_asked_for_again_with_the_reason() -> None:
    done, chat = ask("no JSON at all", reply("1,2,3: Mara has Pixel and Rex."))

    assert [text for text, _ in told(done)] == ["Mara has Pixel and Rex."]
    assert "it held no JSON with items" in chat.asked[1].user
    assert sum(each.repairs for each in done.spent) == 1


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (["nothing"], "the reply cannot be used: it held no JSON with items"),
        ([reply()], "the reply cannot be used: no note named"),
        ([reply(f"1,2,3: {CAT.text} {CAT.text} {DOG.text} {RUN.text}")], "it was no shorter"),
        ([MalformedReply("odd", raw="")], "it was no reply at all"),
        ([ModelUnavailable("closed", retry_after_s=1.0)], "ModelUnavailable: closed"),
    ],
)
def test_what_no_try_can_mend_is_a_failure_and_nothing_is_shorter(script, why: str) -> None:
    done, _ = ask(*script)

    assert done.failure is not None
    assert why in done.failure
    assert (done.shorter, done.left_out) == ((), ())


def test_a_call_whose_answer_was_no_reply_is_counted() -> None:
    took = ChatReply(text="", model="fake", tokens_in=30, tokens_out=4, is_estimated=True)

    done, _ = ask(MalformedReply("odd", raw="<html>", call=took), "nothing")

    first, second = done.spent
    assert (first.calls, first.tokens_in, first.tokens_out) == (1, 30, 4)
    assert (first.estimated, first.repairs) == (1, 0)
    assert (second.estimated, second.repairs) == (0, 1)


def test_chunks_hold_one_slot_and_script_and_share_the_room_by_what_they_hold() -> None:
    held = [CAT, DOG, RUN, *ZH, item("t", "Mara ran.", slot="timeline")]
    tokens = {one.id: 10 for one in held}

    found = chunks(held, tokens, room_tokens=30, request_tokens=20)

    assert [(one.slot, len(one.items), one.room_tokens) for one in found] == [
        ("profile", 2, 10),
        ("profile", 1, 5),
        ("profile", 2, 10),
        ("timeline", 1, 5),
    ]
