"""A deployer whose ingress and model take little at once, for tests of overload."""

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import ray
from fastapi import FastAPI
from ray import serve as ray_serve
from ray.serve.config import BackpressureConfig, HTTPOptions

from serve.handles import ServeModels
from serve.ingress import errors

HOLD_S = 2.0

api = FastAPI()
errors.install(api)
small: dict[str, Any] = {
    "backpressure_config": BackpressureConfig(status_code=429, retry_after_s=1.0),
    "ray_actor_options": {"num_cpus": 0.1},
}


@ray_serve.deployment(max_ongoing_requests=1, max_queued_requests=1, **small)
class Slow:
    async def embed(self, texts: Sequence[str], **asked: object) -> Any:
        await asyncio.sleep(HOLD_S)
        return np.ones((len(texts), 2), np.float32)


@ray_serve.deployment(max_ongoing_requests=8, max_queued_requests=8, **small)
@ray_serve.ingress(api)
class Busy:
    def __init__(self, embedder: Any) -> None:
        self._models = ServeModels(embedder=embedder)

    @api.get("/readyz")
    def readyz(self) -> dict[str, str]:
        return {"status": "ready"}

    @api.get("/hold")
    async def hold(self) -> dict[str, str]:
        await asyncio.sleep(HOLD_S)
        return {"status": "held"}

    @api.get("/embed")
    async def embed(self) -> dict[str, int]:
        return {"texts": len(await self._models.embed(["x"], purpose="query"))}


@ray.remote(num_cpus=0.1)
class Keeper:
    def pid(self) -> int:
        return os.getpid()


if __name__ == "__main__":
    ray.init(namespace="slowwave", log_to_driver=False)
    keeper = Keeper.options(name="keeper", lifetime="detached", max_restarts=-1).remote()
    ray.get(keeper.pid.remote())
    ray_serve.start(http_options=HTTPOptions(host="127.0.0.1", port=int(sys.argv[-1])))
    ray_serve.run(Busy.bind(Slow.bind()), name="busy")
