import pytest

from pipeline.errors import MalformedReply
from pipeline.evaluate.answers import (
    answer_words,
    by_group,
    is_yes,
    kendall_tau_b,
    locomo_score,
    order_score,
    rubric_score,
    word_f1,
)


def test_words_are_compared_without_signs_articles_and_endings() -> None:
    assert answer_words("The dancing, and a Dance-floor!") == ["danc", "dancefloor"]
    assert answer_words("我在杭州学过茶道。") == answer_words("我在杭州学过茶道")
    assert word_f1("by dancing", "dance") == pytest.approx(2 / 3)
    assert word_f1("杭州", "我在杭州学茶道") > 0
    assert word_f1("", "dance") == word_f1("swims", "dance") == 0.0


def test_each_category_of_locomo_has_its_rule() -> None:
    assert locomo_score("tea, boats", "boats, tea, cats, dogs", category="1") == 0.5
    assert locomo_score("yes", "Yes; she likes boats", category="3") == 1.0
    assert locomo_score("19 January 2023", "19 January, 2023", category="2") == 1.0
    assert locomo_score("There is No information available.", "", category="5") == 1.0
    assert locomo_score("Contemporary", "", category="5") == 0.0


def test_half_a_point_stays_half_a_point() -> None:
    assert rubric_score('Sure: {"score": 0.5, "reason": "half"}') == 0.5
    assert rubric_score('{"score": 1}') == 1.0


@pytest.mark.parametrize("reply", ["", "1.0", '{"score": 0.7}', '{"score": true}', '["score"]'])
def test_a_judge_that_gives_no_score_is_refused(reply: str) -> None:
    with pytest.raises(MalformedReply):
        rubric_score(reply)


def test_a_judge_says_yes_or_no() -> None:
    assert is_yes("Yes.")
    assert not is_yes("No, yes would be wrong.")
    with pytest.raises(MalformedReply):
        is_yes("not sure, I know nothing")


def test_events_in_order_and_whole_score_one() -> None:
    assert order_score([0, 1, 2], events=3).score == pytest.approx(1.0)
    assert order_score([2, 1, 0], events=3).score == 0.0


def test_what_is_missing_or_beside_the_point_costs() -> None:
    short = order_score([0, 1], events=4)
    wide = order_score([0, None, 1, 1], events=2)

    assert (short.f1, wide.f1) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert 0.5 < short.tau <= 1.0
    assert short.score < short.tau
    assert order_score([], events=3).score == 0.0


def test_ranks_that_are_all_the_same_tell_nothing() -> None:
    assert kendall_tau_b([1, 1, 1], [1, 2, 3]) == 0.0
    assert kendall_tau_b([1, 2, 2], [1, 2, 3]) == pytest.approx(0.816496580927726)


def test_groups_count_alike_in_the_average_and_questions_in_the_overall() -> None:
    found = by_group([("a", 1.0), ("a", 0.0), ("b", 1.0)])

    assert found == {
        "n": 3,
        "groups": {"a": {"n": 2, "score": 0.5}, "b": {"n": 1, "score": 1.0}},
        "average": 0.75,
        "overall": 0.6667,
    }
    assert by_group([])["average"] == 0.0
