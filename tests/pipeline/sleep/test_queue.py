"""The queue and its inversion against a reference that scans every queue for every entry."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pipeline.errors import InputError
from pipeline.sleep.neighbours import neighbours
from pipeline.sleep.queue import Links, Queued, links, queue, retried

rows = st.lists(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5]), min_size=3, max_size=3), max_size=25
)


def _queue_of(
    vectors: NDArray[np.float32], *, queue_length: int = 10, min_similarity: float = -1.0
) -> list[Queued]:
    indices, scores = neighbours(vectors, top_k=20)
    kept = links(indices, scores, start=0, queue_length=queue_length, min_similarity=min_similarity)
    return queue([kept])


def _by_scanning(
    vectors: NDArray[np.float32], queue_length: int, min_similarity: float
) -> list[Queued]:
    queues = []
    for row in range(len(vectors)):
        scored = [(float(vectors[row] @ vectors[older]), older) for older in range(row)]
        queues.append(sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:queue_length])
    result = []
    for target in reversed(range(len(vectors))):
        found = [
            (score, newer)
            for newer, kept in enumerate(queues)
            for score, older in kept
            if older == target and score >= min_similarity
        ]
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        if found:
            scores, candidates = zip(*found, strict=True)
            result.append(Queued(target=target, candidates=candidates, scores=scores))
    return result


@settings(deadline=None)
@given(rows, st.integers(1, 4), st.sampled_from([-1.0, 0.0, 0.25, 0.75]))
def test_inversion_finds_what_scanning_every_queue_finds(
    marked: list[list[float]], queue_length: int, min_similarity: float
) -> None:
    vectors = np.array(marked, dtype=np.float32).reshape(len(marked), 3)

    found = _queue_of(vectors, queue_length=queue_length, min_similarity=min_similarity)

    assert found == _by_scanning(vectors, queue_length, min_similarity)


@settings(deadline=None)
@given(rows)
def test_invariant_4_two_entries_are_never_both_the_others_candidate(
    marked: list[list[float]],
) -> None:
    vectors = np.array(marked, dtype=np.float32).reshape(len(marked), 3)

    pairs = {(one.target, newer) for one in _queue_of(vectors) for newer in one.candidates}

    assert not any((newer, target) in pairs for target, newer in pairs)


def test_newest_target_comes_first_with_its_most_similar_candidate_first() -> None:
    vectors = np.array([[1, 0], [1, 0], [0.6, 0.8], [0.8, 0.6]], dtype=np.float32)

    found = _queue_of(vectors, min_similarity=0.7)

    assert [(one.target, one.candidates) for one in found] == [(2, (3,)), (1, (3,)), (0, (1, 3))]


def test_a_pair_to_retry_counts_whatever_its_cosine_and_only_once() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    indices, scores = neighbours(vectors, top_k=2)
    kept = links(indices, scores, start=0, queue_length=2, min_similarity=0.5)

    found = queue([kept, retried([(0, 1), (0, 2)], vectors)])

    assert found == [Queued(target=0, candidates=(1, 2), scores=(1.0, 0.0))]


def test_a_pair_whose_target_has_become_the_newer_one_is_not_retried() -> None:
    vectors = np.array([[1, 0], [1, 0]], dtype=np.float32)

    assert queue([retried([(1, 0)], vectors)]) == []


def test_rows_of_a_later_part_keep_their_place() -> None:
    vectors = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    indices, scores = neighbours(vectors, top_k=1, start=2)

    kept = links(indices, scores, start=2, queue_length=1, min_similarity=0.5)

    assert (kept.older.tolist(), kept.newer.tolist()) == ([0], [2])


def test_scores_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match="scores"):
        links(
            np.zeros((2, 1), dtype=np.int64),
            np.zeros((2, 2), dtype=np.float32),
            start=0,
            queue_length=1,
            min_similarity=0.0,
        )


def test_inversion_grows_with_the_number_of_links() -> None:
    seconds = {}
    for count in (20_000, 200_000):
        rng = np.random.default_rng(count)
        newer = np.repeat(np.arange(1, count // 10 + 1), 10)
        part = Links(
            older=rng.integers(0, newer),
            newer=newer,
            scores=rng.random(count).astype(np.float32),
        )
        seconds[count] = min(_seconds(part) for _ in range(3))

    assert seconds[200_000] < 30 * seconds[20_000]  # a hundredfold if it were quadratic


def _seconds(part: Links) -> float:
    begin = time.process_time()
    queue([part])
    return time.process_time() - begin
