"""The service's refusals as the client raises them: the class of their status, with the field."""

from collections.abc import Mapping
from typing import cast

import httpx

from pipeline.errors import (
    AccessError,
    Conflict,
    InputError,
    LimitError,
    ModelError,
    NotFound,
    SlowwaveError,
    StoreError,
    TooLarge,
)

_BY_STATUS: Mapping[int, type[SlowwaveError]] = {
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    502: ModelError,
    503: StoreError,
    504: StoreError,
}


def may_pass(response: httpx.Response) -> bool:
    """Whether the same request may succeed a little later.

    A 5xx without our error in it is the proxy's: no replica is up at this moment.
    """
    is_proxys = response.status_code >= 500 and not _error_fields(response)
    return response.status_code in (429, 503) or is_proxys


def refused(response: httpx.Response) -> SlowwaveError:
    """The service's error as the class of its status."""
    fields = _error_fields(response)
    message = str(fields.get("message") or f"HTTP {response.status_code} from {response.url}")
    wait_s = seconds(response.headers.get("Retry-After"))
    return _as_class(response.status_code, message, fields=fields, wait_s=wait_s)


def refused_late(document: Mapping[str, object]) -> SlowwaveError:
    """The error that came as an event of a reply which had begun well."""
    found = document.get("error")
    fields = found if isinstance(found, dict) else {}
    status = fields.get("status")
    message = str(fields.get("message") or "the service failed")
    return _as_class(
        status if isinstance(status, int) else 500, message, fields=fields, wait_s=None
    )


def _as_class(
    status: int, message: str, *, fields: Mapping[str, object], wait_s: float | None
) -> SlowwaveError:
    field = cast(str | None, fields.get("field"))
    if status in (401, 403):
        return AccessError(message, status=status, field=field)
    if status == 429:
        return LimitError(message, retry_after_s=wait_s or 1.0, field=field)
    default = InputError if status < 500 else SlowwaveError
    return _BY_STATUS.get(status, default)(message, field=field)


def _error_fields(response: httpx.Response) -> dict[str, object]:
    try:
        document = response.json()
    except ValueError:
        return {}
    fields = document.get("error") if isinstance(document, dict) else None
    return fields if isinstance(fields, dict) else {}


def seconds(header: str | None) -> float | None:
    """The seconds that a header says; None where it says none."""
    try:
        return float(header) if header else None
    except ValueError:
        return None
