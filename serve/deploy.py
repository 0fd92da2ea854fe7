"""Deploys the application on the Ray cluster that RAY_ADDRESS names, and prepares its stores.

Run as ``python -m serve.deploy CONFIG --home HOME --models-dir DIR --port PORT``; ends when the
application runs, or with exit code 1 and one line that says why it does not.
"""

import argparse
import os
import sys
from datetime import datetime
from pathlib import Path

import ray
import yaml
from ray import serve as ray_serve
from ray.serve.config import HTTPOptions

from actors.clock import SystemClock
from actors.records import Records, open_records
from pipeline.errors import ConfigError, SlowwaveError
from pipeline.messages import TenantId
from pipeline.tenancy import KeyScope
from serve.app import APP, build
from serve.index_actor import NAMESPACE, open_index
from serve.local.head import ADMIN_KEY
from serve.settings import AccessSettings, AppSettings, load

LOOPBACK = ("127.0.0.1", "localhost", "::1")
OPERATOR = "operator"
_SECRET_CHARS = 32


def prepare_stores(settings: AppSettings) -> None:
    """The home folder, the record store's newest schema and the default tenant."""
    settings.home.mkdir(parents=True, exist_ok=True)
    records = open_records(settings.records_url, owner=settings.stores.records_owner)
    now = SystemClock().now()
    records.tenants.ensure_tenant(TenantId(settings.access.default_tenant), now=now)
    let_operator_in(records, settings.access, secret=os.environ.get(ADMIN_KEY), now=now)
    check_model(records, settings.models.embedder)
    records.close()


def check_model(records: Records, embedder: str) -> None:
    """Raises ConfigError where the stored vectors are another model's: they would be noise."""
    stored = records.index_source.model()
    if stored not in (None, embedder):
        raise ConfigError(
            f"expected {stored}, whose vectors are stored here, got {embedder}",
            field="models.embedder",
        )


def let_operator_in(
    records: Records, access: AccessSettings, *, secret: str | None, now: datetime
) -> None:
    """Makes ``secret`` the one key of the label ``operator``, of the default tenant, every scope.

    The first key cannot come over the API, which asks for one; a secret of the environment is what
    orchestrators hand out and rotate anyway, and only its digest is stored. Another secret at the
    next start takes its place; none leaves the keys as they are.

    Raises:
        ConfigError: the secret is short, or keys are required and no operator would have one.
        Conflict: the secret was revoked before, or is another tenant's key.
    """
    if secret is None:
        if access.keys_required and not records.keys.has_operator(now=now):
            raise ConfigError(
                f"keys are required and no operator has one yet: set {ADMIN_KEY}", field=ADMIN_KEY
            )
        return
    if len(secret) < _SECRET_CHARS or not secret.isascii() or any(c.isspace() for c in secret):
        raise ConfigError(
            f"expected at least {_SECRET_CHARS} ASCII letters without spaces in {ADMIN_KEY}",
            field=ADMIN_KEY,
        )
    tenant = TenantId(access.default_tenant)
    scopes = list(KeyScope)
    records.keys.rotate(tenant, secret, label=OPERATOR, scopes=scopes, grace_s=0.0, now=now)


def wanted_host(config: Path, settings: AppSettings) -> str:
    """The address to bind to; loopback where the config names none.

    Raises:
        ConfigError: it is wider than loopback while callers need no key.
    """
    options = yaml.safe_load(config.read_text(encoding="utf-8")).get("http_options") or {}
    host = str(options.get("host", "127.0.0.1"))
    if host not in LOOPBACK and not settings.access.keys_required:
        raise ConfigError(
            f"expected loopback ({', '.join(LOOPBACK)}) while no key is required, got {host}",
            field="http_options.host",
        )
    return host


def main(config: Path, *, home: Path, models_dir: Path, port: int) -> None:
    """Deploys and returns when every deployment runs. Raises SlowwaveError or RuntimeError."""
    settings = load(config, home=home, models_dir=models_dir)
    host = wanted_host(config, settings)
    prepare_stores(settings)
    ray.init(namespace=NAMESPACE, log_to_driver=False)
    ray_serve.start(proxy_location="HeadOnly", http_options=HTTPOptions(host=host, port=port))
    ray_serve.run(build(settings), name=APP, route_prefix="/")
    embedder = ray_serve.get_deployment_handle("Embedder", app_name=APP)
    open_index(settings, dim=embedder.width.remote().result()).opened()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m serve.deploy", description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--models-dir", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    try:
        main(given.config, home=given.home, models_dir=given.models_dir, port=given.port)
    except (SlowwaveError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
