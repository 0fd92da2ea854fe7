"""Row-level security: on PostgreSQL a second wall between tenants, below every statement.

The owner of the tables builds it and opens it for the role that the service connects as; the
service refuses to start where the wall does not hold for its role. Knows nothing of migrations.
"""

from sqlalchemy import Connection, Row, Table, text

from actors.records.registry import REGISTRY
from pipeline.errors import ConfigError

POLICY = "slowwave_tenant"
"""The one policy of each table that has a tenant."""

_RIGHTS = "SELECT, INSERT, UPDATE, DELETE"
_NEEDED = ", ".join(
    f"has_table_privilege(pg_class.oid, '{right}')" for right in _RIGHTS.split(", ")
)

# An unset setting is NULL and an empty one is made NULL, which equals nothing. The sub-selects
# are read once per statement, not once per row.
_SETTING = "current_setting('slowwave.tenant', true)"
_IS_MINE = "{tenant} = (SELECT NULLIF({setting}, '')) OR (SELECT {setting}) = '*'"

_ROLE = text(
    "SELECT rolname, rolsuper OR rolbypassrls AS passes FROM pg_roles WHERE rolname = current_user"
)
_TABLES = text(
    "SELECT relname,"
    " relrowsecurity AND relforcerowsecurity AND EXISTS ("
    "SELECT FROM pg_policy WHERE polrelid = pg_class.oid AND polname = :policy) AS is_walled,"
    " pg_has_role(relowner, 'MEMBER') AS is_owned,"
    f" true = ALL (ARRAY[{_NEEDED}]) AS is_open"
    " FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
)
_SEQUENCES = text(
    "SELECT pg_get_serial_sequence(format('%I', table_name), column_name)"
    " FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND column_default LIKE 'nextval(%'"
)


def build_wall(connection: Connection) -> None:
    """Lets every table with a tenant show and take rows of the transaction's tenant alone.

    Holds for the owner too. Does nothing where the wall stands.
    """
    found = _tables(connection)
    if all(found[table.name].is_walled for table, _ in _walled()):
        return
    quoted = connection.dialect.identifier_preparer.quote
    for table, tenant in _walled():
        is_mine = _IS_MINE.format(tenant=quoted(tenant), setting=_SETTING)
        _run(
            connection,
            f"ALTER TABLE {quoted(table.name)} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {quoted(table.name)} FORCE ROW LEVEL SECURITY",
            f"DROP POLICY IF EXISTS {POLICY} ON {quoted(table.name)}",
            f"CREATE POLICY {POLICY} ON {quoted(table.name)}"
            f" USING ({is_mine}) WITH CHECK ({is_mine})",
        )


def open_gate(connection: Connection, *, role: str) -> None:
    """Lets the role read and write rows of every table, and read which version they have."""
    quoted = connection.dialect.identifier_preparer.quote
    schema = connection.execute(text("SELECT current_schema()")).scalar_one()
    tables = ", ".join(quoted(rule.table.name) for rule in REGISTRY)
    sequences = ", ".join(connection.execute(_SEQUENCES).scalars())
    _run(
        connection,
        f"GRANT USAGE ON SCHEMA {quoted(schema)} TO {quoted(role)}",
        f"GRANT SELECT ON alembic_version TO {quoted(role)}",
        f"GRANT {_RIGHTS} ON {tables} TO {quoted(role)}",
        f"GRANT USAGE ON SEQUENCE {sequences} TO {quoted(role)}",
    )


def _run(connection: Connection, *statements: str) -> None:
    options = {"no_parameters": True}  # several statements travel together only without any
    connection.exec_driver_sql("; ".join(statements), execution_options=options)


def check_role(connection: Connection) -> None:
    """Raises ConfigError where row-level security does not bind the role of the connection."""
    role = connection.execute(_ROLE).one()
    if role.passes:
        raise ConfigError(
            f"expected a role that row-level security binds, got {role.rolname}, which is a "
            "superuser or may bypass it",
            field="database",
        )


def check_wall(connection: Connection) -> None:
    """Raises ConfigError for a table that the role owns, may not use, or that has no wall."""
    found = _tables(connection)
    for rule in REGISTRY:
        table = found.get(rule.table.name)
        if table is None or not table.is_open:
            raise _refusal(rule.table, "the service's role may not use it")
        if table.is_owned:
            raise _refusal(rule.table, "the service's role must not own it")
        if not table.is_walled:
            raise _refusal(rule.table, "row-level security is not switched on")


def _refusal(table: Table, reason: str) -> ConfigError:
    return ConfigError(f"table {table.name}: {reason}; migrate as the owner", field="database")


def _walled() -> list[tuple[Table, str]]:
    return [(rule.table, rule.tenant) for rule in REGISTRY]


def _tables(connection: Connection) -> dict[str, Row[tuple[str, bool, bool, bool]]]:
    rows = connection.execute(_TABLES, {"policy": POLICY})
    return {row.relname: row for row in rows}
