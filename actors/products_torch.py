"""Dot products of a collection's vectors on a GPU. Implements ``ports.Products``.

The vectors lie on the device once; of each tile only the pairs that reach their bar come back. No
reduced precision: products are those of float32, so that a run finds what it finds without a GPU.
"""

import torch

from pipeline.errors import ConfigError
from pipeline.vectors import Indices, Vectors


class TorchProducts:
    """Products on one device of torch."""

    def __init__(self, vectors: Vectors, *, device: str = "cuda") -> None:
        """
        Raises:
            ConfigError: torch has no such device here.
        """
        try:
            self._vectors = torch.from_numpy(vectors).to(device)
        except (RuntimeError, AssertionError) as error:
            raise ConfigError(f"expected a device of torch, got {device}: {error}") from error

    def reaching(
        self, rows: Indices, columns: Indices, *, bars: Vectors, top_k: int
    ) -> tuple[Indices, Indices, Vectors]:
        """As Products says."""
        device = self._vectors.device
        row, column = (torch.from_numpy(each).to(device) for each in (rows, columns))
        scores = self._vectors[row] @ self._vectors[column].T  # (rows, columns)
        scores.masked_fill_(column[None, :] >= row[:, None], -torch.inf)
        bar = torch.from_numpy(bars).to(device)
        if len(columns) > top_k:
            bar = torch.maximum(bar, scores.topk(top_k, dim=1).values[:, -1])
        hits = (scores >= bar[:, None]).nonzero()
        found = scores[hits[:, 0], hits[:, 1]]
        places = hits.cpu().numpy()
        return places[:, 0], places[:, 1], found.cpu().numpy()
