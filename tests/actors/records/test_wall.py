"""On PostgreSQL a transaction sees and writes the rows of its tenant, whatever its SQL says."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import psycopg
import pytest
from postgres_server import Database, fresh_database
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    Engine,
    Float,
    Integer,
    Table,
    func,
    insert,
    select,
    text,
)

from actors.records import migrate, open_records
from actors.records.columns import HalfVector, UtcDateTime
from actors.records.engine import EVERY_TENANT, NO_TENANT, open_engine, reading, writing
from actors.records.registry import REGISTRY, TableRule, parents_first
from actors.records.tables import METADATA
from actors.records.wall import POLICY
from pipeline.errors import ConfigError, StoreError

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
MINE, THEIRS = "Åse's \\ 公司 %s", "globex"


def value(column: Column[Any], tenant: str, rule: TableRule) -> object:
    """Something that fits the column; rows of one tenant refer to each other."""
    match column.type:
        case UtcDateTime():
            return NOON
        case Date():
            return date(2024, 3, 1)
        case Boolean():
            return False
        case BigInteger() | Integer() | Float():
            return 1
        case HalfVector():
            return np.ones(1, dtype=np.float32)
    if column.name == rule.tenant:
        return tenant
    return {} if column.type.python_type is dict else f"{column.name} of {tenant}"


def row(rule: TableRule, tenant: str) -> dict[str, object]:
    """A row of the tenant in its one collection, about its one entry."""
    known = {"collection": f"name of {tenant}", "entry": f"id of {tenant}"}
    return {
        column.name: known.get(column.name) or value(column, tenant, rule)
        for column in rule.table.columns
        if not (column.name == "id" and isinstance(column.type, Integer))  # numbers itself
    }


@pytest.fixture(scope="module")
def filled(postgres_url: str) -> Iterator[Database]:
    """A row of each of two tenants in every table of a tenant."""
    with fresh_database(postgres_url) as database:
        migrate(database.url, owner=database.owner)
        engine = open_engine(database.url)
        for tenant in (MINE, THEIRS):
            with writing(engine, tenant) as connection:
                for rule in parents_first():
                    connection.execute(insert(rule.table).values(row(rule, tenant)))
        engine.dispose()
        yield database


@pytest.fixture(params=["service", "owner"])
def engine(request: pytest.FixtureRequest, filled: Database) -> Iterator[Engine]:
    """Connections of the service's role, and of the one that owns the tables."""
    found = open_engine(filled.url if request.param == "service" else filled.owner or "")
    yield found
    found.dispose()


def tenants_in(engine: Engine, rule: TableRule, *, seen_by: str) -> list[str]:
    """Whose rows a transaction sees."""
    with reading(engine, seen_by) as connection:
        return sorted(connection.execute(select(rule.table.c[rule.tenant])).scalars())


def refuses(engine: Engine, statement: Any) -> bool:
    """That my transaction may not run the statement because of row-level security."""
    try:
        with writing(engine, MINE) as connection:
            connection.execute(statement)
    except StoreError as error:
        return "row-level security" in error.message
    return False


by_table = pytest.mark.parametrize("rule", REGISTRY, ids=lambda rule: rule.table.name)


def test_every_table_with_a_tenant_stands_behind_the_wall(filled: Database) -> None:
    engine = open_engine(filled.url)
    with reading(engine, NO_TENANT) as connection:
        forced = connection.execute(
            text(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relrowsecurity"
                " AND relforcerowsecurity AND relnamespace = current_schema()::regnamespace"
            )
        ).scalars()
        policies = connection.execute(
            text(
                "SELECT tablename, policyname FROM pg_policies WHERE schemaname = current_schema()"
            )
        ).all()
        behind = sorted(forced)
    engine.dispose()

    with_tenant = [t.name for t in METADATA.sorted_tables if "tenant" in t.columns]
    assert behind == sorted([*with_tenant, "tenants"])
    assert sorted(policies) == [(name, POLICY) for name in behind]


@by_table
def test_a_tenant_sees_its_own_rows_alone(engine: Engine, rule: TableRule) -> None:
    assert tenants_in(engine, rule, seen_by=MINE) == [MINE]
    assert tenants_in(engine, rule, seen_by=THEIRS) == [THEIRS]
    assert tenants_in(engine, rule, seen_by=EVERY_TENANT) == sorted([MINE, THEIRS])


@by_table
def test_a_tenant_asking_for_rows_of_another_gets_none(engine: Engine, rule: TableRule) -> None:
    theirs = text(f"SELECT count(*) FROM {rule.table.name} WHERE {rule.tenant} = :tenant")

    with reading(engine, MINE) as connection:
        assert connection.execute(theirs, {"tenant": THEIRS}).scalar_one() == 0


@by_table
def test_a_tenant_changes_and_deletes_no_row_of_another(engine: Engine, rule: TableRule) -> None:
    name, tenant = rule.table.name, rule.tenant
    change = text(f"UPDATE {name} SET {tenant} = {tenant} WHERE {tenant} = :tenant")
    delete = text(f"DELETE FROM {name} WHERE {tenant} = :tenant")

    with writing(engine, MINE) as connection:
        changed = connection.execute(change, {"tenant": THEIRS}).rowcount
        deleted = connection.execute(delete, {"tenant": THEIRS}).rowcount

    assert (changed, deleted) == (0, 0)
    assert tenants_in(engine, rule, seen_by=THEIRS) == [THEIRS]


@by_table
def test_a_tenant_writes_no_row_for_another(engine: Engine, rule: TableRule) -> None:
    column = rule.table.c[rule.tenant]
    others = row(rule, THEIRS)

    assert refuses(engine, insert(rule.table).values(others))
    assert refuses(engine, rule.table.update().values({column: THEIRS}))


@by_table
@pytest.mark.parametrize("setting", [None, ""])
def test_without_a_tenant_nothing_is_seen_or_accepted(
    filled: Database, rule: TableRule, setting: str | None
) -> None:
    with psycopg.connect(filled.url, autocommit=False) as connection:
        if setting is not None:
            connection.execute("SELECT set_config('slowwave.tenant', %s, true)", [setting])
        query = f"SELECT count(*) FROM {rule.table.name}"
        assert connection.execute(query.encode()).fetchone() == (0,)
    engine = open_engine(filled.url)
    with pytest.raises(StoreError, match="row-level security"), writing(engine, NO_TENANT) as some:
        some.execute(insert(rule.table).values(row(rule, "")))
    engine.dispose()


def test_the_tenant_of_a_transaction_is_forgotten_with_it(filled: Database) -> None:
    engine = open_engine(filled.url)
    messages: Table = METADATA.tables["messages"]
    count = select(func.count()).select_from(messages)

    with reading(engine, EVERY_TENANT) as connection:
        during = connection.execute(count).scalar_one()
    with engine.connect() as connection:
        after = connection.execute(count).scalar_one()
    engine.dispose()

    assert (during, after) == (2, 0)


@pytest.mark.parametrize(
    "attempt",
    [
        "TRUNCATE messages",
        f"DROP POLICY {POLICY} ON messages",
        "ALTER TABLE messages DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE messages NO FORCE ROW LEVEL SECURITY",
        "SET ROLE slowwave_test_owner",
        "UPDATE alembic_version SET version_num = '0'",
    ],
)
def test_the_service_cannot_take_the_wall_down(filled: Database, attempt: str) -> None:
    with (
        psycopg.connect(filled.url) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(attempt.encode())


def test_a_role_that_passes_the_wall_is_refused(postgres: Database, postgres_url: str) -> None:
    migrate(postgres.url, owner=postgres.owner)

    with pytest.raises(ConfigError, match="superuser"):
        open_records(postgres_url)
    with pytest.raises(ConfigError, match="must not own"):
        open_records(postgres.owner or "")


def test_a_database_that_was_not_migrated_is_refused(postgres: Database) -> None:
    with pytest.raises(ConfigError, match="migrate as the owner"):
        open_records(postgres.url)


def test_a_wall_with_a_gap_is_refused_until_the_owner_migrates(postgres: Database) -> None:
    migrate(postgres.url, owner=postgres.owner)
    with psycopg.connect(postgres.owner or "") as connection:
        connection.execute("ALTER TABLE messages NO FORCE ROW LEVEL SECURITY")

    with pytest.raises(ConfigError, match="table messages"):
        open_records(postgres.url)

    open_records(postgres.url, owner=postgres.owner).close()


def test_sqlite_has_no_owner(tmp_path: Any) -> None:
    with pytest.raises(ConfigError) as refusal:
        open_records(f"sqlite:///{tmp_path}/records.db", owner="postgresql://owner@host/db")

    assert refusal.value.field == "owner"
