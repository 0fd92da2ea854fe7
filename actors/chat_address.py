"""Which addresses of a chat endpoint may be asked: a key and what people said are sent there.

Knows nothing of HTTP.
"""

from urllib.parse import urlsplit

from pipeline.errors import ConfigError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_FIELD = "chat.endpoint"


def check_address(url: str, *, plain_http: bool) -> None:
    """Returns where the address may be asked.

    Args:
        plain_http: whether ``http`` may go beyond this machine.

    Raises:
        ConfigError: it is no address, holds a password, or would carry everything unencrypted.
    """
    try:
        address = urlsplit(url)
        host = address.hostname
    except ValueError:
        raise _refused("an http or https address, got one that cannot be read") from None
    if address.scheme not in ("http", "https") or not host:
        came = f"the scheme {address.scheme!r}" if address.scheme else "one without a scheme"
        raise _refused(f"an http or https address with a host, got {came}")
    if address.username is not None or address.password is not None:
        raise _refused("an address without a name or password; chat.key_env names the key")
    if address.scheme == "http" and host not in LOOPBACK and not plain_http:
        raise _refused(
            f"https, got http to {host}: the key and what people said would travel unencrypted. "
            "chat.plain_http: true allows it on a network that is trusted"
        )


def is_unencrypted(url: str) -> bool:
    """Whether what is sent to the address leaves this machine unencrypted."""
    address = urlsplit(url)
    return address.scheme == "http" and address.hostname not in LOOPBACK


def _refused(expected: str) -> ConfigError:
    return ConfigError(f"setting {_FIELD}: expected {expected}", field=_FIELD)
