"""What extraction by a chat model costs: calls and tokens for a thousand messages of a LoCoMo file.

The chat model says every sentence it is shown again, which no real one does: the figures bound what
the service itself spends, whatever a model leaves out. Every other model is real.
Run: ``python -m benchmarks.extraction FILE [--first 2] [--json]``.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from actors.fake_chat import FakeSentenceChat
from pipeline.evaluate.report import Claim, Report
from serve.evaluation import extraction
from serve.evaluation.screen import show
from serve.loading import load_tokenizer
from serve.local.home import models_dir
from serve.local.shipped import shipped
from serve.settings import AppSettings, load

BARS = {
    "model calls per 1,000 messages": 45.0,
    "tokens per 1,000 messages": 100_000.0,
}


def main() -> None:
    """Measures, prints a table, and with ``--json`` ends with one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="a LoCoMo file")
    parser.add_argument("--first", type=int, default=2, help="so many of its conversations")
    parser.add_argument("--json", action="store_true", help="end with one JSON line")
    args = parser.parse_args()
    settings = _settings()
    tokenizer = load_tokenizer(settings.models.tokenizer, models_dir=settings.models_dir)
    report = extraction.run(
        args.file,
        settings=settings,
        chat=FakeSentenceChat(tokenizer.count),
        say=lambda line: None,
        first=args.first,
    )
    show(_with_bars(report), as_json=args.json)


def _settings() -> AppSettings:
    """The local profile with the chat extractor: rate 0.6, threshold 512."""
    settings = load(shipped("configs/local.yaml"), home=Path(), models_dir=models_dir())
    models = settings.models.model_copy(update={"extractor": "chat"})
    return settings.model_copy(update={"models": models})


def _with_bars(report: Report) -> Report:
    return replace(report, claims=tuple(_with_bar(claim) for claim in report.claims))


def _with_bar(claim: Claim) -> Claim:
    bar = BARS.get(claim.claim)
    return claim if bar is None else replace(claim, bar=bar, holds=claim.value <= bar)


if __name__ == "__main__":
    main()
