"""What every table shares: the names of constraints, and whose a row is.

A tenant is named by its name, a collection by (tenant, name), so every row carries its scope.
"""

from sqlalchemy import (
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    MetaData,
    Text,
)

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def of_tenant() -> Column[str]:
    return Column("tenant", Text, ForeignKey("tenants.name"), primary_key=True)


def of_scope(*keys: str) -> tuple[Column[str], Column[str], ForeignKeyConstraint]:
    """The collection that a row belongs to; ``keys`` are those of the two that begin its key."""
    return (
        Column("tenant", Text, primary_key="tenant" in keys, nullable=False),
        Column("collection", Text, primary_key="collection" in keys, nullable=False),
        ForeignKeyConstraint(["tenant", "collection"], ["collections.tenant", "collections.name"]),
    )
