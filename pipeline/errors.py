"""The one error tree. Every error names the field, what was expected and what came.

SlowwaveError              500
  ConfigError              refused at start
  InputError               422
    NotFound               404
    Conflict               409
    TooLarge               413
  AccessError              401 without a key, 403 with one that may not
  LimitError               429, with retry_after_s
  ModelError               502
    MalformedReply         502, with the raw reply
    ModelUnavailable       502, with retry_after_s
  StoreError               503
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.chat import ChatReply


class SlowwaveError(Exception):
    """Root of everything Slowwave raises on purpose."""

    status = 500

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field

    @property
    def message(self) -> str:
        """The sentence for a person, without the field."""
        return str(self.args[0])

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(
    kind: type[SlowwaveError], args: tuple[object, ...], state: dict[str, object]
) -> SlowwaveError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class ConfigError(SlowwaveError):
    """A setting is unknown, unsupported or contradicts what is stored."""


class InputError(SlowwaveError):
    """The caller sent something that cannot be accepted."""

    status = 422


class NotFound(InputError):
    """The named thing does not exist for this tenant."""

    status = 404


class Conflict(InputError):
    """The thing changed meanwhile, or the key was used for another body."""

    status = 409


class TooLarge(InputError):
    """The request exceeds a limit on size."""

    status = 413


class AccessError(SlowwaveError):
    """No key, an unknown key, or a key without the needed scope."""

    def __init__(self, message: str, *, status: int = 401, field: str | None = None) -> None:
        super().__init__(message, field=field)
        self.status = status


class LimitError(SlowwaveError):
    """A quota or the service's capacity is used up for now."""

    status = 429

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float,
        field: str | None = None,
        limit: int | None = None,
        current: int | None = None,
    ) -> None:
        super().__init__(message, field=field)
        self.retry_after_s = retry_after_s
        self.limit = limit
        self.current = current


class ModelError(SlowwaveError):
    """A model failed or gave a result of the wrong shape."""

    status = 502


class MalformedReply(ModelError):
    """A model's reply does not follow its schema; ``raw`` holds it.

    ``call`` is what the call took that it answered, as a reply without text, for whoever counts.
    """

    def __init__(
        self, message: str, *, raw: str, field: str | None = None, call: "ChatReply | None" = None
    ) -> None:
        super().__init__(message, field=field)
        self.raw = raw
        self.call = call


class ModelUnavailable(ModelError):
    """No model answers at present, whatever it is asked: no fault of the request."""

    def __init__(self, message: str, *, retry_after_s: float, field: str | None = None) -> None:
        super().__init__(message, field=field)
        self.retry_after_s = retry_after_s


class StoreError(SlowwaveError):
    """A store cannot be reached or refused."""

    status = 503
