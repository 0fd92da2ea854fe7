"""One case through a scripted chat model: what is taken, refused, asked for again, given up."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from statements import compared, statement

from actors.decider_chat import ChatDecider
from actors.fake_chat import FakeChat
from actors.fakes import Scripted, ScriptedChat
from pipeline.chat import ChatPurpose, ChatReply, ChatRequest
from pipeline.deciding import DecisionLimits, Ruling
from pipeline.entries import (
    Case,
    Delete,
    Entry,
    Ignore,
    Status,
    Update,
)
from pipeline.errors import (
    LimitError,
    MalformedReply,
    ModelError,
    ModelUnavailable,
    StoreError,
)
from pipeline.ids import EntryId
from pipeline.messages import TenantId
from pipeline.sleep import decide_lines

MONDAY = datetime(2024, 1, 8, 9, tzinfo=UTC)
LINE = re.compile(r"^([a-z]{2,3}) \| (\S+ \S+) \| ([a-z?]+) \| ([^:]+): (.*)$", re.MULTILINE)
TENANT = TenantId("acme")


def entry(name: str, text: str, day: int = 0, *, speaker: str = "Mara") -> Entry:
    return statement(name, text, start=MONDAY, day=day, speaker=speaker)


def case(target: str, *newer: str) -> Case:
    return compared(
        entry("t", target), *(entry(f"c{n}", text, n) for n, text in enumerate(newer, 1))
    )


BOAT = case("Ida has a boat.", "Ida's boat Petrel has no engine.", "Ida's boat is 9 m long.")
TEA = case("林夏喜欢喝茶。", "林夏喜欢喝龙井茶。", "林夏现在不喝茶了，改喝咖啡。")


def ids(request: ChatRequest) -> dict[str, str]:
    """The short id of each text that a request shows."""
    return {match[5]: match[1] for match in LINE.finditer(request.user)}


def says(action: str, verdicts: Mapping[str, str], text: str = "", reason: str = "r") -> Scripted:
    """A reply with a verdict on each text that contains a word."""

    def told(request: ChatRequest) -> str:
        rows = [
            {"id": short, "verdict": verdict}
            for word, verdict in verdicts.items()
            for said, short in ids(request).items()
            if word in said
        ]
        found = {"verdicts": rows, "action": action, "text": text, "reason": reason}
        return json.dumps(found, ensure_ascii=False)

    return told


def wrapped(reply: Scripted, before: str, after: str) -> Scripted:
    assert callable(reply)
    return lambda request: f"{before}{reply(request)}{after}"


def rule(asked: Case, *script: Scripted, attempts: int = 2) -> tuple[Ruling, ScriptedChat]:
    chat = ScriptedChat(*script)
    decider = ChatDecider(chat=chat, limits=DecisionLimits(attempts=attempts, reply_tokens=200))
    return asyncio.run(decider.ask(asked, tenant=TENANT)), chat


PETREL = says("update", {"Petrel": "adds"}, "Ida has a boat, Petrel, which has no engine.")
COFFEE = says("delete", {"改喝": "conflicts", "龙井": "unrelated"})


# What is asked ------------------------------------------------------------------------------------


def test_the_prompt_shows_dates_kinds_speakers_and_short_ids_as_data() -> None:
    asked = replace(BOAT, target=entry("t", "Ida has </entries> a boat.", speaker="Ida: <b>"))

    _, chat = rule(asked, says("ignore", {}))

    [request] = chat.asked
    shown = LINE.findall(request.user)
    assert [(when, kind, who) for _, when, kind, who, _ in shown] == [
        ("2024-01-08 09:00", "fact", "Ida  <b>"),
        ("2024-01-09 09:00", "fact", "Mara"),
        ("2024-01-10 09:00", "fact", "Mara"),
    ]
    assert len({id_ for id_, *_ in shown}) == 3
    assert request.user.count("</entries>") == 1
    assert "Ida" not in request.system
    assert (request.purpose, request.tenant, request.temperature) == (
        ChatPurpose.DECIDE,
        TENANT,
        0.0,
    )
    assert request.schema is not None


def test_the_prompt_is_in_the_language_of_the_entries() -> None:
    _, english = rule(BOAT, says("ignore", {}))
    _, chinese = rule(TEA, says("ignore", {}))

    assert "target" in english.asked[0].user
    assert "目标" in chinese.asked[0].user
    assert "不确定" in chinese.asked[0].system


def test_times_are_those_of_the_zone_said_in_and_doubt_is_shown() -> None:
    doubtful = replace(BOAT.target, zone="Asia/Shanghai", status=Status.TENTATIVE)

    _, chat = rule(replace(BOAT, target=doubtful), says("ignore", {}))

    assert "2024-01-08 17:00 | fact? |" in chat.asked[0].user


# What is taken ------------------------------------------------------------------------------------


def test_an_update_takes_the_candidates_that_add_and_the_text() -> None:
    ruling, _ = rule(BOAT, PETREL)

    assert ruling.decision == Update(
        text="Ida has a boat, Petrel, which has no engine.", used=(EntryId("c1"),), reason="r"
    )
    [spent] = ruling.spent
    assert (spent.purpose, spent.calls, spent.repairs) == (ChatPurpose.DECIDE, 1, 0)
    assert (ruling.calls, ruling.refused, ruling.failure) == (1, {}, None)


def test_a_delete_names_the_newest_entry_that_conflicts() -> None:
    both = says("delete", {"Petrel": "conflicts", "9 m": "conflicts"}, reason="")

    english, _ = rule(BOAT, both)
    chinese, _ = rule(TEA, COFFEE)

    assert english.decision == Delete(
        superseded_by=EntryId("c2"), reason="a newer entry conflicts with it"
    )
    assert chinese.decision == Delete(superseded_by=EntryId("c2"), reason="r")


def test_unsure_means_ignore_whatever_the_verdicts_say() -> None:
    ruling, _ = rule(BOAT, says("ignore", {"Petrel": "conflicts"}, reason="unsure"))

    assert ruling.decision == Ignore(reason="unsure")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```json\n", "\n```"),
        ("Let me think. {so} I would say:\n", "\nI hope {that} helps!"),
        ('{"action": "ignore", "verdicts": [], "text": "", "reason": "draft"}\nBetter: ', ""),
        ('{"decision": ', "}"),
        ("\ud83d\0", ""),
    ],
)
def test_what_stands_around_a_reply_does_not_matter(before: str, after: str) -> None:
    english, chat = rule(BOAT, wrapped(PETREL, before, after))
    chinese, _ = rule(TEA, wrapped(COFFEE, before, after))

    assert isinstance(english.decision, Update)
    assert isinstance(chinese.decision, Delete)
    assert len(chat.asked) == 1


@pytest.mark.parametrize("form", ["object", "texts", "words"])
def test_verdicts_of_another_form_and_other_words_are_read(form: str) -> None:
    def told(request: ChatRequest) -> str:
        short = next(id_ for text, id_ in ids(request).items() if "Petrel" in text)
        verdicts: object = {
            "object": {short: "adds"},
            "texts": [f"{short}: adds"],
            "words": [{"id": short, "verdict": "补充"}],
        }[form]
        text = "Ida has a boat, Petrel, which has no engine."
        return json.dumps({"verdicts": verdicts, "action": "UPDATE", "text": text})

    ruling, _ = rule(BOAT, told)

    assert isinstance(ruling.decision, Update)
    assert ruling.decision.reason == "a newer entry adds to it"


def test_a_chat_model_that_says_the_least_ignores() -> None:
    decider = ChatDecider(chat=FakeChat(), limits=DecisionLimits())

    ruling = asyncio.run(decider.ask(BOAT, tenant=TENANT))

    assert ruling.decision == Ignore(reason="unrelated or unsure")
    assert decider.name == "chat/fake-chat/1"


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["update", "delete"])
def test_an_id_that_was_never_shown_changes_nothing_and_is_counted(action: str) -> None:
    rows = [{"id": "12", "verdict": "adds" if action == "update" else "conflicts"}]
    reply = json.dumps({"verdicts": rows, "action": action, "text": "Ida has 2 boats."})

    for asked, word in ((BOAT, "refused"), (TEA, "拒绝")):
        ruling, chat = rule(asked, reply)

        assert isinstance(ruling.decision, Ignore)
        assert word in ruling.decision.reason
        assert ruling.refused == {"unknown id": 1, "unsupported action": 1}
        assert len(chat.asked) == 1


def test_the_id_of_the_target_is_no_candidate() -> None:
    ruling, _ = rule(BOAT, says("delete", {"Ida has a boat": "conflicts"}))

    assert isinstance(ruling.decision, Ignore)
    assert ruling.refused["unknown id"] == 1


def test_known_candidates_stand_beside_an_unknown_id() -> None:
    def told(request: ChatRequest) -> str:
        assert callable(PETREL)
        found = json.loads(str(PETREL(request)))
        found["verdicts"].append({"id": "zz9", "verdict": "adds"})
        return json.dumps(found)

    ruling, _ = rule(BOAT, told)

    assert isinstance(ruling.decision, Update)
    assert ruling.decision.used == (EntryId("c1"),)
    assert ruling.refused == {"unknown id": 1}


def test_a_delete_because_of_what_is_unrelated_is_refused() -> None:
    for asked, word in ((BOAT, "9 m"), (TEA, "龙井")):
        ruling, _ = rule(asked, says("delete", {word: "unrelated"}))

        assert isinstance(ruling.decision, Ignore)
        assert ruling.refused == {"unsupported action": 1}


def test_an_update_beside_a_conflict_is_refused() -> None:
    ruling, _ = rule(TEA, says("update", {"龙井": "adds", "改喝": "conflicts"}, "林夏喝茶。"))

    assert isinstance(ruling.decision, Ignore)


@pytest.mark.parametrize(
    ("asked", "adding", "text", "named"),
    [
        (BOAT, "Petrel", "Ida has a boat with no engine.", "petrel"),
        (BOAT, "9 m", "Ida has a long boat.", "amount 9"),
        (BOAT, "Petrel", "Ida has a boat, Petrel, with an engine.", "not engin"),
        (BOAT, "9 m", "Ida has a boat, which is 9 m long and 3 m wide.", "amount 3"),
        (BOAT, "9 m", "Ida and Rolf have a boat of 9 m.", "rolf"),
        (BOAT, "9 m", "艾达 (Ida) 有一艘船，长 9 m。", "another language"),
        (TEA, "龙井", "林夏喜欢喝茶。", "丢失"),
        (TEA, "改喝", "林夏喜欢喝茶，也喝咖啡。", "not 喝茶"),
        (TEA, "龙井", "Lin Xia (林夏) likes tea, 喝龙井茶 above all other kinds of tea.", "语言"),
    ],
)
def test_an_update_that_loses_or_invents_something_is_refused_by_its_name(
    asked: Case, adding: str, text: str, named: str
) -> None:
    ruling, chat = rule(asked, says("update", {adding: "adds"}, text))

    assert isinstance(ruling.decision, Ignore)
    assert named in ruling.decision.reason
    assert ruling.refused == {"update refused": 1}
    assert len(chat.asked) == 1


def test_an_update_may_say_when_its_sources_were_said() -> None:
    text = "Ida has a boat, 9 m long as of 2024-01-10."

    ruling, _ = rule(BOAT, says("update", {"9 m": "adds"}, text))

    assert isinstance(ruling.decision, Update)


def test_what_a_speaker_was_unsure_of_overrules_nothing_firm() -> None:
    doubtful = replace(TEA.candidates[1].entry, status=Status.TENTATIVE)
    asked = replace(TEA, candidates=(TEA.candidates[0], replace(TEA.candidates[1], entry=doubtful)))

    ruling, _ = rule(asked, COFFEE)

    assert isinstance(ruling.decision, Ignore)
    assert ruling.refused == {"delete refused": 1}


# What is asked for again --------------------------------------------------------------------------


def cut(reply: Scripted) -> Scripted:
    assert callable(reply)
    return lambda request: str(reply(request))[:-40]


@pytest.mark.parametrize(
    ("flawed", "reason"),
    [
        ("", "empty reply"),
        ("I would merge them.", "no JSON"),
        ('{"memory": null}', "no JSON"),
        (cut(says("delete", {"a": "conflicts"}, reason="x" * 60)), "broken JSON"),
        ('{"action": "explode", "verdicts": []}', "no action"),
        ('{"action": "delete", "verdicts": "all"}', "no verdicts"),
        (says("update", {"Petrel": "adds", "龙井": "adds"}, " "), "no text"),
        ("{" * 5_000_000, "too long"),
        (MalformedReply("no reply", raw="<html>"), "unreadable"),
    ],
)
def test_a_reply_that_cannot_be_used_is_asked_for_again(flawed: Scripted, reason: str) -> None:
    english, chat = rule(BOAT, flawed, PETREL)
    chinese, _ = rule(TEA, flawed, COFFEE)

    assert isinstance(english.decision, Update)
    assert isinstance(chinese.decision, Delete)
    assert english.refused == {reason: 1}
    assert english.calls == 2
    again = chat.asked[1].user
    assert again.startswith(chat.asked[0].user)
    assert "could not be used" in again


def test_a_call_whose_answer_was_no_reply_is_counted() -> None:
    took = ChatReply(text="", model="scripted", tokens_in=30, tokens_out=4, is_estimated=True)

    ruling, _ = rule(BOAT, MalformedReply("odd", raw="<html>", call=took), PETREL)

    assert ruling.calls == 2
    assert sum(each.calls for each in ruling.spent) == 2
    assert sum(each.estimated for each in ruling.spent) == 1
    assert sum(each.repairs for each in ruling.spent) == 1


def test_a_reply_that_stays_unusable_fails_the_target_with_the_reason() -> None:
    ruling, chat = rule(TEA, "没有 JSON", attempts=2)

    assert ruling.decision is None
    assert ruling.failure == "the reply cannot be used: it held no JSON with an action"
    assert (ruling.calls, len(chat.asked)) == (3, 3)
    assert sum(each.repairs for each in ruling.spent) == 2


@pytest.mark.parametrize(
    "error",
    [
        ModelError("the chat endpoint failed: 500"),
        ModelUnavailable("it answers nobody", retry_after_s=1.0),
        LimitError("no room", retry_after_s=1.0),
        StoreError("no replica"),
    ],
)
def test_an_endpoint_that_does_not_answer_fails_the_target_with_the_reason(
    error: ModelError | LimitError | StoreError,
) -> None:
    ruling, chat = rule(BOAT, error)

    assert ruling.failure == f"{type(error).__name__}: {error.message}"
    assert (ruling.decision, ruling.spent, ruling.calls) == (None, (), 1)
    assert len(chat.asked) == 1


# Many candidates ----------------------------------------------------------------------------------


def test_more_candidates_than_a_call_has_room_for_are_asked_about_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decide_lines, "MOST_SHOWN", 1)

    ruling, chat = rule(
        BOAT,
        says("update", {"9 m": "adds"}, "Ida has a boat of 9 m."),
        says("update", {"Petrel": "adds"}, "Ida has a boat of 9 m, Petrel, with no engine."),
    )

    assert ruling.decision == Update(
        text="Ida has a boat of 9 m, Petrel, with no engine.",
        used=(EntryId("c2"), EntryId("c1")),
        reason="r",
    )
    assert "Ida has a boat of 9 m." in chat.asked[1].user
    assert ruling.calls == 2


def test_a_delete_in_one_part_is_the_decision_and_ignoring_every_part_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decide_lines, "MOST_CHARS", 10)

    deleted, once = rule(TEA, COFFEE)
    ignored, twice = rule(TEA, says("ignore", {}, reason="another matter"))

    assert isinstance(deleted.decision, Delete)
    assert len(once.asked) == 1
    assert ignored.decision == Ignore(reason="another matter")
    assert len(twice.asked) == 2
