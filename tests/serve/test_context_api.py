"""Contexts over HTTP: what they hold, what narrows them, and that they keep to their room."""

from typing import Any

import pytest

from actors.fakes import FakeTokenizer

MARA = "/v1/collections/mara"


def tell(house: Any, content: str, *, conversation: str = "c1", **more: Any) -> None:
    """A message that is only accepted."""
    message = {"role": "user", "speaker": "Mara", "content": content, **more}
    body = {"conversation": conversation, "messages": [message]}
    house.client.post(f"{MARA}/messages", json=body).raise_for_status()


def told(house: Any, content: str, *, conversation: str = "c1", **more: Any) -> None:
    """A message and the entry it becomes."""
    tell(house, content, conversation=conversation, **more)
    house.client.post(f"{MARA}/flush").raise_for_status()
    house.work()


def context(house: Any, query: str, **more: Any) -> dict[str, Any]:
    reply = house.client.post(f"{MARA}/context", json={"query": query, **more})
    reply.raise_for_status()
    found: dict[str, Any] = reply.json()
    return found


@pytest.mark.parametrize("content", ["The ferry leaves at seven.", "渡轮七点开。"])
@pytest.mark.parametrize("budget", [100, 200, 2000])
def test_a_message_is_in_the_context_once_it_is_accepted(
    house: Any, content: str, budget: int
) -> None:
    told(house, "I keep herons.")
    tell(house, content)

    assert content in context(house, "ferry 渡轮", budget_tokens=budget)["text"]


@pytest.mark.parametrize("budget", [50, 51, 64, 99, 200, 777, 5_000, 100_000])
def test_a_context_over_http_is_never_over_its_budget(house: Any, budget: int) -> None:
    for n in range(12):
        told(house, f"I visited harbour {n} and liked it 去了{n}号港口。 " * (1 + n % 4))
    told(house, "Please always answer in French.")
    tell(house, "Waiting for the ferry. " * 300)

    found = context(house, "harbour 港口", budget_tokens=budget)

    assert FakeTokenizer().count([found["text"]]) == [found["tokens"]]
    assert found["tokens"] <= budget


def test_what_a_context_finds_is_narrowed_like_a_search(house: Any) -> None:
    told(house, "I keep a grey cat.", speaker="Mara")
    told(house, "我养了一只黑猫。", speaker="王芳", conversation="家")

    only = context(house, "cat 猫", filter={"speaker": "王芳"}, working_memory_tokens=0)
    facts = context(house, "cat 猫", kinds=["relation"], working_memory_tokens=0)

    assert "黑猫" in only["text"]
    assert "grey" not in only["text"]
    assert facts["entries"] == []


def test_a_filter_that_says_nothing_known_is_refused_by_name(house: Any) -> None:
    told(house, "I keep a grey cat.")

    for body, field in (
        ({"filter": {"owner": "x"}}, "filter"),
        ({"statuses": ["outdated"]}, "statuses"),
        ({"rerank": True}, "rerank"),
        ({"episodic_tokens": -1}, "episodic_tokens"),
    ):
        reply = house.client.post(f"{MARA}/context", json={"query": "cat", **body})

        assert reply.status_code == 422
        assert reply.json()["error"]["field"].startswith(field)


def test_each_layer_keeps_to_the_room_it_is_given(house: Any) -> None:
    for n in range(9):
        told(house, f"I visited harbour {n}.")
    told(house, "Please always answer in French.")

    few = context(house, "harbour", episodic_tokens=40, working_memory_tokens=0)
    none = context(house, "harbour", episodic_tokens=0, working_memory_tokens=0)
    rules = context(house, "harbour", instruction_tokens=0, working_memory_tokens=0)

    assert 0 < len(few["parts"]["episodic"]) < 9
    assert set(none["parts"]) == {"instructions"}
    assert "instructions" not in rules["parts"]


def test_as_of_an_instant_nothing_said_later_is_shown(house: Any) -> None:
    told(house, "I live in Bergen.", said_at="2025-01-05T10:00:00Z")
    told(house, "Please always answer in French.", said_at="2025-01-06T10:00:00Z")
    told(house, "I live in Oslo.", said_at="2025-03-05T10:00:00Z")
    told(house, "Please always answer in German.", said_at="2025-03-06T10:00:00Z")
    tell(house, "I live in Paris.", said_at="2025-05-05T10:00:00Z")

    then = context(house, "Where does Mara live?", as_of="2025-02-01")

    assert "Bergen" in then["text"]
    assert "French" in then["text"]
    assert not any(word in then["text"] for word in ("Oslo", "German", "Paris"))


@pytest.mark.parametrize("query", ["Where does Mara live?", "玛拉住在哪里？"])
def test_an_outdated_or_erased_entry_is_in_no_context(house: Any, query: str) -> None:
    told(house, "I live in Bergen.")
    told(house, "我住在奥斯陆。")
    entries = house.client.get(f"{MARA}/entries").json()["entries"]
    bergen, oslo = (
        next(one for one in entries if word in one["text"]) for word in ("Bergen", "奥斯陆")
    )
    house.client.patch(
        f"/v1/entries/{bergen['id']}", json={"status": "outdated"}, headers={"If-Match": "1"}
    ).raise_for_status()
    house.client.delete(f"/v1/entries/{oslo['id']}").raise_for_status()

    found = context(house, query, working_memory_tokens=0)

    assert "Bergen" not in found["text"]
    assert "奥斯陆" not in context(house, query)["text"]


def test_the_scratchpad_gives_what_bears_on_the_question_and_what_always_holds(house: Any) -> None:
    told(house, "I keep a grey cat.")
    for name, slot, text in (
        ("a", "profile", "玛拉的小船叫“白鹭号”。"),
        ("b", "profile", "Her sister sails."),
        ("c", "instructions", "Answer in two lines."),
    ):
        body = {"slot": slot, "text": text}
        house.client.put(f"{MARA}/scratchpad/{name}", json=body).raise_for_status()

    found = context(house, "小船叫什么？")

    assert [line["text"] for line in found["parts"]["scratchpad"]] == ["[2] 玛拉的小船叫“白鹭号”。"]
    assert "Answer in two lines." in found["parts"]["instructions"][0]["text"]


def test_an_instruction_that_a_person_removed_or_reworded_is_followed(house: Any) -> None:
    told(house, "Please always answer in French.")
    told(house, "Please never mention herons.")
    items = house.client.get(f"{MARA}/scratchpad").json()["items"]
    french, herons = (
        next(one["id"] for one in items if word in one["text"]) for word in ("French", "herons")
    )
    first = {"If-Match": "1"}
    house.client.delete(f"{MARA}/scratchpad/{french}", headers=first).raise_for_status()
    house.client.patch(
        f"{MARA}/scratchpad/{herons}", json={"text": "Herons may be named."}, headers=first
    ).raise_for_status()

    found = context(house, "What holds?", kinds=["fact"], working_memory_tokens=0)

    assert "Herons may be named." in found["text"]
    assert "French" not in found["text"]


@pytest.mark.parametrize(
    ("old", "new", "query", "ask"),
    [
        (
            "The ferry leaves at 7:00.",
            "The ferry leaves at 9:00.",
            "When does the ferry leave?",
            "?",
        ),
        ("渡轮每天七点开。", "渡轮每天九点开。", "渡轮几点开？", "哪一个对？"),
    ],
)
def test_a_contradiction_is_told_with_a_question_to_ask(
    house: Any, old: str, new: str, query: str, ask: str
) -> None:
    told(house, old, said_at="2025-05-01T10:00:00Z")
    tell(house, new, said_at="2025-05-09T10:00:00Z")

    (found,) = context(house, query)["conflicts"]

    assert found["reason"] == "contradictory"
    assert found["stands"]["layer"] == "working_memory"
    assert found["stands"]["said_at"] == "2025-05-09T10:00:00Z"
    assert found["against"]["entries"]
    assert found["against"]["sources"][0]["sequence"] == 1
    assert ask in found["question"]


def test_what_is_unsure_is_told_with_a_question_to_ask(house: Any) -> None:
    told(house, "I will probably move to Oslo.")

    found = context(house, "Where does Mara move?")["conflicts"]

    assert [(one["reason"], one["against"]) for one in found] == [("tentative", None)]


def test_what_the_question_asks_for_stands_above_a_standing_instruction(house: Any) -> None:
    told(house, "Please always answer in 3 lines.")

    (found,) = context(house, "Where is it? Please always answer in 5 lines.")["conflicts"]

    assert (found["stands"]["layer"], found["stands"]["said_at"]) == ("question", None)
    assert "3 lines" in found["against"]["text"]


@pytest.mark.parametrize(
    ("query", "form", "part"),
    [
        ("In what order did I visit the harbours?", "timeline", "timeline"),
        ("总结一下港口的事。", "summary", "topics"),
        ("Which harbour?", "plain", "episodic"),
    ],
)
def test_the_words_of_a_question_choose_the_form(
    house: Any, query: str, form: str, part: str
) -> None:
    told(house, "I visited the old harbour of Bergen. 我去了老港口。")
    told(house, "I visited the new harbour of Oslo. 我去了新港口。")

    found = context(house, query, placement="user")

    assert found["form"] == form
    assert found["parts"][part][0]["sources"][0]["sequence"]
    assert found["prompt"] == [{"role": "user", "content": f"{found['text']}\n\n{query}"}]


def test_a_form_can_be_asked_for_and_an_unknown_one_is_refused(house: Any) -> None:
    told(house, "I visited the old harbour.")

    found = context(house, "Which harbour?", form="timeline")
    reply = house.client.post(f"{MARA}/context", json={"query": "x", "form": "poem"})

    assert (found["form"], set(found["parts"]), found["prompt"]) == ("timeline", {"timeline"}, [])
    assert (reply.status_code, reply.json()["error"]["field"]) == (422, "form")
