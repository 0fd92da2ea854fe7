import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from actors.rules import RuleDecider
from actors.rules.merge import join
from pipeline.entries import (
    Attributes,
    Candidate,
    Case,
    Delete,
    Entry,
    Ignore,
    Kind,
    OrderKey,
    Status,
    Update,
    Writer,
)
from pipeline.evaluate.decisions import DecisionReport, judge, report
from pipeline.ids import EntryId, MessageId
from pipeline.sleep.kept import lost

START = datetime(2024, 1, 10, 9, tzinfo=UTC)
HERE = Path(__file__).parent


def entry(
    text: str, place: int, *, speaker: str = "user", key: tuple[str, str] | None = None
) -> Entry:
    said_at = START + timedelta(days=30 * place)
    return Entry(
        id=EntryId(f"e{place}"),
        version=1,
        text=text,
        kind=Kind.FACT,
        status=Status.ACTIVE,
        speaker=speaker,
        said_at=said_at,
        zone="UTC",
        language="zh" if text[0] > "一" else "en",
        order=OrderKey(said_at=said_at, sequence=place + 1, ordinal=0),
        valid_from=said_at,
        sources=(MessageId(f"m{place}"),),
        written_by=Writer.INGEST,
        written_at=said_at,
        attributes=Attributes(subject="user", key=key[0], value=key[1]) if key else None,
    )


def case(target: str, *newer: str, speaker: str = "user") -> Case:
    candidates = [
        Candidate(entry=entry(text, place, speaker=speaker), similarity=0.8)
        for place, text in enumerate(newer, 1)
    ]
    return Case(target=entry(target, 0, speaker=speaker), candidates=tuple(candidates))


@pytest.fixture(scope="module")
def decider() -> RuleDecider:
    return RuleDecider()


def measured(decider: RuleDecider, lines: Iterator[str], split: str | None) -> DecisionReport:
    labelled = [json.loads(line) for line in lines]
    labelled = [each for each in labelled if split is None or each["split"] == split]
    cases = [
        case(each["target"]["text"], *(c["text"] for c in each["candidates"])) for each in labelled
    ]
    return report(
        [
            judge(
                decision,
                language=each["language"],
                expected=each["action"],
                must_keep=each["must_keep"],
            )
            for each, decision in zip(labelled, decider.decide(cases), strict=True)
        ]
    )


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("split", ["development", "held_out", "fresh", "further"])
def test_written_cases_are_decided_without_a_destructive_error(
    decider: RuleDecider, language: str, split: str
) -> None:
    with (HERE / f"{language}.jsonl").open(encoding="utf-8") as lines:
        figures = measured(decider, lines, split)

    assert figures.destructive_errors == 0
    assert figures.accuracy >= max(0.8, figures.always_ignore + 0.25)


@pytest.mark.skipif("SLOWWAVE_TEST_DATA" not in os.environ, reason="SLOWWAVE_TEST_DATA is not set")
def test_shared_cases_are_decided_far_better_than_by_always_ignoring(decider: RuleDecider) -> None:
    path = Path(os.environ["SLOWWAVE_TEST_DATA"]) / "cases" / "decisions.jsonl"
    with path.open(encoding="utf-8") as lines:
        figures = measured(decider, lines, None)

    assert figures.destructive_errors == 0
    for language, share in figures.by_language.items():
        assert share.accuracy >= 0.8
        assert share.accuracy >= figures.always_ignore_by_language[language] + 0.25


def test_the_name_says_that_it_is_a_baseline_with_its_version(decider: RuleDecider) -> None:
    assert decider.name.startswith("rules-baseline/")


def test_the_newest_conflict_wins_over_a_refinement(decider: RuleDecider) -> None:
    lives = "Ines lives in Ghent."

    decision = decider.decide(
        [case(lives, "Ines lives in Ghent near the port.", "Ines moved to Bruges in 2024.")]
    )[0]

    assert isinstance(decision, Delete)
    assert decision.superseded_by == "e2"


def test_an_update_unites_all_refinements_in_one_sentence(decider: RuleDecider) -> None:
    decision = decider.decide(
        [
            case(
                "The user likes tea.",
                "The user drinks oolong at work.",
                "The user does not drink chai.",
            )
        ]
    )[0]

    assert isinstance(decision, Update)
    assert decision.text == "The user likes tea, drinks oolong at work and does not drink chai."
    assert decision.used == ("e1", "e2")


def test_a_chinese_update_says_the_subject_once(decider: RuleDecider) -> None:
    decision = decider.decide([case("用户喜欢喝咖啡。", "用户早上喝摩卡。")])[0]

    assert isinstance(decision, Update)
    assert decision.text == "用户喜欢喝咖啡，早上喝摩卡。"


def test_an_update_loses_no_name_number_or_negation(decider: RuleDecider) -> None:
    older = "Ola has a boat."
    newer = "Ola's boat Petrel is 9 metres long and has no engine."

    decision = decider.decide([case(older, newer)])[0]

    assert isinstance(decision, Update)
    assert lost(decision.text, [older, newer]) == []


def test_a_repeated_fact_becomes_an_update_so_that_it_is_kept_once(decider: RuleDecider) -> None:
    decision = decider.decide(
        [case("The user has a son called Per.", "The user's son is called Per.")]
    )

    assert isinstance(decision[0], Update)
    assert decision[0].text == "The user's son is called Per."


def test_another_person_changes_nothing(decider: RuleDecider) -> None:
    decisions = decider.decide(
        [
            case("The user lives in Graz.", "The user's cousin moved to Linz."),
            case("用户住在大连。", "用户的表姐搬到了沈阳。"),
        ]
    )

    assert all(isinstance(each, Ignore) for each in decisions)


def test_two_speakers_who_say_i_are_two_people(decider: RuleDecider) -> None:
    older = entry("The user lives in Graz.", 0, speaker="Anna")
    newer = entry("The user moved to Linz.", 1, speaker="Berta")

    decision = decider.decide(
        [Case(target=older, candidates=(Candidate(entry=newer, similarity=0.9),))]
    )[0]

    assert isinstance(decision, Ignore)


def test_a_narrower_denial_does_not_end_a_habit(decider: RuleDecider) -> None:
    decision = decider.decide(
        [case("The user drinks coffee.", "The user no longer drinks coffee in the evening.")]
    )[0]

    assert not isinstance(decision, Delete)


def test_events_that_both_happened_both_stay(decider: RuleDecider) -> None:
    decisions = decider.decide(
        [
            case("The user visited Ghent in 2019.", "The user visited Ghent again in 2023."),
            case("用户2019年去过西安。", "用户2023年去了桂林。"),
        ]
    )

    assert all(isinstance(each, Ignore) for each in decisions)


def test_a_question_changes_nothing(decider: RuleDecider) -> None:
    decision = decider.decide(
        [case("The user lives in Graz.", "The user asked how to move to Linz.")]
    )[0]

    assert isinstance(decision, Ignore)


def test_a_reason_is_in_the_language_of_the_entry_and_shows_the_newer_statement(
    decider: RuleDecider,
) -> None:
    english, chinese = decider.decide(
        [
            case("The user lives in Graz.", "The user moved to Linz in May."),
            case("用户住在大连。", "用户上个月搬到了沈阳。"),
        ]
    )

    assert "residence" in english.reason
    assert "The user moved to Linz in May." in english.reason
    assert "住处" in chinese.reason


def test_a_changed_attribute_of_the_same_key_is_a_conflict(decider: RuleDecider) -> None:
    older = entry("The crate is kept in the cellar.", 0, key=("storage", "cellar"))
    newer = entry("Everything was moved up to the attic.", 1, key=("storage", "attic"))

    decision = decider.decide(
        [Case(target=older, candidates=(Candidate(entry=newer, similarity=0.9),))]
    )[0]

    assert isinstance(decision, Delete)


def test_an_update_that_would_be_too_long_uses_fewer_candidates() -> None:
    newer = ("The user drinks oolong at work.", "The user drinks matcha at home.")

    decision = RuleDecider(max_chars=60).decide([case("The user likes tea.", *newer)])[0]

    assert isinstance(decision, Update)
    assert decision.used == ("e2",)


def test_no_cases_give_no_decisions(decider: RuleDecider) -> None:
    assert decider.decide([]) == []


def test_what_is_bought_for_one_person_is_not_done_for_another(decider: RuleDecider) -> None:
    decisions = decider.decide(
        [
            case("Nora needs to buy a present for her mum.", "Nora bought a present for Tim."),
            case("方敏要给妈妈买礼物。", "方敏给同事买了礼物。"),
        ]
    )

    assert all(isinstance(each, Ignore) for each in decisions)


def test_an_update_takes_the_newer_text_alone_where_it_tells_all(decider: RuleDecider) -> None:
    newer = ("Lena's wedding is on 4 May 2026 in a mill.", "方敏的仓鼠叫花生，喜欢啃苹果。")

    decisions = decider.decide(
        [case("Lena is getting married in spring.", newer[0]), case("方敏养了一只仓鼠。", newer[1])]
    )

    assert [each.text for each in decisions if isinstance(each, Update)] == list(newer)


def test_what_was_kept_word_by_word_is_united_with_nothing(decider: RuleDecider) -> None:
    decisions = decider.decide(
        [
            case("user: Go on, climb!", "user: Go on and climb that wall!"),
            case("user：快去爬墙！", "user：快去爬那面墙！"),
            case("[image: a climbing wall]", "[image: a climbing wall with two children]"),
        ]
    )

    assert all(isinstance(each, Ignore) for each in decisions)


def test_an_update_stays_one_statement(decider: RuleDecider) -> None:
    newer = (
        "Ida climbs every Monday in the hall.",
        "Ida climbs with Noor, who is a nurse.",
        "Ida climbs because it calms her.",
        "Ida climbs and wears red shoes.",
    )

    decision = decider.decide([case("Ida climbs.", *newer)])[0]

    assert isinstance(decision, Update)
    assert len(decision.used) <= 3


def test_united_sentences_keep_their_own_marks() -> None:
    assert join(["Ida won!", "It was the first time"]) == "Ida won! It was the first time."
    assert join(["她赢了！", "这是第一次"]) == "她赢了！这是第一次。"
