"""Which service a command speaks to: ``SLOWWAVE_URL``, or the local one of ``SLOWWAVE_HOME``."""

import os

from pipeline.errors import StoreError
from serve.client import Client
from serve.local.home import Home, current_home
from serve.local.service import recorded, stands
from serve.operator_client import Operator


def service_url(home: Home) -> str:
    """The address of the service.

    Raises:
        StoreError: none is named and none runs for this home.
    """
    named = os.environ.get("SLOWWAVE_URL")
    if named:
        return named.rstrip("/")
    service = recorded(home)
    if service is None or not stands(service):
        raise StoreError(f"No Slowwave service runs for {home.path}; start one with `slowwave up`.")
    return service.url


def connect(home: Home | None = None) -> Client:
    """A client of that service, with the key in ``SLOWWAVE_API_KEY`` if there is one."""
    return Client(service_url(home or current_home()), os.environ.get("SLOWWAVE_API_KEY"))


def connect_operator(home: Home | None = None) -> Operator:
    """The same, with the calls of operators and of those who look after a tenant."""
    return Operator(service_url(home or current_home()), os.environ.get("SLOWWAVE_API_KEY"))
