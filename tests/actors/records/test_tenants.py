"""Who may come in, and as whom."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from actors.records import Records, open_records
from actors.records.engine import EVERY_TENANT, reading
from pipeline.errors import AccessError, Conflict, InputError, NotFound
from pipeline.messages import TenantId
from pipeline.tenancy import KeyScope

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
    records.tenants.ensure_tenant(TenantId("globex-2"), NOON)

    assert records.tenants.tenants() == ["acme", "globex-2"]


@pytest.mark.parametrize("name", ["*", ""])
def test_no_tenant_is_named_as_all_or_none_of_them(records: Records, name: str) -> None:
    with pytest.raises(InputError) as refusal:
        records.tenants.ensure_tenant(TenantId(name), NOON)

    assert refusal.value.field == "name"


def test_a_key_acts_for_its_tenant_within_its_scopes(records: Records) -> None:
    records.keys.add(ACME, "sw-key", scopes=[KeyScope.READ, KeyScope.SLEEP], now=NOON)

    found = records.keys.grant("sw-key")

    assert found.tenant == ACME
    assert found.key is not None
    assert found.key.scopes == {KeyScope.READ, KeyScope.SLEEP}


def test_a_key_itself_is_never_stored(records: Records) -> None:
    records.keys.add(ACME, "sw-key", scopes=[], now=NOON)

    with reading(records.engine, EVERY_TENANT) as connection:
        [row] = connection.execute(text("SELECT * FROM keys")).all()
    assert "sw-key" not in repr(row)


def test_an_unknown_or_revoked_key_is_refused(records: Records) -> None:
    records.keys.add(ACME, "revoked", scopes=[], now=NOON)
    records.keys.revoke(ACME, "revoked", now=NOON)
    records.keys.revoke(ACME, "revoked", now=NOON)

    for key in ("unknown", "revoked"):
        with pytest.raises(AccessError):
            records.keys.grant(key)


def test_a_key_belongs_to_one_tenant(records: Records) -> None:
    records.tenants.ensure_tenant(TenantId("globex"), NOON)
    records.keys.add(ACME, "sw-key", scopes=[], now=NOON)

    with pytest.raises(Conflict):
        records.keys.add(TenantId("globex"), "sw-key", scopes=[], now=NOON)
    with pytest.raises(NotFound):
        records.keys.add(TenantId("nobody"), "other", scopes=[], now=NOON)
