"""Which settings of a collection can be kept to, beside those of the service.

What could never have an effect is refused when it is set, by name; nothing is dropped in silence.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.awake.shortterm import Granularity, Trigger
from pipeline.errors import InputError
from pipeline.settings import CollectionSettings, check_triggers


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """What the service has: its own settings, and the parts that some settings need.

    ``takes_prompt`` says that its extractor is asked by a prompt, so it is a language model.
    """

    settings: CollectionSettings
    has_compressor: bool
    takes_prompt: bool


def check_supported(own: CollectionSettings, offered: Offered) -> None:
    """Raises InputError, naming the key, for what the service cannot do.

    Args:
        own: what the collection is to have of its own.
    """
    for check in _CHECKS:
        check(own, own.over(offered.settings), offered)


def _triggers(own: CollectionSettings, now: CollectionSettings, _offered: Offered) -> None:
    triggers, granularity = now.triggers or (), now.granularity or Granularity.SEGMENT
    # The service's number goes with the service's triggers.
    turns = own.turns if own.triggers is not None else now.turns
    try:
        check_triggers(triggers, turns=turns, granularity=granularity)
    except ValueError as error:
        field = str(error).partition(":")[0]
        raise InputError(str(error), field=field) from error


def _idle(own: CollectionSettings, now: CollectionSettings, offered: Offered) -> None:
    has_idle = Trigger.IDLE in (now.triggers or ())
    if own.idle_s is not None and not has_idle:
        raise _refused("idle_s", f"the trigger idle beside it, got {_triggers_of(now)}")
    is_services = Trigger.IDLE in (offered.settings.triggers or ())
    if has_idle and own.idle_s is None and not is_services:
        raise _refused("idle_s", "seconds beside the trigger idle, which the service does not have")


def _compression(own: CollectionSettings, now: CollectionSettings, offered: Offered) -> None:
    if own.compression and not offered.has_compressor:
        raise _refused("compression", "a service with models.compressor, which this one has not")
    if own.rate is not None and not offered.has_compressor:
        raise _refused("rate", "a service with models.compressor, which this one has not")
    if own.rate is not None and now.compression is False:
        raise _refused("rate", "compression true beside it, got false: nothing is compressed")


def _short_term(own: CollectionSettings, now: CollectionSettings, _offered: Offered) -> None:
    if own.short_term_tokens is not None and Trigger.TOKENS not in (now.triggers or ()):
        raise _refused(
            "short_term_tokens", f"the trigger tokens beside it, got {_triggers_of(now)}"
        )


def _topics(own: CollectionSettings, now: CollectionSettings, _offered: Offered) -> None:
    if now.granularity is not Granularity.TURN:
        return
    expected = "granularity segment or conversation beside it, got turn: no"
    if own.min_shift is not None:
        raise _refused("min_shift", f"{expected} topics are found")
    if own.window_tokens is not None:
        raise _refused("window_tokens", f"{expected} window is cut into topics")


def _prompt(own: CollectionSettings, now: CollectionSettings, offered: Offered) -> None:
    if own.prompt is not None and not offered.takes_prompt:
        raise _refused(
            "prompt", "an extractor that is a language model; this service's reads no prompt"
        )


def _triggers_of(settings: CollectionSettings) -> str:
    return f"the triggers {', '.join(settings.triggers or ())}"


def _refused(key: str, expected: str) -> InputError:
    return InputError(f"{key}: expected {expected}", field=key)


_Check = Callable[[CollectionSettings, CollectionSettings, Offered], None]
_CHECKS: tuple[_Check, ...] = (_triggers, _idle, _short_term, _compression, _topics, _prompt)
