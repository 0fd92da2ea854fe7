"""The stores before the first deployment."""

from pathlib import Path

from postgres_server import Database

from actors.records import open_records
from serve.deploy import prepare_stores
from serve.settings import AppSettings, StoreSettings


def test_the_owner_prepares_what_the_service_then_opens(database: Database, tmp_path: Path) -> None:
    stores = StoreSettings(records=database.url, records_owner=database.owner)
    settings = AppSettings(home=tmp_path / "home", models_dir=tmp_path, stores=stores)

    prepare_stores(settings)
    prepare_stores(settings)

    records = open_records(settings.records_url)
    assert records.tenants.tenants() == ["default"]
    records.close()
