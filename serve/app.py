"""The Ray Serve application: every bind on one screen.

Resources, replicas and queues come from the settings; the names are those a person sees in the
Ray dashboard.
"""

from collections.abc import Mapping
from typing import Any, cast

from ray import serve as ray_serve
from ray.serve import Application, Deployment
from ray.serve.config import BackpressureConfig

from serve.chat import Chat, ChatRoom
from serve.deployments import Compressor, Embedder, Reranker, Segmenter
from serve.replicas import IngestWorkers, Ingress, ingress_room
from serve.settings import AppSettings, DeploymentName, DeploymentSettings

APP = "slowwave"

_LOOK_S = 2.0
"""How often Serve looks whether a replica lives; one that was killed is missed until then."""


def build(args: AppSettings) -> Application:
    """The application for these settings; also the ``import_path`` of a Serve config."""
    models = args.models
    load = {"models_dir": args.models_dir, "threads": models.threads}
    embedder = _deployment(args, Embedder).bind(model=models.embedder, **load)
    compressor = None
    if models.compressor is not None:
        compressor = _deployment(args, Compressor).bind(
            model=models.compressor, tokenizer=models.tokenizer, **load
        )
    segmenter = _deployment(args, Segmenter).bind(
        embedder=embedder,
        attention=args.attention,
        rule=args.segmentation.rule,
        min_shift=args.min_shift,
        max_similarity=args.max_similarity,
        **load,
    )
    reranker = None
    if models.reranker is not None:
        reranker = _deployment(args, Reranker).bind(model=models.reranker, **load)
    chat = _chat(args)
    workers = _deployment(args, IngestWorkers).bind(
        settings=args, embedder=embedder, compressor=compressor, segmenter=segmenter, chat=chat
    )
    # The ingress counts what is at work by itself: Serve counts requests still being sent as well.
    idle = ingress_room(args).waiting + args.limits.arriving_bodies
    return _deployment(args, ray_serve.ingress()(Ingress), idle=idle).bind(
        settings=args, embedder=embedder, workers=workers, chat=chat, reranker=reranker
    )


def _chat(args: AppSettings) -> Application | None:
    """The chat model, with one keeper of its endpoint's room where several replicas share it."""
    if args.chat is None:
        return None
    limits = None
    if _sizes(args, Chat).num_replicas > 1 and args.chat.vllm is None:
        limits = _deployment(args, ChatRoom).bind(settings=args.chat)
    env = args.chat.vllm.env if args.chat.vllm is not None else {}
    chat = _deployment(args, Chat, env=env)
    return chat.bind(settings=args.chat, models_dir=args.models_dir, limits=limits)


def _sizes(args: AppSettings, cls: type) -> DeploymentSettings:
    return args.deployments.get(cast(DeploymentName, cls.__name__), DeploymentSettings())


def _deployment(
    args: AppSettings, cls: type, *, idle: int = 0, env: Mapping[str, str] | None = None
) -> Deployment:
    """The class as a deployment of its own name, sized by the settings.

    Args:
        idle: requests that Serve lets in beside those at work.
        env: environment variables of its replicas.
    """
    asked = _sizes(args, cls)
    options: dict[str, Any] = {"num_cpus": asked.num_cpus, "num_gpus": asked.num_gpus}
    if env:
        options["runtime_env"] = {"env_vars": dict(env)}
    sized = ray_serve.deployment(
        name=cls.__name__,
        num_replicas=asked.num_replicas,
        max_ongoing_requests=asked.max_ongoing_requests + idle,
        max_queued_requests=asked.max_queued_requests,
        health_check_period_s=_LOOK_S,
        backpressure_config=BackpressureConfig(status_code=429, retry_after_s=1.0),
        ray_actor_options=options,
    )
    return sized(cls)
