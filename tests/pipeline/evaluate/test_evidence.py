from pipeline.evaluate.evidence import (
    Line,
    Question,
    existing,
    mean_recall,
    messages_in_context,
    ranked_messages,
    within_budget,
)


def test_each_source_of_an_entry_takes_a_place_and_each_message_counts_once() -> None:
    ranked = [("a", "b"), ("b", "c"), ("d",)]

    assert ranked_messages(ranked, k=3) == ["a", "b", "c"]
    assert ranked_messages(ranked, k=9) == ["a", "b", "c", "d"]


def test_a_cited_message_counts_only_beside_at_most_two_others() -> None:
    lines = [Line(text="narrow", sources=("a", "b", "c")), Line(text="wide", sources=tuple("defg"))]

    assert messages_in_context(lines, ("a", "d"), texts={}) == {"a"}


def test_a_message_counts_when_its_own_text_stands_in_the_context() -> None:
    lines = [Line(text="2024-05-01 Mara: the  kettle\nis blue", sources=())]
    texts = {"a": "The kettle", "b": "the kettle is blue", "c": " "}

    assert messages_in_context(lines, ("a", "b", "c"), texts=texts) == {"b"}


def test_the_budget_is_filled_in_rank_order_with_what_still_fits() -> None:
    lines = [Line(text=name, sources=(name,)) for name in "abc"]

    kept = within_budget(lines, counts=[4, 9, 5], budget_tokens=10)

    assert [line.text for line in kept] == ["a", "c"]


def test_recall_is_the_mean_found_fraction_of_the_gold_that_exists() -> None:
    questions = [
        Question(text="who?", gold=frozenset({"a", "b"})),
        Question(text="when?", gold=frozenset({"c", "gone"})),
        Question(text="why?", gold=frozenset({"gone"})),
    ]

    kept = existing(questions, {"a", "b", "c"})

    assert [q.gold for q in kept] == [{"a", "b"}, {"c"}]
    assert mean_recall([{"a"}, {"c", "a"}], kept) == 0.75
    assert mean_recall([], []) == 0.0
