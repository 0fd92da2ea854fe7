"""Sentence embeddings: unit length, whole texts, prefixes, on a tiny random encoder."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from actors.embedder import SentenceEmbedder
from pipeline.errors import ConfigError


@pytest.fixture(scope="module")
def sentence_folder(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> str:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    folder = tmp_path_factory.mktemp("sentences")
    prompts = {"query": "ask: ", "document": "say: "}
    model = SentenceTransformer(
        modules=[Transformer(tiny_encoder), Pooling(32, "mean")], prompts=prompts, device="cpu"
    )
    model.save(str(folder), create_model_card=False)
    return str(folder)


@pytest.fixture(scope="module")
def embedder(sentence_folder: str) -> SentenceEmbedder:
    return SentenceEmbedder(sentence_folder)


def test_vectors_have_length_one_and_the_width_it_says(embedder: SentenceEmbedder) -> None:
    vectors = embedder.embed(["one", "a longer text", "猫", ""], purpose="passage")

    assert vectors.shape == (4, embedder.dim) == (4, 32)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_order_and_company_do_not_matter(embedder: SentenceEmbedder) -> None:
    texts = ["a", "a text of some length", "mid length", "b" * 90]

    together = embedder.embed(texts, purpose="passage")

    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(embedder.embed([text], purpose="passage")[0], vector, atol=1e-5)


def test_no_texts_are_no_vectors(embedder: SentenceEmbedder) -> None:
    assert embedder.embed([], purpose="query").shape == (0, 32)


def test_the_end_of_a_long_text_still_counts(embedder: SentenceEmbedder) -> None:
    long = "all work and no play " * 30

    ends_here, ends_there = embedder.embed([long + "A" * 90, long + "z" * 90], purpose="passage")

    assert not np.allclose(ends_here, ends_there, atol=1e-3)


def test_queries_and_passages_get_the_models_own_prefixes(sentence_folder: str) -> None:
    own = SentenceEmbedder(sentence_folder)
    bare = SentenceEmbedder(sentence_folder, query_prefix="", passage_prefix="")

    np.testing.assert_allclose(
        own.embed(["cats"], purpose="query"),
        bare.embed(["ask: cats"], purpose="passage"),
        atol=1e-5,
    )
    assert not np.allclose(
        own.embed(["cats"], purpose="query"), own.embed(["cats"], purpose="passage")
    )


def test_topic_vectors_hold_nothing_that_all_texts_share(embedder: SentenceEmbedder) -> None:
    vectors = embedder.embed(["a cat", "我喜欢火车"], purpose="topic")

    np.testing.assert_allclose(vectors @ embedder.common().T, 0.0, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_a_model_is_named_by_its_path_unless_told(sentence_folder: str) -> None:
    assert SentenceEmbedder(sentence_folder).model == sentence_folder
    assert SentenceEmbedder(sentence_folder, name="tiny").model == "tiny"


def test_a_folder_without_a_model_is_refused_by_name(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    with pytest.raises(ConfigError, match=r"no embedding model at .*empty"):
        SentenceEmbedder(str(empty))


@pytest.mark.models
@pytest.mark.parametrize(
    ("model", "question", "answer", "other"),
    [
        ("all-MiniLM-L6-v2", "Where do I live?", "My flat is in Porto.", "The cake was sweet."),
        ("multilingual-e5-small", "我住在哪里？", "我在苏州买了房子。", "蛋糕太甜了。"),
        ("multilingual-e5-small", "Where do I live?", "我在苏州买了房子。", "蛋糕太甜了。"),
    ],
)
def test_packaged_models_find_the_answer(
    model_folder: Callable[[str], str], model: str, question: str, answer: str, other: str
) -> None:
    embedder = SentenceEmbedder(model_folder(model))

    [query] = embedder.embed([question], purpose="query")
    found, not_found = embedder.embed([answer, other], purpose="passage")

    assert embedder.model == model
    assert query @ found > query @ not_found
