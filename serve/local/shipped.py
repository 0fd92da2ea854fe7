"""Where the files that come with Slowwave lie: in the checkout, or beside the package."""

from pathlib import Path

from pipeline.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(name: str) -> Path:
    """The shipped file or folder ``name``, such as ``configs/local.yaml``.

    Raises:
        ConfigError: this installation does not have it.
    """
    found = [path for root in (_PACKAGE.parent, _PACKAGE) if (path := root / name).exists()]
    if not found:
        raise ConfigError(f"this installation has no {name}; install from a checkout", field=name)
    return found[0]
