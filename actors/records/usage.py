"""What model calls took: added up in the transaction of the step that made them."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.dialects import postgresql, sqlite

from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.failures import retrying
from actors.records.tables import usage
from pipeline.chat import Spent
from pipeline.messages import Scope, TenantId
from pipeline.usage import Usage

_COUNTS = ("calls", "repairs", "tokens_in", "tokens_out", "estimated")
_REFUSED = "refused:"
_KEYS = [column.name for column in usage.primary_key]


def add_usage(
    connection: Connection,
    scope: Scope,
    spent: Sequence[Spent],
    refused: Mapping[str, int],
    *,
    now: datetime,
) -> None:
    """Adds the calls to those of the day (UTC); what was refused is counted with the first."""
    rows = [
        _row(scope, now, each, measure, amount)
        for each in spent
        for measure in _COUNTS
        if (amount := getattr(each, measure))
    ]
    rows += [
        _row(scope, now, spent[0], _REFUSED + reason, amount)
        for reason, amount in refused.items()
        if spent
    ]
    if not rows:
        return
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    new = insert(usage)
    added = {"amount": usage.c.amount + new.excluded.amount}
    connection.execute(new.on_conflict_do_update(index_elements=_KEYS, set_=added), rows)


def _row(scope: Scope, now: datetime, spent: Spent, measure: str, amount: int) -> dict[str, Any]:
    return {
        "tenant": scope.tenant,
        "collection": scope.collection,
        "day": now.date(),
        "purpose": spent.purpose.value,
        "model": spent.model,
        "measure": measure,
        "amount": amount,
    }


@retrying
class SqlUsage:
    """The usage of each tenant, over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def spend(self, scope: Scope, spent: Spent, *, now: datetime) -> None:
        """Adds calls that belong to no step."""
        with writing(self._engine, scope.tenant) as connection:
            add_usage(connection, scope, [spent], {}, now=now)

    def usage(
        self,
        tenant: TenantId | None = None,
        *,
        since: date | None = None,
        until: date | None = None,
    ) -> list[Usage]:
        """Per tenant, day, purpose and model, in that order; of one tenant, or of each.

        Args:
            since: the first day, in UTC.
            until: the last day.
        """
        place = (usage.c.tenant, usage.c.day, usage.c.purpose, usage.c.model)
        query = select(*place, usage.c.measure, func.sum(usage.c.amount).label("amount"))
        if tenant is not None:
            query = query.where(usage.c.tenant == tenant)
        if since is not None:
            query = query.where(usage.c.day >= since)
        if until is not None:
            query = query.where(usage.c.day <= until)
        query = query.group_by(*place, usage.c.measure).order_by(*place, usage.c.measure)
        with reading(self._engine, tenant or EVERY_TENANT) as connection:
            return _usages(connection.execute(query).all())


def _usages(rows: Sequence[Any]) -> list[Usage]:
    found: dict[tuple[str, date, str, str], dict[str, int]] = {}
    for row in rows:
        place = (row.tenant, row.day, row.purpose, row.model)
        found.setdefault(place, {})[row.measure] = int(row.amount)
    return [
        Usage(
            tenant=TenantId(tenant),
            day=day,
            purpose=purpose,
            model=model,
            refused={
                measure.removeprefix(_REFUSED): amount
                for measure, amount in measures.items()
                if measure.startswith(_REFUSED)
            },
            **{measure: measures.get(measure, 0) for measure in _COUNTS},
        )
        for (tenant, day, purpose, model), measures in found.items()
    ]
