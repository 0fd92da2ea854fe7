"""Evidence runs over tiny data sets and a service in this process, with stand-in models."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from actors.fakes import FakeEmbedder, FakeTokenizer
from pipeline.errors import ConfigError, InputError
from pipeline.evaluate.report import Report
from serve.client import Client
from serve.evaluation import beam, locomo, longmemeval
from serve.evaluation.asking import window
from serve.evaluation.evidence import Benchmark, measure, report
from serve.evaluation.homes import FolderHomes, RunningService, homes
from serve.evaluation.samples import Sample
from serve.evaluation.usage import less, summed

SAID = [
    ("Ana", "I moved to Lisbon in March."),
    ("Bo", "My cat is called Biscuit."),
    ("Ana", "我在杭州学过茶道。"),
    ("Bo", "The library closes at nine."),
]
LOCOMO = {
    "sample_id": "conv-1",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": speaker, "dia_id": f"D1:{n}", "text": text}
            for n, (speaker, text) in enumerate(SAID, start=1)
        ],
    },
    "qa": [
        {"question": "What is the cat called?", "evidence": ["D1:2"], "category": 1},
        {"question": "茶道在哪里学的？", "evidence": ["D1:3"], "category": 4},
        {"question": "Does Bo fly?", "evidence": ["D1:4"], "category": 5},
    ],
}
CHAT = [
    {
        "batch_number": 1,
        "turns": [
            [
                {
                    "role": "user",
                    "id": 0,
                    "time_anchor": "March-15-2024",
                    "content": "Always answer me in metric units. ->-> 1,1",
                },
                {"role": "assistant", "id": 1, "content": "I will use metric units."},
            ],
            [
                {"role": "user", "id": 2, "content": "My kettle holds two litres. ->-> 1,2"},
                {"role": "assistant", "id": 3, "content": "That is a large kettle."},
            ],
        ],
    }
]
PROBES = {
    "abstention": [{"question": "Who made the kettle?"}],
    "instruction_following": [{"question": "How far is the moon?", "source_chat_ids": [0]}],
    "information_extraction": [{"question": "What does it hold?", "source_chat_ids": [2, 3]}],
}
HISTORY = {
    "question_id": "q1",
    "question_type": "single-session-user",
    "question": "What is my cat called?",
    "answer": "Biscuit",
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_session_ids": ["s1", "s2"],
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
    "haystack_sessions": [
        [{"role": "user", "content": "My cat is called Biscuit.", "has_answer": True}],
        [{"role": "user", "content": "The library closes at nine."}],
    ],
    "answer_session_ids": ["s1"],
}


class HouseClient(Client):
    """A client of the service in this process, whose worker works when it is waited for."""

    def __init__(self, house: Any) -> None:
        super().__init__("http://testserver")
        self.http.close()
        self.http: httpx.Client = house.client
        self._house = house

    def flush(self, collection: str, *, wait: bool = False) -> Any:
        super().flush(collection)
        self._house.work()
        return super().flush(collection, wait=wait)


class HouseHomes(FolderHomes):
    """Homes whose services are one in this process; ``served`` says which were asked for."""

    def __init__(self, folder: Path, house: Any) -> None:
        super().__init__(folder, config=None, say=print)
        self._house = house
        self.served: list[str] = []

    @contextmanager
    def _service(self, name: str) -> Iterator[Client]:
        (self._folder / name).mkdir(exist_ok=True)
        self.served.append(name)
        yield HouseClient(self._house)


def measured(benchmark: Benchmark, homes: Any, *, sleep: bool = False) -> Report:
    figures = measure(
        homes,
        benchmark,
        embedder=FakeEmbedder(),
        tokenizer=FakeTokenizer(),
        sleep=sleep,
        say=lambda line: None,
    )
    return report(benchmark, figures, config={"settings": {"a": 1}})


def written(path: Path, document: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture
def conversations(tmp_path: Path) -> Benchmark:
    path = written(tmp_path / "locomo.json", [LOCOMO])
    return locomo.benchmark(path, locomo.load(path, quick=False))


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    for name in ("1", "13"):
        written(tmp_path / "chats" / name / "chat.json", CHAT)
        written(tmp_path / "chats" / name / "probing_questions.json", PROBES)
    return tmp_path / "chats"


def test_evidence_is_measured_by_category_beside_a_plain_search_and_the_newest_messages(
    house: Any, conversations: Benchmark
) -> None:
    found = measured(conversations, RunningService(HouseClient(house)))

    document = found.document()
    recall = document["built"]["recall"]  # type: ignore[index, call-overload]
    assert recall["all"]["questions"] == 2
    assert recall["all"]["@10"] == {"search": 1.0, "floor": 1.0}
    assert recall["all"]["1000 tokens"] == {"search": 1.0, "floor": 1.0, "newest messages": 1.0}
    assert (recall["1"]["questions"], recall["2"]["questions"]) == (1, 0)
    losses = document["built"]["losses"]["1000 tokens"]["all"]  # type: ignore[index, call-overload]
    assert losses["found"] == 1.0
    assert sum(losses.values()) == 1.0
    tokens = document["built"]["context_tokens"]["500 tokens"]  # type: ignore[index, call-overload]
    assert 0 < tokens["mean"] <= tokens["most"] <= 500
    assert "slept" not in document


def test_a_result_says_what_ran_where_when_and_with_which_settings(
    house: Any, conversations: Benchmark
) -> None:
    document = json.loads(measured(conversations, RunningService(HouseClient(house))).to_json())

    assert {"name", "version", "date", "config", "machine", "claims", "build", "seconds"} <= set(
        document
    )
    assert document["config"]["settings"] == {"a": 1}
    assert document["config"]["samples"] == ["conv-1"]
    assert document["build"]["usage"] == {}
    claims = {claim["claim"]: claim for claim in document["claims"]}
    assert claims["evidence recall @10"]["bar"] == 0.65
    over = claims["evidence recall 1000 tokens is at least 0.05 above the floor's"]
    assert (over["value"], over["bar"], over["holds"]) == (1.0, 1.05, False)


def test_a_sleep_is_measured_beside_the_build_with_what_it_lost(
    house: Any, conversations: Benchmark
) -> None:
    document = json.loads(
        measured(conversations, RunningService(HouseClient(house)), sleep=True).to_json()
    )

    assert document["slept"]["recall"] == document["built"]["recall"]
    assert document["sleep"]["totals"] == {"targets": 0}
    [lost] = [
        claim
        for claim in document["claims"]
        if claim["claim"] == "evidence recall 1000 tokens lost through sleep"
    ]
    assert (lost["value"], lost["bar"], lost["holds"]) == (0.0, 0.01, True)


def test_what_was_built_and_slept_in_a_folder_is_not_built_again(
    house: Any, conversations: Benchmark, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    first = json.loads(measured(conversations, HouseHomes(folder, house), sleep=True).to_json())
    (folder / "slept" / "mark").touch()

    again = HouseHomes(folder, house)
    second = json.loads(measured(conversations, again, sleep=True).to_json())

    assert again.served == ["built", "slept"]
    assert second["build"] == first["build"]
    assert second["sleep"] == first["sleep"]
    assert (folder / "slept" / "mark").exists()
    messages = house.client.get("/v1/collections/eval-locomo-conv-1/messages").json()["messages"]
    assert len(messages) == len(SAID)


def test_another_set_of_collections_sleeps_anew_from_what_was_built(
    house: Any, conversations: Benchmark, tmp_path: Path
) -> None:
    place = HouseHomes(tmp_path, house)
    with place.awake() as client:
        place.build(client, conversations.samples[0], collection="a")
    (tmp_path / "built" / "service.json").touch()
    with place.asleep(["a"]):
        pass
    (tmp_path / "slept" / "mark").touch()

    house.clock.advance(timedelta(minutes=1))
    with place.awake() as client:
        place.build(client, conversations.samples[0], collection="b")

    with place.asleep(["b"]):
        assert not (tmp_path / "slept" / "mark").exists()

    assert not (tmp_path / "slept" / "service.json").exists()


def test_a_damaged_record_of_a_build_is_refused(
    house: Any, conversations: Benchmark, tmp_path: Path
) -> None:
    written(tmp_path / "built" / "evaluation.json", {"a": {"seconds": "long"}})

    with pytest.raises(ConfigError, match="expected what a build took"):
        HouseHomes(tmp_path, house).build(
            HouseClient(house), conversations.samples[0], collection="a"
        )


def test_the_newest_messages_are_those_that_fit_from_the_end(conversations: Benchmark) -> None:
    [sample] = conversations.samples
    long = {name: f"{line} " + "word " * 600 for name, line in sample.lines.items()}
    long["D1:3"] = sample.lines["D1:3"]
    wide = Sample(
        name="wide",
        sessions=sample.sessions,
        texts=sample.texts,
        said=sample.said,
        lines=long,
        questions=sample.questions,
    )

    found = window(wide, tokenizer=FakeTokenizer())

    assert found["500 tokens"] == [set(), {"D1:3"}]
    assert found["2000 tokens"] == [{"D1:2"}, {"D1:3"}]


def test_the_abilities_that_a_plain_search_serves_worst_are_pooled(house: Any, chats: Path) -> None:
    samples = beam.load(chats, quick=True)

    found = measured(beam.benchmark(chats, samples), RunningService(HouseClient(house)))

    assert [sample.name for sample in samples] == ["1"]
    recall = json.loads(found.to_json())["built"]["recall"]
    assert recall["all"]["questions"] == 2
    assert recall[beam.POOL]["questions"] == 1
    assert "abstention" not in recall
    names = [claim.claim for claim in found.claims]
    assert f"evidence recall 2000 tokens of {beam.POOL} is at least 0.1 above the floor's" in names
    assert "evidence recall 2000 tokens is at least 0.05 above the floor's" in names


def test_chats_are_found_in_a_folder_or_above_in_the_order_of_their_numbers(chats: Path) -> None:
    assert [sample.name for sample in beam.load(chats, quick=False)] == ["1", "13"]
    assert [sample.name for sample in beam.load(chats / "13", quick=False)] == ["13"]
    assert [sample.name for sample in beam.load(chats, quick=False, first=1)] == ["1"]
    for place in (chats / "1" / "chat.json", chats / "none", chats / "1"):
        (chats / "1" / "probing_questions.json").unlink(missing_ok=True)
        with pytest.raises(InputError) as refused:
            beam.load(place, quick=False)
        assert refused.value.field == "folder"


def test_every_question_of_longmemeval_has_a_collection_and_figures_by_session(
    house: Any, tmp_path: Path
) -> None:
    absent = {**HISTORY, "question_id": "q2_abs"}
    path = written(tmp_path / "lme.json", [HISTORY, absent])
    items = longmemeval.load(path, quick=True)
    samples = longmemeval.samples(items)
    benchmark = longmemeval.benchmark(path, samples)

    figures = measure(
        RunningService(HouseClient(house)),
        benchmark,
        embedder=FakeEmbedder(),
        tokenizer=FakeTokenizer(),
        sleep=False,
        say=lambda line: None,
    )

    assert [sample.name for sample in samples] == ["q1"]
    assert samples[0].questions[0].gold == {"0:0"}
    assert samples[0].lines["0:0"] == "2023-05-20 user: My cat is called Biscuit."
    found = longmemeval.sessions_found(figures.built, samples, items)
    assert found["recall_any@5"] == found["recall_all@5"] == found["ndcg@5"] == 1.0


def test_a_file_without_a_question_that_has_evidence_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "lme.json", [{**HISTORY, "question_id": "q2_abs"}])

    with pytest.raises(InputError, match="expected questions with evidence"):
        longmemeval.samples(longmemeval.load(path, quick=False))


def test_a_running_service_takes_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLOWWAVE_URL", "http://127.0.0.1:1")

    with homes(None, config=None, say=print) as found:
        assert isinstance(found, RunningService)
    with (
        pytest.raises(ConfigError, match="expected no folder"),
        homes(tmp_path, config=None, say=print),
    ):
        pass


def test_a_folder_that_is_named_stays_and_another_goes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SLOWWAVE_URL", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    with homes(tmp_path / "kept", config=None, say=print):
        pass
    with homes(None, config=None, say=print) as found:
        assert isinstance(found, FolderHomes)

    assert (tmp_path / "kept").is_dir()


def test_what_came_to_the_usage_meanwhile_is_told_by_purpose() -> None:
    before = {"extract": {"calls": 1, "repairs": 0, "tokens_in": 10, "tokens_out": 2}}
    later = {
        "extract": {"calls": 3, "repairs": 1, "tokens_in": 40, "tokens_out": 5},
        "decide": {"calls": 0, "repairs": 0, "tokens_in": 0, "tokens_out": 0},
    }

    came = less(later, before)

    assert came == {"extract": {"calls": 2, "repairs": 1, "tokens_in": 30, "tokens_out": 3}}
    assert summed([came, came])["extract"]["tokens_in"] == 60
