"""Every shipped config: what it says holds, it deploys, and each replica gets what it was given.

The models are stand-ins, the stores embedded and the GPUs declared: no more than names for Ray.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
import yaml
from ray import serve as ray_serve
from ray.util.state import list_actors

from actors.records import migrate
from serve.app import APP, build
from serve.index_actor import NAMESPACE
from serve.local.shipped import shipped
from serve.settings import AppSettings, DeploymentSettings, load, parse

CONFIGS = sorted(path.name for path in shipped("configs").iterdir())
GPUS = 4


def settings_of(name: str, home: Path) -> AppSettings:
    return load(shipped("configs") / name, home=home, models_dir=home)


def with_stand_ins(name: str, home: Path) -> AppSettings:
    """The config with its sizes and places, and nothing behind them."""
    document = yaml.safe_load((shipped("configs") / name).read_text(encoding="utf-8"))
    args: dict[str, Any] = document["applications"][0]["args"]
    models = args.get("models", {})
    compressor = "fake" if models.get("compressor", "") is not None else None
    faked = {"embedder": "fake", "tokenizer": "fake", "compressor": compressor, "attention": None}
    if name == "openai.yaml":
        faked["reranker"] = "fake"
    chat = {"model": "fake"} if args.get("chat") else None
    return parse(
        {
            **args,
            "models": {**models, **faked},
            "chat": chat,
            "stores": {},
            "access": {"keys_required": False},
            "segmentation": {"max_similarity": 0.5},
            "consolidation": {"min_similarity": 0.5},
            "home": home,
            "models_dir": home,
        }
    )


def test_the_four_profiles_are_there() -> None:
    assert CONFIGS == ["gpu-cluster.yaml", "local.yaml", "openai.yaml", "vllm-cpu.yaml"]


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_holds(name: str, tmp_path: Path) -> None:
    settings = settings_of(name, tmp_path)

    assert (settings.chat is None) == (name == "local.yaml")
    assert (settings.models.extractor == "chat") == (settings.chat is not None)
    decides = name in ("gpu-cluster.yaml", "openai.yaml")
    assert (settings.models.decider == "chat") == decides


def test_only_the_cluster_asks_for_gpus_and_callers_need_a_key_there(tmp_path: Path) -> None:
    found = {name: settings_of(name, tmp_path) for name in CONFIGS}

    gpus = {
        name: {part: size.num_gpus for part, size in each.deployments.items() if size.num_gpus}
        for name, each in found.items()
    }
    assert {name for name, asked in gpus.items() if asked} == {"gpu-cluster.yaml"}
    assert 0 < gpus["gpu-cluster.yaml"]["Compressor"] < 1
    assert 0 < gpus["gpu-cluster.yaml"]["Segmenter"] < 1
    assert [name for name, each in found.items() if each.access.keys_required] == [
        "gpu-cluster.yaml"
    ]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Ray with as many logical CPUs and GPUs as the largest config asks for; where its API is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        folder = tempfile.mkdtemp(prefix="sw-")  # Ray's sockets need a short path
        context = ray.init(
            address="local",
            num_cpus=32,
            num_gpus=GPUS,
            namespace=NAMESPACE,
            include_dashboard=True,
            _temp_dir=folder,
            log_to_driver=False,
        )
        yield f"http://{context.dashboard_url}"
        ray_serve.shutdown()
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def _replicas(api: str) -> dict[str, list[dict[str, float]]]:
    """Per deployment what each of its living replicas was given."""
    found: dict[str, list[dict[str, float]]] = {}
    alive = [("state", "=", "ALIVE")]
    for actor in list_actors(address=api, detail=True, limit=500, filters=alive):
        _, _, title = str(actor.name).partition("SERVE_REPLICA::")
        if title.startswith(f"{APP}#"):
            deployment = title.split("#")[1]
            found.setdefault(deployment, []).append(dict(actor.required_resources or {}))
    return found


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_deploys_and_every_replica_gets_what_it_was_given(
    name: str, tmp_path: Path, cluster: str
) -> None:
    settings = with_stand_ins(name, tmp_path)
    migrate(settings.records_url)

    ray_serve.run(build(settings), name=APP, route_prefix=f"/{name}")
    replicas = _replicas(cluster)
    ray_serve.delete(APP)

    expected = {"Ingress", "Embedder", "Segmenter", "IngestWorkers"}
    expected |= {"Chat"} if settings.chat else set()
    expected |= {"Reranker"} if settings.models.reranker else set()
    expected |= {"Compressor"} if settings.models.compressor else set()
    expected |= {"ChatRoom"} if _sizes(settings, "Chat").num_replicas > 1 else set()
    assert replicas.keys() == expected
    for deployment, given in replicas.items():
        asked = _sizes(settings, deployment)
        each = {"CPU": asked.num_cpus, "GPU": asked.num_gpus}
        assert given == [{kind: amount for kind, amount in each.items() if amount}] * len(given)
        assert len(given) == asked.num_replicas
    assert sum(each.get("GPU", 0) for given in replicas.values() for each in given) <= GPUS


def _sizes(settings: AppSettings, deployment: str) -> DeploymentSettings:
    return settings.deployments.get(deployment, DeploymentSettings())  # type: ignore[call-overload, no-any-return]  # a name of the app's own
