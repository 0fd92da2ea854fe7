"""The floor of evidence recall: BM25 and the embedder over raw messages, fused by rank.

Source: Okapi BM25 with k1 1.5 and b 0.75 (Robertson and Zaragoza, 2009) and reciprocal rank
fusion with k 60 (Cormack et al., 2009). Knows nothing of entries: it is what a plain search over
the messages reaches, and therefore what a memory must not fall below.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.text.dictionary import chinese_words

K1 = 1.5
B = 0.75
RRF_K = 60

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CJK = re.compile(r"[㐀-鿿豈-﫿]")

Scores = NDArray[np.float64]


def words(text: str) -> list[str]:
    """Lowercase words; runs that hold Chinese characters are cut by jieba."""
    found: list[str] = []
    for run in _WORD.findall(text.lower()):
        found.extend(chinese_words().cut(run) if _CJK.search(run) else [run])
    return found


class Bm25:
    """BM25 scores of queries over a fixed list of documents."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._size = len(documents)
        lengths = np.array([len(d) for d in documents], dtype=np.float64)
        mean = float(lengths.mean()) if self._size and lengths.any() else 1.0
        self._norm = K1 * (1 - B + B * lengths / mean)  # (n,)
        self._postings = _postings(documents)

    def scores(self, query: Sequence[str]) -> Scores:
        """``(n,)``: the BM25 score of every document, 0 where no query word occurs."""
        total = np.zeros(self._size)
        for word, repeats in Counter(query).items():
            if word in self._postings:
                rows, counts = self._postings[word]
                idf = np.log(1 + (self._size - len(rows) + 0.5) / (len(rows) + 0.5))
                total[rows] += repeats * idf * counts * (K1 + 1) / (counts + self._norm[rows])
        return total


def _postings(
    documents: Sequence[Sequence[str]],
) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for row, document in enumerate(documents):
        for word, count in Counter(document).items():
            found.setdefault(word, []).append((row, count))
    return {
        word: (np.array([r for r, _ in pairs]), np.array([float(c) for _, c in pairs]))
        for word, pairs in found.items()
    }


def fused(rankings: Sequence[Sequence[int]], *, k: int = RRF_K) -> list[int]:
    """Items by the sum of ``1 / (k + rank)`` over the rankings; ties go to the smaller item."""
    score: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            score[item] = score.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(score, key=lambda item: (-round(score[item], 12), item))


def floor_ranking(
    bm25: Bm25, vectors: NDArray[np.float32], *, query: str, query_vector: NDArray[np.float32]
) -> list[int]:
    """All messages, best first, by the fused ranks of BM25 and cosine.

    Args:
        bm25: over the same messages, in the same order.
        vectors: ``(n, d)``; one L2-normalised embedding per message.
        query: the question as it was asked.
        query_vector: ``(d,)``; its L2-normalised embedding.
    """
    lexical = bm25.scores(words(query))
    dense = vectors @ query_vector
    return fused([_order(lexical), _order(dense)])


def _order(scores: NDArray[np.floating]) -> list[int]:
    return [int(row) for row in np.argsort(-scores, kind="stable")]
