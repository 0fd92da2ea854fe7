"""A deployer with a one-page application and one detached actor, for tests of the local service."""

import os
import sys

import ray
from fastapi import FastAPI
from ray import serve as ray_serve
from ray.serve.config import HTTPOptions

api = FastAPI()


@ray_serve.deployment(ray_actor_options={"num_cpus": 0.1})
@ray_serve.ingress(api)
class Tiny:
    @api.get("/readyz")
    def readyz(self) -> dict[str, str]:
        return {"status": "ready"}

    @api.get("/environment")
    def environment(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if name.startswith("RAY_A")}


@ray.remote(num_cpus=0.1)
class Keeper:
    def pid(self) -> int:
        return os.getpid()


def main(port: int) -> None:
    ray.init(namespace="slowwave", log_to_driver=False)
    keeper = Keeper.options(name="keeper", lifetime="detached", max_restarts=-1).remote()
    ray.get(keeper.pid.remote())
    ray_serve.start(http_options=HTTPOptions(host="127.0.0.1", port=port))
    ray_serve.run(Tiny.bind(), name="tiny")


if __name__ == "__main__":
    if sys.argv[1].endswith("broken.yaml"):
        sys.exit("error: setting window.capacity: Extra inputs are not permitted")
    main(int(sys.argv[-1]))
