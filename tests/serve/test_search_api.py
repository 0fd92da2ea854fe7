"""Search over HTTP: what narrows a question, and what is refused by name."""

from typing import Any

import pytest

MARA = "/v1/collections/mara"
PER = "/v1/collections/per"


def say(*texts: str) -> dict[str, Any]:
    messages = [
        {"role": "user", "speaker": "Mara", "content": text, "said_at": "2025-05-08T12:00:00Z"}
        for text in texts
    ]
    return {"conversation": "c1", "messages": messages}


def fill(house: Any, *texts: str) -> None:
    house.client.post(f"{MARA}/messages", json=say(*texts)).raise_for_status()
    house.client.post(f"{MARA}/flush").raise_for_status()
    house.work()


def entry_of(hit: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = hit["entry"]
    return found


def found(house: Any, query: str, at: str = MARA, **more: Any) -> list[str]:
    reply = house.client.post(f"{at}/search", json={"query": query, **more})
    reply.raise_for_status()
    return [hit["entry"]["text"] for hit in reply.json()["hits"]]


def told(house: Any, at: str, conversation: str, content: str, **more: Any) -> None:
    """A message and the entry it becomes."""
    message = {"role": "user", "content": content, "said_at": "2025-05-08T12:00:00Z", **more}
    body = {"conversation": conversation, "messages": [message]}
    house.client.post(f"{at}/messages", json=body).raise_for_status()
    house.client.post(f"{at}/flush").raise_for_status()
    house.work()


def test_a_filter_narrows_by_speaker_time_conversation_and_metadata(house: Any) -> None:
    told(house, MARA, "c1", "I keep a grey cat.", speaker="Mara")
    told(house, MARA, "家", "我养了一只黑猫。", speaker="王芳", said_at="2025-07-25T02:00:00Z")
    told(house, MARA, "c3", "I keep a white cat.", speaker="Ben", metadata={"project": "atlas"})

    def only(**filter_: Any) -> list[str]:
        return [text for text in found(house, "cat 猫", filter=filter_)]

    assert ["grey" in one for one in only(speaker="Mara")] == [True]
    assert ["黑猫" in one for one in only(said_at={"gte": "2025-07-25"})] == [True]
    assert ["黑猫" in one for one in only(conversation="家")] == [True]
    assert ["黑猫" in one for one in only(language={"eq": "zh"})] == [True]
    assert ["white" in one for one in only(**{"metadata.project": "atlas"})] == [True]
    assert len(only(**{"not": {"metadata.project": "atlas"}})) == 2
    assert only(written_at={"lt": "2025-01-01"}) == []


def test_what_only_the_record_store_can_judge_is_looked_for_in_longer_lists(house: Any) -> None:
    for start in range(0, 120, 40):
        texts = [f"Entry number {n} is about the old harbour." for n in range(start, start + 40)]
        fill(house, *texts)
    entries = house.client.get(f"{MARA}/entries", params={"limit": 500}).json()["entries"]
    assert len(entries) > 100
    for rank, entry in enumerate(entries[-3:]):
        house.client.patch(
            f"/v1/entries/{entry['id']}",
            json={"metadata": {"rank": rank}},
            headers={"If-Match": str(entry["version"])},
        ).raise_for_status()

    hits = found(house, "old harbour", filter={"metadata.rank": {"gte": 1}})

    assert len(hits) == 2


def test_as_of_an_instant_finds_what_held_then_in_the_words_of_that_version(house: Any) -> None:
    fill(house, "The meeting is on Monday.")
    entry = house.client.get(f"{MARA}/entries").json()["entries"][0]
    house.client.patch(
        f"/v1/entries/{entry['id']}",
        json={"status": "outdated"},
        headers={"If-Match": str(entry["version"])},
    ).raise_for_status()

    assert found(house, "meeting") == []
    assert found(house, "meeting", as_of="2025-05-09") == [entry["text"]]
    assert found(house, "meeting", as_of="2025-05-07") == []
    assert found(house, "meeting", as_of="2025-06-02") == []


def test_several_collections_answer_together_and_each_hit_says_its_own(house: Any) -> None:
    told(house, MARA, "c1", "The boat is called Heron.")
    told(house, PER, "c1", "The boat is painted blue.")
    told(house, "/v1/collections/ola", "c1", "The boat is not for sale.")

    reply = house.client.post(
        "/v1/search", json={"query": "boat", "collections": ["mara", "per", "mara"]}
    )

    hits = reply.json()["hits"]
    assert {
        (hit["entry"]["collection"], hit["entry"]["sources"][0]["sequence"]) for hit in hits
    } == {
        ("mara", 1),
        ("per", 1),
    }


def test_an_unknown_collection_among_several_is_not_found(house: Any) -> None:
    told(house, MARA, "c1", "The boat is called Heron.")

    reply = house.client.post("/v1/search", json={"query": "boat", "collections": ["mara", "x"]})

    assert reply.status_code == 404
    assert "'x'" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"filter": {}}, "filter"),
        ({"filter": {"tenant": "globex"}}, "filter"),
        ({"filter": {"said_at": {"ne": 1}}}, "filter.said_at"),
        ({"filter": {"or": [{"kind": "wish"}]}}, "filter.or[0].kind"),
        ({"filter": {"speaker": "a\x00"}}, "filter"),
        ({"filter": []}, "filter"),
        ({"filter": {"status": "outdated"}}, "filter.status"),
        ({"as_of": "soon"}, "as_of"),
        ({"as_of": True}, "as_of"),
        ({"as_of": "2025-01-01", "statuses": ["outdated"]}, "statuses"),
        ({"collections": []}, "collections"),
    ],
)
def test_what_no_search_can_mean_is_refused_by_name(
    house: Any, more: dict[str, Any], field: str
) -> None:
    house.client.post(f"{MARA}/messages", json=say("I like tea.")).raise_for_status()

    reply = house.client.post("/v1/search", json={"query": "tea", "collections": ["mara"], **more})

    assert (reply.status_code, reply.json()["error"]["field"]) == (422, field)


def test_thai_arabic_and_korean_are_found_by_their_words(house: Any) -> None:
    told(house, MARA, "c1", "ฉันชอบดื่มชาเขียวทุกเช้า")
    told(house, MARA, "c2", "أحب شرب القهوة في الصباح")
    told(house, MARA, "c3", "저는 부산에서 회사에 다녀요")

    assert "ชาเขียว" in found(house, "ชาเขียว")[0]
    assert "القهوة" in found(house, "القَهْوَة")[0]
    assert "부산" in found(house, "부산")[0]


def hits_of(house: Any, query: str, **more: Any) -> list[dict[str, Any]]:
    reply = house.client.post(f"{MARA}/search", json={"query": query, "explain": True, **more})
    reply.raise_for_status()
    hits: list[dict[str, Any]] = reply.json()["hits"]
    return hits


def test_newness_and_strength_move_a_hit_up_where_they_weigh(house: Any) -> None:
    told(house, MARA, "c1", "My old bicycle is green.", said_at="2024-05-08T12:00:00Z")
    told(house, MARA, "c2", "My bicycle has a flat tyre today.", said_at="2025-05-31T12:00:00Z")

    plain = hits_of(house, "old green bicycle")
    newest = hits_of(house, "old green bicycle", weights={"recency": 5, "strength": 1})

    assert "old" in plain[0]["entry"]["text"]
    assert "flat" in newest[0]["entry"]["text"]
    assert newest[0]["explain"]["recency"] > 0.9
    assert 0 < newest[0]["explain"]["strength"] <= 0.2
    assert all(0 <= hit["score"] <= 1 for hit in [*plain, *newest])
    assert plain[0]["score"] == plain[0]["explain"]["match"] == 1.0


def test_what_is_less_relevant_than_asked_is_left_out(house: Any) -> None:
    fill(house, "The boat is called Heron.", "My cat sleeps all day.")

    every = hits_of(house, "the boat is called heron")
    near = hits_of(house, "the boat is called heron", min_score=0.5)

    assert len(every) == 2
    assert [hit["explain"]["dense_score"] >= 0.5 for hit in near] == [True]
    assert hits_of(house, "something else entirely", min_score=1.0) == []


def test_neighbouring_turns_come_with_a_hit(house: Any) -> None:
    fill(house, "Shall we meet?", "The boat is called Heron.", "See you on Friday.", "Bye.")

    [hit] = hits_of(house, "boat Heron", limit=1, neighbours=1)

    assert [one["content"] for one in hit["around"]] == [
        "Shall we meet?",
        "The boat is called Heron.",
        "See you on Friday.",
    ]
    assert hits_of(house, "boat Heron", limit=1)[0]["around"] == []


def test_a_hit_contained_in_a_better_one_is_dropped(house: Any) -> None:
    told(house, MARA, "c1", "I like green tea and I live in Lisbon.", speaker="Mara")
    told(house, MARA, "c2", "I like green tea.", speaker="Mara")

    texts = found(house, "green tea and Lisbon")

    assert len(texts) == 1
    assert "Lisbon" in texts[0]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"rerank": True}, "rerank"),
        ({"weights": {"dense": 0, "lexical": 0}}, "weights"),
        ({"weights": {"colour": 1}}, "weights.colour"),
        ({"weights": {"dense": -1}}, "weights.dense"),
        ({"min_score": 2}, "min_score"),
        ({"neighbours": 6}, "neighbours"),
    ],
)
def test_options_that_mean_nothing_are_refused_by_name(
    house: Any, more: dict[str, Any], field: str
) -> None:
    house.client.post(f"{MARA}/messages", json=say("I like tea.")).raise_for_status()

    reply = house.client.post(f"{MARA}/search", json={"query": "tea", **more})

    assert (reply.status_code, reply.json()["error"]["field"]) == (422, field)
