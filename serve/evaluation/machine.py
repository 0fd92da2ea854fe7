"""What ran an evaluation."""

import platform

import psutil

from pipeline.messages import Json


def machine() -> dict[str, Json]:
    """Processor, cores, memory in GiB and Python: what a figure depends on."""
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": psutil.cpu_count(logical=True),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
    }
