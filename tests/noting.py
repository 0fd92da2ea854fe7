"""A walk with stand-ins, whose extractor keeps what it is given."""

from actors.extractor_threads import ThreadedExtractor
from actors.fakes import FakeCompressor, FakeEmbedder, FakeExtractor, FakeTokenizer
from pipeline.entries import Statement
from pipeline.extraction import ExtractionOptions
from pipeline.messages import Batch
from serve.inline import InlineModels
from serve.walk import Walk, WalkSettings


class Noting(FakeExtractor):
    """Keeps the batches that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[Batch] = []

    def extract(self, batch: Batch, *, options: ExtractionOptions) -> list[Statement]:
        self.batches.append(batch)
        return super().extract(batch, options=options)


def walk_with(extractor: FakeExtractor) -> Walk:
    models = InlineModels(embedder=FakeEmbedder(), compressor=FakeCompressor(), max_similarity=0.5)
    service = WalkSettings(
        compress=True, rate=0.8, window_tokens=20, shortterm_tokens=20, model="fake"
    )
    threaded = ThreadedExtractor(extractor, threads=2)
    return Walk(models=models, extractor=threaded, tokenizer=FakeTokenizer(), settings=service)
