"""A PostgreSQL server of one's own: in a temporary folder, on loopback, gone afterwards.

As a command, ``python tests/postgres_server.py COMMAND...`` starts one, names it to the command
in SLOWWAVE_TEST_POSTGRES and stops it whatever happens. Without a command it prints the URL and
waits until it is told to stop. PostgreSQL is installed from the system's packages where no
binaries are found; it refuses to run as root, so root gives it to an unprivileged user.
"""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import psutil
import psycopg
from psycopg.sql import SQL, Identifier, Literal
from sqlalchemy import make_url

VARIABLE = "SLOWWAVE_TEST_POSTGRES"
"""Names a superuser's URL of the server that tests may make roles and schemas in."""

OWNER, SERVICE = "slowwave_test_owner", "slowwave_test_service"
"""The roles that tests migrate and connect as."""

_PACKAGES = Path("/usr/lib/postgresql")
_INSTALL = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "postgresql"]
_START_S, _STOP_S = 60.0, 30.0


class PostgresServer:
    """One server; ``url`` is its superuser's and stays the same over restarts."""

    def __init__(self) -> None:
        self._bin = find_or_install()
        self._folder = Path(tempfile.mkdtemp(prefix="slowwave-postgres-"))
        self._password = secrets.token_hex(16)
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._user = _unprivileged()
        try:
            self._create()
        except BaseException:
            self.remove()
            raise

    @property
    def url(self) -> str:
        """``postgresql://...`` of the superuser, on loopback."""
        return f"postgresql://postgres:{self._password}@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Returns when it takes connections. Raises RuntimeError with its log if it never does."""
        command = [str(self._bin / "postgres"), "-D", str(self._folder / "state")]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *self._settings()], stdout=log, stderr=log, **self._as_user()
            )
        ends = time.monotonic() + _START_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > ends:
                raise RuntimeError(f"PostgreSQL does not start:\n{self.log()[-2000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Ends it in order: open transactions are rolled back. Does nothing if it is down."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None

    def kill(self) -> None:
        """Ends all its processes at once by SIGKILL, as a power cut would."""
        if self._process is None:
            return
        postmaster = psutil.Process(self._process.pid)
        processes = [postmaster, *postmaster.children(recursive=True)]
        for process in processes:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self._process.wait()
        psutil.wait_procs(processes, timeout=_STOP_S)
        self._process = None

    def restart(self, *, kill: bool = False) -> None:
        """Ends it, in order or by SIGKILL, and starts it again on the same state."""
        if kill:
            self.kill()
        else:
            self.stop()
        self.start()

    def remove(self) -> None:
        """Stops it and removes its folder; doing it twice changes nothing."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def log(self) -> str:
        """What it has written to its log so far."""
        return (self._folder / "log").read_text(errors="replace")

    def __enter__(self) -> "PostgresServer":
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _create(self) -> None:
        secret = self._folder / "password"
        secret.touch(mode=0o600)
        secret.write_text(self._password)
        if self._user is not None:
            for path in (self._folder, secret):
                os.chown(path, self._user.pw_uid, self._user.pw_gid)
        command = [str(self._bin / "initdb"), "-D", str(self._folder / "state")]
        options = ["--username=postgres", "--auth=scram-sha-256", f"--pwfile={secret}"]
        options += ["--encoding=UTF8", "--locale=C.UTF-8"]
        done = subprocess.run(
            [*command, *options], capture_output=True, text=True, check=False, **self._as_user()
        )
        secret.unlink()
        if done.returncode != 0:
            raise RuntimeError(f"initdb failed:\n{done.stdout}{done.stderr}")

    def _settings(self) -> list[str]:
        values = {
            "listen_addresses": "127.0.0.1",
            "port": str(self._port),
            "unix_socket_directories": str(self._folder),
            "fsync": "on",
            "max_connections": "300",
        }
        return [part for name, value in values.items() for part in ("-c", f"{name}={value}")]

    def _as_user(self) -> dict[str, Any]:
        """How a process of the server is started; it must not stand in a folder closed to it."""
        place: dict[str, Any] = {"cwd": self._folder}
        if self._user is not None:
            place |= {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        return place

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """An empty record store: what the service connects with, and its owner on PostgreSQL."""

    url: str
    owner: str | None = None


@contextmanager
def fresh_database(server: str) -> Iterator[Database]:
    """A schema of its own on a server named by its superuser's URL, dropped afterwards."""
    schema, place = f"test_{uuid.uuid4().hex}", make_url(server)
    names = {"schema": Identifier(schema), "owner": Identifier(OWNER)}
    query = {"options": f"-csearch_path={schema}"}

    def as_role(role: str) -> str:
        return place.set(username=role, query=query).render_as_string(hide_password=False)

    with psycopg.connect(server, autocommit=True) as admin:
        for role in (OWNER, SERVICE):
            _ensure_role(admin, role, password=place.password or "")
        admin.execute(SQL("CREATE SCHEMA {schema} AUTHORIZATION {owner}").format(**names))
    try:
        yield Database(url=as_role(SERVICE), owner=as_role(OWNER))
    finally:
        with psycopg.connect(server, autocommit=True) as admin:  # the server may be another by now
            admin.execute(SQL("DROP SCHEMA {schema} CASCADE").format(**names))


def _ensure_role(admin: psycopg.Connection[tuple[Any, ...]], role: str, *, password: str) -> None:
    make = SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(Identifier(role), Literal(password))
    with admin.transaction():
        admin.execute("SELECT pg_advisory_xact_lock(4)")  # another test may make it just now
        if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
            admin.execute(make)


def find_or_install() -> Path:
    """The folder of the newest binaries. Raises RuntimeError where none can be installed."""
    found = _find()
    if found is None:
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise RuntimeError("no PostgreSQL is found: install the package postgresql")
        # apt checks signatures as a user of its own, to whom a private TMPDIR is closed.
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "TMPDIR": "/var/tmp"}
        subprocess.run(["apt-get", "update", "--quiet"], check=False, env=quiet, stdout=sys.stderr)
        subprocess.run(_INSTALL, check=True, env=quiet, stdout=sys.stderr)
        found = _find()
    if found is None:
        raise RuntimeError("the package postgresql brought no initdb")
    return found


def _find() -> Path | None:
    packaged = sorted(_PACKAGES.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if packaged:
        return packaged[-1].parent
    other = shutil.which("initdb")
    return None if other is None else Path(other).resolve().parent


def _unprivileged() -> pwd.struct_passwd | None:
    """Who runs the server where we are root; None where we are not."""
    if os.geteuid() != 0:
        return None
    users = {user.pw_name: user for user in pwd.getpwall()}
    return users.get("postgres") or users["nobody"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _end(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


def main(command: Sequence[str]) -> int:
    """Runs the command beside a server; its exit code."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _end)
    with PostgresServer() as server:
        if not command:
            print(server.url, flush=True)
            signal.pause()
        named = os.environ | {VARIABLE: server.url}
        return subprocess.run(command, check=False, env=named).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
