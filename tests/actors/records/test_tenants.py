"""Who may come in, and as whom."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from actors.records import Records, open_records
from actors.records.engine import EVERY_TENANT, reading
from pipeline.errors import AccessError, Conflict, InputError, NotFound
from pipeline.messages import TenantId

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
ACME = TenantId("acme")


@pytest.fixture
def records(records_url: str) -> Iterator[Records]:
    stores = open_records(records_url)
    stores.tenants.ensure_tenant(ACME, NOON)
    yield stores
    stores.close()


def test_a_tenant_is_made_once(records: Records) -> None:
    records.tenants.ensure_tenant(ACME, NOON + timedelta(days=1))
    records.tenants.ensure_tenant(TenantId("Åse & 公司"), NOON)

    assert records.tenants.tenants() == ["acme", "Åse & 公司"]


@pytest.mark.parametrize("name", ["*", ""])
def test_no_tenant_is_named_as_all_or_none_of_them(records: Records, name: str) -> None:
    with pytest.raises(InputError) as refusal:
        records.tenants.ensure_tenant(TenantId(name), NOON)

    assert refusal.value.field == "tenant"


def test_a_key_acts_for_its_tenant_within_its_scopes(records: Records) -> None:
    records.tenants.add_key(ACME, "sw-key", scopes=["read", "write"], now=NOON)

    found = records.tenants.tenant_of_key("sw-key", now=NOON)

    assert found == (ACME, frozenset({"read", "write"}))


def test_a_key_itself_is_never_stored(records: Records) -> None:
    records.tenants.add_key(ACME, "sw-key", scopes=[], now=NOON)

    with reading(records.engine, EVERY_TENANT) as connection:
        [row] = connection.execute(text("SELECT * FROM keys")).all()
    assert "sw-key" not in repr(row)


def test_an_unknown_revoked_or_expired_key_is_refused(records: Records) -> None:
    records.tenants.add_key(ACME, "revoked", scopes=[], now=NOON)
    records.tenants.add_key(ACME, "expired", scopes=[], now=NOON, expires_at=NOON)
    records.tenants.revoke_key(ACME, "revoked", now=NOON)
    records.tenants.revoke_key(ACME, "revoked", now=NOON)

    for key in ("unknown", "revoked", "expired"):
        with pytest.raises(AccessError):
            records.tenants.tenant_of_key(key, now=NOON)


def test_a_key_belongs_to_one_tenant(records: Records) -> None:
    records.tenants.ensure_tenant(TenantId("globex"), NOON)
    records.tenants.add_key(ACME, "sw-key", scopes=[], now=NOON)

    with pytest.raises(Conflict):
        records.tenants.add_key(TenantId("globex"), "sw-key", scopes=[], now=NOON)
    with pytest.raises(NotFound):
        records.tenants.add_key(TenantId("nobody"), "other", scopes=[], now=NOON)
