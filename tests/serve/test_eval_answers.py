"""Answers by scripted chat models over a service in this process, scored by each benchmark."""

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from scripted_chat import Act, Body, scripted_chat
from test_eval_evidence import CHAT, HISTORY, LOCOMO, PROBES, HouseClient, written

from actors.chat import Endpoint, EndpointChat
from actors.chat_limits import EndpointLimits
from actors.fakes import FakeEmbedder, FakeTokenizer, ScriptedChat
from pipeline.chat import ChatRequest
from pipeline.entailment import Entailment
from pipeline.errors import ConfigError, InputError, ModelError
from pipeline.evaluate.posed import Judged, Posed, Rubric, WordsShared
from pipeline.messages import Json
from serve.client import Client
from serve.commands.measuring import Options, _jury
from serve.evaluation import beam, locomo, longmemeval
from serve.evaluation.answers import Counting, Jury, answered, grades
from serve.evaluation.evidence import measure, report
from serve.evaluation.homes import RunningService
from serve.evaluation.samples import build

CAT = Posed(
    query="What is the cat called?",
    text="What is the cat called?",
    group="4",
    right=WordsShared(gold="Biscuit", category="4", choices={}),
)


class Following:
    """Everything follows from everything."""

    name = "following"

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        return [Entailment(entailment=1.0, neutral=0.0, contradiction=0.0) for _ in pairs]


def scored(client: Client, posed: Sequence[tuple[str, Posed]], jury: Jury) -> dict[str, Json]:
    with closing(jury):
        return answered(client, posed, jury)


def graded(posed: Posed, answer: str, judge: ScriptedChat | None) -> dict[str, float]:
    counting = None if judge is None else Counting(judge)
    return asyncio.run(grades(posed, answer, judge=counting))


def about(right: Rubric | Judged) -> Posed:
    return Posed(query="In which order?", text="In which order?", group="g", right=right)


def test_the_words_of_an_answer_score_without_a_judge_and_a_judge_adds_its_verdict() -> None:
    assert graded(CAT, "Biscuit", None) == {"f1": 1.0}
    assert graded(CAT, "Biscuit", ScriptedChat("no")) == {"f1": 1.0, "judge": 0.0}


def test_no_judge_is_asked_about_a_choice() -> None:
    right = WordsShared(gold="", category="5", choices={"a": "Not mentioned", "b": "Tango"})
    posed = Posed(query="Which?", text="Which?", group="5", right=right)

    assert graded(posed, "(a)", ScriptedChat(ModelError("asked"))) == {"f1": 1.0}


def test_the_judge_is_shown_the_question_and_half_points_count() -> None:
    judge = ScriptedChat('{"score": 1, "reason": ""}', '{"score": 0.5, "reason": ""}')

    found = graded(about(Rubric(criteria=("one", "two"), is_order=False)), "answer", judge)

    assert found == {"rubric": 0.75}
    assert all("In which order?" in asked.user for asked in judge.asked)
    assert graded(about(Rubric(criteria=("one",), is_order=False)), "answer", None) == {}


def test_lines_are_held_against_events_for_their_order() -> None:
    def judge(request: ChatRequest) -> str:
        if "<criterion>" in request.user:
            return '{"score": 1, "reason": ""}'
        one = request.user.split("<one>\n")[1].split("\n")[0]
        return "yes" if one in request.user.split("<other>")[1] else "no"

    right = Rubric(criteria=("boat", "kettle", "茶道"), is_order=True)

    whole = graded(about(right), "the boat\n\nthe kettle\n学茶道", ScriptedChat(judge))
    turned = graded(about(right), "学茶道\nthe kettle\nthe boat", ScriptedChat(judge))
    beside = graded(about(right), "the boat\na cloud\nthe kettle\n学茶道", ScriptedChat(judge))

    assert whole == {"rubric": 1.0, "tau": 1.0, "tau_f1": 1.0}
    assert turned["tau_f1"] == 0.0
    assert 0.0 < beside["tau_f1"] < 1.0


def test_the_rule_of_a_type_is_told_to_the_judge() -> None:
    judge = ScriptedChat("Yes.")
    right = Judged(gold="Biscuit", rule="Be lenient.")

    assert graded(about(right), "Biscuit", judge) == {"judge": 1.0}
    assert "Be lenient." in judge.asked[0].user
    assert graded(about(right), "Biscuit", None) == {}


def test_a_failure_counts_by_its_reason_and_has_no_score(house: Any, tmp_path: Path) -> None:
    client = filled(house, tmp_path)
    reader = ScriptedChat("Biscuit", ModelError("down"))

    found = scored(client, [("c", CAT), ("c", CAT)], Jury(reader=reader, calls=1))

    assert found["failures"] == {"ModelError: down": 1}
    assert found["scores"]["f1"]["n"] == 1  # type: ignore[index, call-overload]
    assert found["taken"]["reader"]["calls"] == 1  # type: ignore[index, call-overload]


def filled(house: Any, folder: Path) -> HouseClient:
    client = HouseClient(house)
    [sample] = locomo.load(written(folder / "locomo.json", [LOCOMO]), quick=False)
    build(client, sample, collection="c")
    return client


def test_an_answer_rests_on_the_context_and_what_follows_from_it_is_told(
    house: Any, tmp_path: Path
) -> None:
    client = filled(house, tmp_path)
    reader = ScriptedChat("Biscuit. It is a cat.")

    found = scored(client, [("c", CAT)], Jury(reader=reader, entailment=Following()))

    assert "My cat is called Biscuit." in reader.asked[0].user
    assert found["consistency"] == {
        "sentences": 2,
        "supported": 2,
        "contradicted": 0,
        "share": 1.0,
    }


def test_a_real_endpoint_reads_and_judges_in_one_run(house: Any, tmp_path: Path) -> None:
    def says(body: Body) -> str:
        return "yes" if "<gold>" in json.dumps(body) else "Biscuit"

    path = written(tmp_path / "locomo.json", [LOCOMO])
    samples = locomo.load(path, quick=False)
    benchmark = locomo.benchmark(path, samples)
    place = RunningService(HouseClient(house))
    posed = [(place.collection("locomo", name), each) for name, each in locomo.posed(path, samples)]
    with scripted_chat(Act(says=says)) as script:
        chat = EndpointChat(
            Endpoint(url=script.url, model="m"),
            limits=EndpointLimits(requests_per_minute=None, tokens_per_minute=None),
        )
        jury = Jury(reader=chat, judge=chat)
        figures = measure(
            place,
            benchmark,
            embedder=FakeEmbedder(),
            tokenizer=FakeTokenizer(),
            sleep=True,
            say=lambda line: None,
            answer=lambda client: answered(client, posed, jury),
        )
        jury.close()

    document = json.loads(report(benchmark, figures, config={"jury": jury.names}).to_json())
    assert set(document["answers"]) == {"built", "slept"}
    scores = document["answers"]["built"]["scores"]
    assert scores["judge"]["groups"] == {"1": {"n": 1, "score": 1.0}, "4": {"n": 1, "score": 1.0}}
    assert set(scores["f1"]["groups"]) == {"1", "4", "5"}
    assert document["config"]["jury"]["reader"] == "m"


def test_abstention_is_told_apart_and_its_history_is_built(house: Any, tmp_path: Path) -> None:
    absent = {**HISTORY, "question_id": "q2_abs"}
    items = longmemeval.load(written(tmp_path / "lme.json", [HISTORY, absent]), quick=False)
    samples = longmemeval.samples(items, with_abstention=True)
    client = HouseClient(house)
    for sample in samples:
        build(client, sample, collection=sample.name)
    reader = ScriptedChat("Biscuit")

    def judge(request: ChatRequest) -> str:
        return "no" if "cannot be answered" in request.user else "yes"

    found = scored(client, longmemeval.posed(items), Jury(reader=reader, judge=ScriptedChat(judge)))

    assert [len(sample.questions) for sample in samples] == [1, 0]
    assert "<now>2023-05-30T23:40:00+00:00</now>" in reader.asked[0].user
    scores = found["scores"]["judge"]  # type: ignore[index, call-overload]
    assert (scores["overall"], scores["abstention"]) == (0.5, 0.0)


def test_every_ability_of_a_chat_is_posed_that_has_a_rubric(tmp_path: Path) -> None:
    probes = {
        "abstention": [{**PROBES["abstention"][0], "rubric": ["says so"]}],
        **{name: rows for name, rows in PROBES.items() if name != "abstention"},
    }
    written(tmp_path / "1" / "chat.json", CHAT)
    written(tmp_path / "1" / "probing_questions.json", probes)

    [(name, posed)] = beam.posed(tmp_path, beam.load(tmp_path, quick=False))

    assert (name, posed.group) == ("1", "abstention")


def options(**given: Any) -> Options:
    nothing = dict.fromkeys(("config", "home", "output", "reader", "judge", "nli"))
    return Options(sleep=False, as_json=True, **{**nothing, **given})


def test_a_judge_without_answers_is_refused_and_so_are_settings_without_a_chat_model(
    tmp_path: Path,
) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("applications: [{name: slowwave, args: {}}]", encoding="utf-8")

    for name in ("judge", "nli"):
        with pytest.raises(InputError, match="expected --reader") as refused:
            options(**{name: config})
        assert refused.value.field == name
    with pytest.raises(ConfigError, match="expected settings with a section chat"):
        _jury(options(reader=config))
    assert _jury(options()) is None


def test_reader_and_judge_come_from_settings_of_their_own(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(
        "applications: [{name: slowwave, args: {chat: {model: fake}}}]", encoding="utf-8"
    )

    jury = _jury(options(reader=config, judge=config))

    assert jury is not None
    assert jury.judge is not None
    assert (jury.names["reader"], jury.names["entailment"]) == ("fake", None)
