"""A decider that asks the deployed chat model from a job's worker, as a sleep run does."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import ray
from ray import cloudpickle
from ray import serve as ray_serve
from telling import NOON, remember, texts

from actors.fakes import FixedClock
from actors.records import migrate, open_records
from pipeline.messages import Scope, TenantId
from pipeline.settings import ConsolidationSettings
from serve.chat import Chat
from serve.runner import open_decider
from serve.settings import AppSettings, parse
from serve.sleep_stages import Decided, Part, invert, link, read

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

HARBOUR = Scope(tenant=TenantId("acme"), collection="harbour")


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[AppSettings]:
    """A record store with two entries, and ``Chat`` deployed with a stand-in."""
    found = parse(
        {
            "home": tmp_path,
            "models_dir": tmp_path,
            "models": {"decider": "chat", "embedder": "tiny"},
            "chat": {"model": "fake"},
            "consolidation": {"min_similarity": 0.5},
        }
    )
    migrate(found.records_url)
    records = open_records(found.records_url)
    records.tenants.ensure_tenant(HARBOUR.tenant, NOON)
    remember(records, HARBOUR, "Ida has a boat.", "Ida's boat is red.", "Ida's boat leaks.")
    records.close()
    folder = tempfile.mkdtemp(prefix="sw-")  # Ray's sockets need a short path
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        cloudpickle.register_pickle_by_value(sys.modules[__name__])
        ray.init(
            address="local",
            num_cpus=8,
            include_dashboard=False,
            _temp_dir=folder,
            log_to_driver=False,
        )
        chat = ray_serve.deployment(name="Chat", ray_actor_options={"num_cpus": 0.1})(Chat)
        bound = chat.bind(settings=found.chat, models_dir=tmp_path)
        ray_serve.run(bound, name="slowwave", route_prefix=None)
        yield found
        ray_serve.shutdown()
        ray.shutdown()
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    shutil.rmtree(folder, ignore_errors=True)


@ray.remote(num_cpus=0.1)
def decided(settings: AppSettings) -> list[Decided]:
    """What a worker of the decide stage makes of the harbour."""
    from serve.sleep_deciding import Deciding

    store = open_records(settings.records_url).sleep
    parts = [one for one in read(store, HARBOUR, model="tiny") if isinstance(one, Part)]
    numbers = ConsolidationSettings()
    chunks = invert([link(one, settings=numbers, min_similarity=0.5) for one in parts])
    clock = FixedClock(datetime(2024, 3, 2, tzinfo=UTC))
    deciding = Deciding(store=store, decider=open_decider(settings), clock=clock)
    return deciding.decide_all(chunks)


def test_a_worker_asks_the_deployed_chat_model_and_books_what_it_took(
    settings: AppSettings,
) -> None:
    [chunk] = ray.get(decided.remote(settings))

    assert [item.failure for item in chunk.items] == [None, None]
    assert {item.decider for item in chunk.items} == {"chat/fake/1"}
    assert chunk.model_calls == 2
    records = open_records(settings.records_url)
    [usage] = records.usage.usage(HARBOUR.tenant)
    assert (usage.purpose, usage.model, usage.calls) == ("decide", "fake", 2)
    assert usage.tokens_in + usage.tokens_out == chunk.tokens
    assert len(texts(records, HARBOUR)) == 3
    records.close()
