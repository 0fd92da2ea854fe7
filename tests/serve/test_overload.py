"""More requests than may wait: 429 with Retry-After, never another error and never a hang."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from serve.local.home import home_at
from serve.local.service import Plan, down, up

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.timeout(400),
    # The service outlives the call that starts it, so its first process is not waited for.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = home_at(tmp_path_factory.mktemp("home"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        plan = Plan(config=Path("busy.yaml"), models_dir=home.path, deployer="busy_deploy")
        yield up(home, plan, say=print).service.url
    down(home, say=print)


def storm(url: str, requests: int) -> list[httpx.Response]:
    limits = httpx.Limits(max_connections=requests)
    with (
        httpx.Client(trust_env=False, timeout=60, limits=limits) as client,
        ThreadPoolExecutor(requests) as pool,
    ):
        return list(pool.map(lambda _: client.get(url), range(requests)))


def test_an_ingress_that_is_full_refuses_with_a_time_to_come_back(url: str) -> None:
    replies = storm(f"{url}/hold", 60)

    refused = [reply for reply in replies if reply.status_code != 200]
    assert len(refused) < len(replies)
    assert {reply.status_code for reply in refused} == {429}
    assert {reply.headers["Retry-After"] for reply in refused} == {"1"}


def test_a_model_that_is_full_refuses_in_the_shape_of_every_error(url: str) -> None:
    replies = storm(f"{url}/embed", 8)

    refused = [reply for reply in replies if reply.status_code != 200]
    assert len(refused) < len(replies)
    assert {reply.status_code for reply in refused} == {429}
    assert {reply.headers["Retry-After"] for reply in refused} == {"1"}
    assert {reply.json()["error"]["field"] for reply in refused} == {"models"}
