"""Which profile is tried: vLLM on this CPU, or the production shape on the GPUs of one machine."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from serve.local.shipped import shipped

PROFILE = "SLOWWAVE_VLLM_PROFILE"
"""``cpu`` (as it is shipped) or ``gpu`` (its models and fractions, with embedded stores)."""

MODEL = "SLOWWAVE_GPU_MODEL"
"""A folder or hub name in the place of the GPU profile's model."""


def profile_of(folder: Path) -> Path:
    """The config file to start."""
    if os.environ.get(PROFILE, "cpu") == "cpu":
        return shipped("configs/vllm-cpu.yaml")
    document = yaml.safe_load(shipped("configs/gpu-cluster.yaml").read_text(encoding="utf-8"))
    args: dict[str, Any] = document["applications"][0]["args"]
    args["access"] = {"keys_required": False}
    args["stores"] = {}
    for sizes in args["deployments"].values():
        sizes["num_replicas"] = 1
    vllm = args["chat"]["vllm"]
    vllm["model"] = os.environ.get(MODEL, vllm["model"])
    if _gpus() == 1:
        # All on one GPU: the engine leaves the others the room that their fractions stand for.
        args["deployments"]["Chat"]["num_gpus"] = 0.4
        vllm["engine"]["gpu_memory_utilization"] = 0.6
    path = folder / "gpu.yaml"
    path.write_text(
        yaml.safe_dump({"applications": [{**document["applications"][0], "args": args}]})
    )
    return path


def _gpus() -> int:
    import torch

    return torch.cuda.device_count()


def ray_environment(address: str, token_file: str) -> Mapping[str, str]:
    """What a driver needs to join the service's Ray."""
    return {
        **os.environ,
        "RAY_ADDRESS": address,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": token_file,
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    }
