"""A chat endpoint that is slow, fails and lies: nothing is lost, doubled or made up by it."""

import random
import time
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from chaos_clients import COLLECTION, Driver
from chaos_place import Place, Size, asking_chat, standing
from chaos_run import SEED, calm, check_same, driver_of, ended
from scripted_chat import (
    ENDLESS,
    FAILING,
    FULL,
    HANGING,
    Act,
    Script,
    fenced,
    invented,
    say,
    scripted_chat,
    truncated,
    untrue,
)

from pipeline.messages import TenantId
from pipeline.tenancy import QuarantineItem
from serve.client import Client

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    # The service outlives the call that starts it, so its first process is not waited for.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
]

SLOW = Act(seconds=1.0)
WELL = Act()
PHASES: dict[str, list[Act]] = {
    "slow": [SLOW],
    "failing": [FAILING, FULL, HANGING, Act(answers=False)],
    "down": [FAILING],
    "lying": [Act(says=invented), Act(says=untrue), say(""), say('{"items": null}'), ENDLESS],
    "moody": [WELL, WELL, Act(says=fenced), Act(says=truncated), FULL, FAILING, SLOW],
}
SMALL = Size(tenants=10, messages=200, kills=0)
LARGE = Size(tenants=40, messages=1_500, kills=0)
PHASE_S = 10.0


def test_an_endpoint_that_is_slow_fails_and_lies_loses_nothing_and_invents_nothing(
    tmp_path: Path, is_full: bool
) -> None:
    size = LARGE if is_full else SMALL

    with scripted_chat() as script:
        place = Place(tmp_path, asking_chat(script.url))
        with standing(place):
            before = calm(place, size)
            driver = driver_of(place, size, prefix="storm")
            began = time.monotonic()
            with ThreadPoolExecutor(1) as pool:
                speaking = pool.submit(driver.run)
                try:
                    _misbehave(script, driver, speaking)
                finally:
                    driver.allow(1.0)
                    script.acts, script.draw = [WELL], None
                speaking.result()
            recovered = time.monotonic()
            _settle(driver)
            held = _send_in_again(place, driver)
            run = ended(driver, began)
            print(
                f"endpoint asked {len(script.asked)} times, {len(held)} messages in quarantine and "
                f"sent in again, all there {time.monotonic() - recovered:.0f} s after it recovered"
            )

    check_same(run, before)
    assert all(item.reason for item in held)


def _misbehave(script: Script, driver: Driver, speaking: Future[None]) -> None:
    """Some more is said in each phase, while the one before may still be at work."""
    for number, (name, acts) in enumerate(PHASES.items(), start=1):
        asked = len(script.asked)
        script.acts, script.draw = acts, random.Random(SEED + number)
        driver.allow(number / len(PHASES))
        time.sleep(PHASE_S)
        print(f"  {name}: asked {len(script.asked) - asked} times", flush=True)
        if speaking.done():
            speaking.result()
        assert len(script.asked) > asked


def _settle(driver: Driver) -> None:
    """Returns when every message is extracted or in quarantine."""
    for wait in (False, True):
        for key in driver.keys.values():
            with Client(driver.url, key, attempts=20) as client:
                client.flush(COLLECTION, wait=wait)


def _send_in_again(place: Place, driver: Driver) -> list[QuarantineItem]:
    """What was given up on while the endpoint lied, each with its reason."""
    records, now = place.records(), datetime.now(UTC)
    held: list[QuarantineItem] = []
    for tenant in map(TenantId, driver.keys):
        while found := records.quarantine.items(tenant):
            for item in found:
                records.quarantine.retry(tenant, item.message.id, by="test", now=now)
            held += found
    records.close()
    return held
