"""What PostgreSQL takes back is tried again; what it may have written is not."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
import pytest
from postgres_server import SERVICE, Database, PostgresServer, fresh_database
from psycopg.sql import SQL, Identifier
from sqlalchemy import Engine, text

from actors.records import Records, failures, open_records
from actors.records.engine import EVERY_TENANT, open_engine, reading, writing
from actors.records.failures import RolledBack, retrying
from pipeline.errors import StoreError
from pipeline.messages import NewMessage, Role, Scope, TenantId

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
ACME = TenantId("acme")
OLA = Scope(tenant=ACME, collection="ola")
YES = NewMessage(conversation="c", role=Role.USER, speaker="Ola", content="yes", said_at=NOON)


@pytest.fixture
def engine(postgres: Database) -> Iterator[Engine]:
    """The owner's connections, with a table of two rows."""
    found = open_engine(postgres.owner or "")
    with writing(found, EVERY_TENANT) as connection:
        connection.execute(text("CREATE TABLE t (id int PRIMARY KEY, n int)"))
        connection.execute(text("INSERT INTO t VALUES (1, 0), (2, 0)"))
    yield found
    found.dispose()


def counts(engine: Engine) -> list[int]:
    with reading(engine, EVERY_TENANT) as connection:
        return list(connection.execute(text("SELECT n FROM t ORDER BY id")).scalars())


@retrying
class Crossing:
    """Counts both rows up in the order asked for, after both sides hold their first one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._meeting = threading.Barrier(2)
        self.tries = 0

    def count(self, first: int, second: int) -> None:
        self.tries += 1
        add = text("UPDATE t SET n = n + 1 WHERE id = :id")
        with writing(self._engine, EVERY_TENANT) as connection:
            connection.execute(add, {"id": first})
            if self.tries <= 2:
                self._meeting.wait(timeout=10)
            connection.execute(add, {"id": second})


def test_the_loser_of_a_deadlock_is_tried_again(engine: Engine) -> None:
    crossing = Crossing(engine)
    other = threading.Thread(target=crossing.count, args=(2, 1))

    other.start()
    crossing.count(1, 2)
    other.join()

    assert counts(engine) == [2, 2]
    assert crossing.tries == 3


def test_a_call_that_never_succeeds_is_a_plain_store_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(failures, "DELAYS_S", (0.0, 0.0))

    @retrying
    class Hopeless:
        def work(self) -> None:
            raise RolledBack("deadlock detected")

    with pytest.raises(StoreError, match="tried 3 times") as refusal:
        Hopeless().work()

    assert type(refusal.value) is StoreError


@pytest.mark.parametrize(("state", "is_undone"), [("40001", True), ("23514", False)])
def test_only_what_was_taken_back_may_be_tried_again(
    engine: Engine, state: str, is_undone: bool
) -> None:
    refuse = text(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{state}'; END $$")

    with pytest.raises(StoreError) as refusal, writing(engine, EVERY_TENANT) as connection:
        connection.execute(refuse)

    assert isinstance(refusal.value, RolledBack) == is_undone


def test_a_reading_cannot_write(engine: Engine) -> None:
    with pytest.raises(StoreError, match="read-only"), reading(engine, ACME) as connection:
        connection.execute(text("UPDATE t SET n = 9"))


def test_a_connection_lost_before_the_end_leaves_nothing(engine: Engine) -> None:
    lose = text("UPDATE t SET n = 9 RETURNING pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(RolledBack), writing(engine, EVERY_TENANT) as connection:
        connection.execute(lose)

    assert counts(engine) == [0, 0]


def test_a_connection_lost_while_it_commits_is_not_tried_again(
    engine: Engine, postgres_url: str
) -> None:
    def lose() -> None:
        with writing(engine, EVERY_TENANT) as connection:
            connection.execute(text("UPDATE t SET n = 9"))
            backend = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
            with psycopg.connect(postgres_url) as admin:
                admin.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])

    with pytest.raises(StoreError) as refusal:
        lose()

    assert not isinstance(refusal.value, RolledBack)


def test_an_unreachable_server_is_a_store_error() -> None:
    engine = open_engine("postgresql://ola@127.0.0.1:1/none")

    with pytest.raises(StoreError, match="refused"), reading(engine, ACME):
        pass
    engine.dispose()


@pytest.fixture(scope="module")
def server(postgres_url: str) -> Iterator[PostgresServer]:
    """A server of this module's own, which it may end."""
    with PostgresServer() as found:
        yield found


@pytest.fixture
def records(server: PostgresServer) -> Iterator[Records]:
    with fresh_database(server.url) as database:
        stores = open_records(database.url, owner=database.owner)
        stores.tenants.ensure_tenant(ACME, NOON)
        yield stores
        stores.close()


@pytest.mark.parametrize("kill", [False, True], ids=["in order", "by SIGKILL"])
def test_connections_survive_a_restart_of_the_server(
    server: PostgresServer, records: Records, kill: bool
) -> None:
    accepted = [records.messages.accept(OLA, [YES], now=NOON)[0].sequence for _ in range(5)]
    connections = [records.engine.connect() for _ in range(5)]
    for connection in connections:  # the pool keeps all five
        connection.close()

    server.restart(kill=kill)

    stored = [message.sequence for message in records.messages.messages(OLA)]
    assert stored == accepted
    assert records.messages.accept(OLA, [YES], now=NOON)[0].sequence == accepted[-1] + 1


def let_in(server: PostgresServer, how: str) -> None:
    """Whether the service may connect from now on; it is put out at once."""
    with psycopg.connect(server.url) as admin:
        admin.execute(SQL("ALTER ROLE {} {}").format(Identifier(SERVICE), SQL(how)))
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s",
            [SERVICE],
        )


def test_a_call_waits_until_the_server_lets_it_in_again(
    server: PostgresServer, records: Records
) -> None:
    let_in(server, "NOLOGIN")
    again = threading.Timer(0.3, let_in, [server, "LOGIN"])
    again.start()
    [message] = records.messages.accept(OLA, [YES], now=NOON)
    again.join()

    assert message.sequence == 1


def test_who_opens_a_store_waits_too(server: PostgresServer, records: Records) -> None:
    url = records.engine.url.render_as_string(hide_password=False)
    let_in(server, "NOLOGIN")
    again = threading.Timer(0.3, let_in, [server, "LOGIN"])
    again.start()
    other = open_records(url)
    again.join()

    assert other.tenants.tenants() == [ACME]
    other.close()
