"""Where the local profile keeps its things. Knows paths, nothing of processes or Ray."""

import hashlib
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import ConfigError

_MODELS = "share/slowwave/models"
# Not tempfile.gettempdir(): Ray's sockets live below it and a socket path holds 107 bytes.
_RUNTIME_ROOT = Path("/tmp")


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of one local service; ``id`` tells its processes from every other's."""

    path: Path

    @property
    def id(self) -> str:
        """Eight hex digits, the same for the same user and folder."""
        return hashlib.sha256(f"{os.getuid()}:{self.path}".encode()).hexdigest()[:8]

    @property
    def runtime(self) -> Path:
        """The short-lived folder of sockets and Ray's logs; gone when the service is down."""
        return _RUNTIME_ROOT / f"slowwave-{self.id}"

    @property
    def ray_dir(self) -> Path:
        """Ray's folder; below ``runtime`` because Ray opens its own folder to everyone."""
        return self.runtime / "ray"

    @property
    def temp_dir(self) -> Path:
        """Where the service's processes put their temporary files; a killed one cleans up nothing.

        Short: multiprocessing's sockets live below it, and a socket path holds 107 bytes.
        """
        return self.runtime / "tmp"

    @property
    def service_file(self) -> Path:
        """What runs, as JSON; written when the service is ready."""
        return self.path / "service.json"

    @property
    def lock_file(self) -> Path:
        """Held while the service is started or ended."""
        return self.path / "service.lock"

    @property
    def token_file(self) -> Path:
        """The secret that Ray's own ports ask for; readable by its owner alone."""
        return self.path / "ray_token"

    @property
    def logs(self) -> Path:
        """The logs of starting."""
        return self.path / "logs"

    @property
    def index_folder(self) -> Path:
        """The embedded index, where the settings put it."""
        return self.path / "index"

    def prepare(self) -> None:
        """Make the folder; doing it twice changes nothing.

        Raises:
            ConfigError: the folder cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.logs.mkdir(exist_ok=True, mode=0o700)
        except OSError as exc:
            raise ConfigError(
                f"the folder {self.path} cannot be written: {exc.strerror}", field="SLOWWAVE_HOME"
            ) from exc

    def prepare_start(self) -> None:
        """Make the secret and the short-lived folder, private to their owner.

        Only under the lock: processes of one start must all read the same secret.

        Raises:
            ConfigError: someone else owns a folder of that name.
        """
        self.runtime.mkdir(mode=0o700, exist_ok=True)
        if self.runtime.stat().st_uid != os.getuid():
            raise ConfigError(f"{self.runtime} belongs to another user", field="SLOWWAVE_HOME")
        self.ray_dir.mkdir(exist_ok=True)
        self.temp_dir.mkdir(exist_ok=True)
        if not self.token_file.exists():
            _write_private(self.token_file, secrets.token_hex(32))


def current_home() -> Home:
    """The home that ``SLOWWAVE_HOME`` names, or ``~/.slowwave``."""
    named = os.environ.get("SLOWWAVE_HOME")
    return home_at(Path(named) if named else Path.home() / ".slowwave")


def models_dir() -> Path:
    """Where prepared models lie, for every home: ``SLOWWAVE_MODELS``, or in the environment."""
    named = os.environ.get("SLOWWAVE_MODELS")
    return Path(named).expanduser().resolve() if named else Path(sys.prefix, _MODELS)


def home_at(path: Path) -> Home:
    """The home in a folder, by its real path."""
    return Home(path.expanduser().resolve())


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
