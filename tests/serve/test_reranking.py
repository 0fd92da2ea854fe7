"""A reranker orders the best hits; the floor is then held against its judgement."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from actors.fakes import FakeReranker
from serve.deployments import Reranker
from serve.inline import InlineReranker

MARA = "/v1/collections/mara"


@pytest.fixture
def reranking(house: Any) -> Any:
    house.memory.searching._reranker = InlineReranker(FakeReranker())
    messages = [
        {"role": "user", "speaker": "Mara", "content": text, "said_at": "2025-05-08T12:00:00Z"}
        for text in ("The boat is called Heron.", "A heron stood by the lake.", "我的船叫苍鹭。")
    ]
    house.client.post(f"{MARA}/messages", json={"messages": messages}).raise_for_status()
    house.client.post(f"{MARA}/flush").raise_for_status()
    house.work()
    return house


def ask(house: Any, query: str, **more: Any) -> list[dict[str, Any]]:
    reply = house.client.post(f"{MARA}/search", json={"query": query, "explain": True, **more})
    reply.raise_for_status()
    hits: list[dict[str, Any]] = reply.json()["hits"]
    return hits


def test_the_reranker_orders_the_hits_and_its_judgement_is_the_score(reranking: Any) -> None:
    hits = ask(reranking, "heron by the lake")

    assert "lake" in hits[0]["entry"]["text"]
    assert [hit["score"] for hit in hits] == [hit["explain"]["rerank"] for hit in hits]
    assert hits[0]["score"] == 1.0
    assert sorted((hit["score"] for hit in hits), reverse=True) == [hit["score"] for hit in hits]


def test_a_search_may_do_without_the_reranker(reranking: Any) -> None:
    assert ask(reranking, "苍鹭", rerank=False)[0]["explain"]["rerank"] is None
    assert ask(reranking, "苍鹭", rerank=True)[0]["explain"]["rerank"] == 1.0


def test_the_floor_is_held_against_the_judgement_and_the_limit_holds(reranking: Any) -> None:
    assert len(ask(reranking, "heron by the lake", min_score=0.9)) == 1
    assert len(ask(reranking, "heron by the lake", limit=1)) == 1
    assert ask(reranking, "zebra", min_score=0.1) == []


def test_no_more_than_the_best_hits_are_judged_and_the_others_follow(reranking: Any) -> None:
    searching = reranking.memory.searching
    searching._recall = searching._recall.model_copy(update={"reranked": 1})

    hits = ask(reranking, "heron by the lake")

    assert [hit["explain"]["rerank"] is None for hit in hits] == [False, *[True] * (len(hits) - 1)]
    assert all(hit["score"] <= hits[0]["score"] for hit in hits)
    assert len(ask(reranking, "heron by the lake", min_score=0.1)) == 1


def test_the_deployment_judges_each_text_in_its_place(tmp_path: Path) -> None:
    deployed = Reranker(model="fake", models_dir=tmp_path, threads=1)

    async def judged() -> list[float]:
        return await deployed.scores("green tea", ["black tea", "绿茶", "green tea"], owner="acme")

    assert asyncio.run(judged()) == [0.5, 0.0, 1.0]
