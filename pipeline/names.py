"""Which texts can name something that is a part of a path. Knows no field names but the caller's.

Clients and proxies resolve ``.`` and ``..`` before they send a path, however it is quoted: a
request about something of that name reaches something else.
"""

from pipeline.errors import InputError

MOST_CHARS = 200
"""The length of a name of what is not a tenant."""

_STEPS = (".", "..")


def check_name(name: str) -> None:
    """Raises ValueError where ``.`` or ``..`` is the name or stands in it between slashes."""
    for part in name.split("/"):
        if part in _STEPS:
            raise ValueError(f"expected a name without steps of a path, got {part!r}")


def path_name(name: str, *, field: str) -> str:
    """The name, if ``check_name`` takes it. Raises InputError with the field."""
    try:
        check_name(name)
    except ValueError as exc:
        raise InputError(str(exc), field=field) from exc
    return name
