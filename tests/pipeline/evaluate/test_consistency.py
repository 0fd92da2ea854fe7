from collections.abc import Sequence

from pipeline.entailment import Entailment
from pipeline.evaluate.consistency import Consistency, consistency


class Containing:
    """Follows where the premise holds the hypothesis; contradicts where only the premise says
    not."""

    name = "containing"

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        return [self._judge(premise, said) for premise, said in pairs]

    def _judge(self, premise: str, said: str) -> Entailment:
        if said in premise:
            return Entailment(entailment=0.9, neutral=0.1, contradiction=0.0)
        against = 0.8 if "not" in premise else 0.0
        return Entailment(entailment=0.1, neutral=0.9 - against, contradiction=against)


def test_a_sentence_that_follows_from_one_premise_contradicts_none() -> None:
    premises = ["Ida lives in Oslo. She sails.", "It is not so."]

    found = consistency("She sails. She flies.", premises, model=Containing())

    assert found == Consistency(sentences=2, supported=1, contradicted=1)
    assert found.share == 0.5


def test_counts_of_answers_in_any_language_add_up() -> None:
    premises = ["林夏住在杭州。"]

    found = consistency("林夏住在杭州。她喜欢喝茶。", premises, model=Containing())

    total = found + consistency("", premises, model=Containing())
    assert total == Consistency(sentences=2, supported=1)
    assert Consistency().share == 0.0
