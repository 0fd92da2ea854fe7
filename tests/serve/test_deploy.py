"""What a start refuses, and how the first operator comes in."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from postgres_server import Database

from actors.records import Records, open_records
from pipeline.errors import AccessError, ConfigError, Conflict
from pipeline.messages import TenantId
from pipeline.tenancy import KeyScope
from serve.deploy import check_model, let_operator_in, prepare_stores, wanted_host
from serve.local.head import environment
from serve.local.home import home_at
from serve.local.ports import choose
from serve.settings import AccessSettings, AppSettings, StoreSettings

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
OPEN, CLOSED = AccessSettings(keys_required=False), AccessSettings(keys_required=True)
FIRST, SECOND = "first-secret-of-the-operator-0001", "second-secret-of-the-operator-002"


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    stores = open_records(f"sqlite:///{tmp_path}/records.db")
    stores.tenants.ensure_tenant(TenantId("default"), NOON)
    yield stores
    stores.close()


def settings(folder: Path, access: AccessSettings) -> AppSettings:
    return AppSettings(home=folder, models_dir=folder, access=access)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_a_wide_address_needs_keys(tmp_path: Path, host: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(f"http_options:\n  host: '{host}'\n", encoding="utf-8")

    with pytest.raises(ConfigError) as refused:
        wanted_host(config, settings(tmp_path, OPEN))

    assert refused.value.field == "http_options.host"
    assert wanted_host(config, settings(tmp_path, CLOSED)) == host


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", None])
def test_loopback_needs_none_and_is_the_default(tmp_path: Path, host: str | None) -> None:
    config = tmp_path / "config.yaml"
    line = f"http_options:\n  host: '{host}'\n" if host else "applications: []\n"
    config.write_text(line, encoding="utf-8")

    assert wanted_host(config, settings(tmp_path, OPEN)) == (host or "127.0.0.1")


def test_a_start_that_would_let_nobody_in_is_refused(records: Records) -> None:
    let_operator_in(records, OPEN, secret=None, now=NOON)
    with pytest.raises(ConfigError) as refused:
        let_operator_in(records, CLOSED, secret=None, now=NOON)

    assert refused.value.field == "SLOWWAVE_ADMIN_KEY"


def test_the_secret_of_the_environment_is_the_operators_key(records: Records) -> None:
    let_operator_in(records, CLOSED, secret=FIRST, now=NOON)
    let_operator_in(records, CLOSED, secret=FIRST, now=NOON)
    let_operator_in(records, CLOSED, secret=None, now=NOON)

    grant = records.keys.grant(FIRST)
    assert grant.tenant == "default"
    assert grant.key is not None
    assert grant.key.scopes == frozenset(KeyScope)


def test_another_secret_takes_its_place_for_good(records: Records) -> None:
    let_operator_in(records, CLOSED, secret=FIRST, now=NOON)
    let_operator_in(records, CLOSED, secret=SECOND, now=NOON)

    with pytest.raises(AccessError):
        records.keys.grant(FIRST)
    with pytest.raises(Conflict):
        let_operator_in(records, CLOSED, secret=FIRST, now=NOON)
    assert records.keys.grant(SECOND).tenant == "default"


@pytest.mark.parametrize("secret", ["", "short", "a" * 31, "a " * 20, "密" * 40])
def test_a_secret_that_could_be_guessed_or_not_sent_is_refused(
    records: Records, secret: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        let_operator_in(records, CLOSED, secret=secret, now=NOON)

    assert not secret or secret not in str(refused.value)


def test_no_process_of_ray_is_given_the_secrets(tmp_path: Path) -> None:
    mine = {"SLOWWAVE_ADMIN_KEY": FIRST, "SLOWWAVE_API_KEY": SECOND, "LANG": "C"}

    home = home_at(tmp_path)
    home.prepare()
    home.prepare_start()

    given = environment(home, choose(), mine)
    shutil.rmtree(home.runtime)

    assert given["LANG"] == "C"
    assert not {FIRST, SECOND} & set(given.values())


def test_a_store_with_vectors_of_another_model_is_refused_by_name(house: Any) -> None:
    check_model(house.records, "any-model")
    said = {"role": "user", "speaker": "Mara", "content": "玛拉住在里斯本。我们很喜欢那里。"}
    house.client.post("/v1/collections/mara/messages", json={"messages": [said]})
    house.client.post("/v1/collections/mara/flush")
    house.work()

    check_model(house.records, house.embedder.model)
    with pytest.raises(ConfigError, match=house.embedder.model) as refused:
        check_model(house.records, "other-model")

    assert refused.value.field == "models.embedder"


def test_the_owner_prepares_what_the_service_then_opens(database: Database, tmp_path: Path) -> None:
    stores = StoreSettings(records=database.url, records_owner=database.owner)
    settings = AppSettings(home=tmp_path / "home", models_dir=tmp_path, stores=stores, access=OPEN)

    prepare_stores(settings)
    prepare_stores(settings)

    records = open_records(settings.records_url)
    assert records.tenants.tenants() == ["default"]
    records.close()
