"""What the live tests need beside them."""

import sys
from pathlib import Path

import pytest

# Modules beside the tests are imported by name.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def vllm() -> None:
    """Skips where vLLM is not installed: it has an environment of its own (make test-vllm)."""
    pytest.importorskip("vllm", reason="vLLM is not installed here")
