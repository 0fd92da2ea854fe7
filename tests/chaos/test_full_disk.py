"""A disk without room: what cannot be kept is refused, what was acknowledged stays."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from chaos_clients import COLLECTION, Driver
from chaos_disk import fill, small_disk
from chaos_place import Place, Size, stand_ins, standing
from chaos_run import driver_of, ended

from serve.client import Client
from serve.local.service import recorded

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    # The service outlives the call that starts it, so its first process is not waited for.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
]

SIZE = Size(tenants=10, messages=200, kills=0)
PAGE = "x" * 100_000


@pytest.fixture
def place(tmp_path: Path, is_full: bool) -> Iterator[Place]:
    if not is_full:
        pytest.skip("only in the full suite")
    with small_disk(tmp_path, mebibytes=160) as disk:
        place = Place(tmp_path, stand_ins(), home=disk / "home")
        with standing(place):
            yield place


def post(driver: Driver, key: str) -> httpx.Response:
    """A long message of a collection that is not part of the script."""
    headers = {"Authorization": f"Bearer {driver.keys['disk-0']}", "Idempotency-Key": key}
    body = {"messages": [{"role": "user", "content": PAGE, "message_id": key}]}
    url = f"{driver.url}/v1/collections/long/messages"
    return httpx.post(url, json=body, headers=headers, timeout=60, trust_env=False)


def until_refused(driver: Driver, kept: list[str]) -> httpx.Response:
    """The first reply that is no acknowledgement; ``kept`` grows by those that were before."""
    while True:
        reply = post(driver, f"long-{len(kept)}")
        if reply.status_code != 202:
            return reply
        kept.append(f"long-{len(kept)}")


def long_messages(driver: Driver) -> list[str]:
    with Client(driver.url, driver.keys["disk-0"], attempts=20) as client:
        return [str(each["message_id"]) for each in client.messages("long", limit=1_000)]


def test_a_full_disk_loses_nothing_and_the_service_goes_on_when_there_is_room(
    place: Place,
) -> None:
    driver = driver_of(place, SIZE, prefix="disk")
    began = time.monotonic()
    service = recorded(place.home)

    assert post(driver, "long-0").status_code == 202
    kept = ["long-0"]

    with ThreadPoolExecutor(1) as pool:
        speaking = pool.submit(driver.run)
        driver.allow(0.4)
        while len(driver.acknowledged) < 0.3 * SIZE.messages:
            time.sleep(0.1)
        filler = fill(place.home.path.parent)
        try:
            refused = until_refused(driver, kept)
            driver.allow(0.8)
            time.sleep(10)
            while_full = dict(driver.refused)
            there = long_messages(driver)
        finally:
            filler.unlink()
            driver.allow(1.0)
        speaking.result()
    run = ended(driver, began)

    print(f"\nfull disk, acknowledged until then: {len(kept)}; {refused.status_code}, then: {run}")
    assert refused.status_code == 503
    assert int(refused.headers["Retry-After"]) >= 1
    assert set(while_full) == {"503"}
    assert there == kept
    assert post(driver, f"long-{len(kept)}").status_code == 202
    assert long_messages(driver) == [*kept, f"long-{len(kept)}"]
    assert recorded(place.home) == service
    with Client(driver.url, driver.keys["disk-0"]) as client:
        assert client.search(COLLECTION, "kettle")
