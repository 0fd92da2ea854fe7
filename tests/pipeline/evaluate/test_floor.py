import numpy as np

from pipeline.evaluate.floor import Bm25, floor_ranking, fused, words


def test_english_words_are_lowercase_and_chinese_ones_come_from_a_dictionary() -> None:
    assert words("Mara's KETTLE, 2 litres") == ["mara's", "kettle", "2", "litres"]
    assert "喜欢" in words("我喜欢咖啡")


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    bm25 = Bm25([["blue", "kettle"], ["blue", "door"], ["blue", "harbour"]])

    scores = bm25.scores(["blue", "kettle"])

    assert scores[0] > scores[1] > 0
    assert bm25.scores(["violin"]).tolist() == [0.0, 0.0, 0.0]


def test_scores_follow_the_published_formula() -> None:
    bm25 = Bm25([["tea"], ["rye", "rye", "oat"]])

    idf = np.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    length_norm = 1.5 * (1 - 0.75 + 0.75 * 3 / 2)

    assert np.isclose(bm25.scores(["rye"])[1], idf * 2 * 2.5 / (2 + length_norm))


def test_an_empty_collection_scores_nothing() -> None:
    assert Bm25([]).scores(["tea"]).tolist() == []


def test_fusion_prefers_what_both_lists_know() -> None:
    assert fused([[3, 1, 2], [1, 2, 0]]) == [1, 2, 3, 0]


def test_the_floor_ranks_by_words_and_vectors_together() -> None:
    bm25 = Bm25([words("the harbour"), words("a bakery"), words("a blue kettle")])
    vectors = np.eye(3, dtype=np.float32)

    order = floor_ranking(bm25, vectors, query="which kettle?", query_vector=vectors[2])

    assert order[0] == 2
    assert sorted(order) == [0, 1, 2]
