"""A label names what a segment talks about, in its own words and language."""

import pytest
from chat_batches import said

from pipeline.awake.topics import topic_label, topic_of
from pipeline.messages import Role


def test_the_terms_said_most_come_in_the_order_they_were_said() -> None:
    label = topic_label(
        ["I planted tomatoes on the balcony.", "Do tomatoes need a big balcony?", "Tomatoes do."],
        terms=2,
    )

    assert label == "tomatoes, balcony"


def test_a_pair_that_comes_twice_is_one_term() -> None:
    label = topic_label(["The vector index is slow.", "Which vector index?"])

    assert "vector index" in label.split(", ")


def test_a_chinese_segment_has_a_chinese_label() -> None:
    label = topic_label(["我在阳台上种了番茄。", "番茄需要很多阳光吗？", "番茄喜欢阳光。"])

    assert {"番茄", "阳光"} <= set(label.split("、"))


@pytest.mark.parametrize("texts", [[], ["ok"], ["好的"], ["https://a.org/b"], ["12 34"]])
def test_texts_that_tell_nothing_have_no_label(texts: list[str]) -> None:
    assert topic_label(texts) == ""


def test_no_more_terms_than_asked_for() -> None:
    assert topic_label(["pears plums apples grapes melons figs"], terms=2).count(",") == 1


def test_a_word_that_opens_a_quoted_sentence_is_no_name() -> None:
    label = topic_label(['"Kettles boil," said Ann quietly.'], terms=1)

    assert label == "Ann"


def test_a_chinese_label_keeps_foreign_names() -> None:
    label = topic_label(["我用 Kubernetes 部署番茄服务。"])

    assert "Kubernetes" in label.split("、")


def test_a_label_is_made_of_what_the_given_roles_say() -> None:
    [segment] = said(("system", "Zebras, zebras! 斑马"), "My kettle broke.").segments

    assert topic_of(segment.messages, roles=(Role.USER,)) == "kettle, broke"
    assert topic_of(segment.messages, roles=()) == ""
