"""What the shipped thresholds and rules give on labelled dialogues of the test data."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from actors.calibration import thresholds
from actors.embedder import SentenceEmbedder
from pipeline.awake.cues import leanings
from pipeline.awake.segment import Signals, boundaries

DATA = os.environ.get("SLOWWAVE_TEST_DATA")
NEEDS_DATA = pytest.mark.skipif(not DATA, reason="SLOWWAVE_TEST_DATA names no folder")
FIRST = 12


def dialogues() -> list[tuple[list[str], set[int]]]:
    """Turns of two utterances, and the turns before which a new topic starts."""
    file = Path(str(DATA)) / "data" / "dialseg711_first200.json"
    found = []
    for dialogue in json.loads(file.read_text())[:FIRST]:
        said = dialogue["utterances"]
        turns = ["\n".join(said[i : i + 2]) for i in range(0, len(said), 2)]
        cuts = np.cumsum(dialogue["segments"])[:-1]
        found.append((turns, {int(cut + 1) // 2 for cut in cuts} - {0, len(turns)}))
    return found


@NEEDS_DATA
@pytest.mark.models
@pytest.mark.slow
@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2", "multilingual-e5-small"])
def test_boundaries_agree_with_labelled_topics(
    model_folder: Callable[[str], str], model: str
) -> None:
    embedder = SentenceEmbedder(model_folder(model))
    right = cut = labelled = 0

    for turns, topics in dialogues():
        vectors = embedder.embed(turns, purpose="topic")
        signals = Signals(vectors=vectors, leanings=leanings(turns))
        found = set(boundaries(signals, min_shift=thresholds(model).min_shift))
        right, cut, labelled = right + len(found & topics), cut + len(found), labelled + len(topics)

    assert 2 * right / (cut + labelled) > 0.5


@pytest.mark.models
@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2", "multilingual-e5-small"])
def test_statements_about_one_fact_reach_the_threshold_of_sleep(
    model_folder: Callable[[str], str], model: str
) -> None:
    embedder = SentenceEmbedder(model_folder(model))
    older = ["Maya lives in Porto.", "Ravi's dentist appointment is on 3 May 2024."]
    newer = ["Maya moved to Valencia in June 2024.", "Ravi's dentist appointment moved to 10 May."]

    cosines = np.sum(
        embedder.embed(older, purpose="passage") * embedder.embed(newer, purpose="passage"), axis=1
    )

    assert (cosines >= thresholds(model).min_similarity).all()
