"""The models of the settings as an evaluation runs them: in its own process, else as deployed."""

from pipeline.ports import AttentionModel, ChunkedCompressor
from serve.loading import load_attention, load_compressor
from serve.segmenting import needs_attention
from serve.settings import AppSettings


def compressor_of(settings: AppSettings) -> ChunkedCompressor | None:
    """The compressor, whose rate counts the tokens of the settings' tokenizer; None without one."""
    models = settings.models
    if models.compressor is None:
        return None
    return load_compressor(
        models.compressor,
        models_dir=settings.models_dir,
        threads=models.threads,
        tokenizer=models.tokenizer,
    )


def attention_of(settings: AppSettings) -> AttentionModel | None:
    """What attention is taken from; None where the rule looks at none."""
    if not needs_attention(settings.segmentation.rule):
        return None
    return load_attention(
        settings.attention, models_dir=settings.models_dir, threads=settings.models.threads
    )
