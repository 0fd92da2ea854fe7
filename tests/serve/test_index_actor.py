"""The embedded index behind its actor: a start that failed is tried again by whoever asks next."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

from actors.index_edge import EdgeIndex
from actors.index_paths import folders_set_aside
from actors.records import migrate
from pipeline.errors import StoreError
from serve.index_actor import NAMESPACE, ActorIndex

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    folder = tempfile.mkdtemp(prefix="sw-")  # Ray's sockets need a short path
    ray.init(
        address="local",
        num_cpus=2,
        namespace=NAMESPACE,
        include_dashboard=False,
        _temp_dir=folder,
        log_to_driver=False,
    )
    yield
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


async def count_or_refusal(index: ActorIndex) -> int | str:
    try:
        return await index.count()
    except StoreError as error:
        return error.message


@pytest.mark.usefixtures("cluster")
def test_an_index_whose_start_failed_answers_once_its_folder_can_be_used(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'records.sqlite'}"
    migrate(url)
    folder = tmp_path / "index"
    folder.write_text("在这里的不是文件夹")
    index = ActorIndex(folder=folder, dim=4, records_url=url)

    async def ask() -> list[int | str]:
        before = await count_or_refusal(index)
        folder.unlink()
        after = [await count_or_refusal(index) for _ in range(2)]
        return [before, *after]

    before, *after = asyncio.run(ask())

    assert "does not answer" in str(before)
    assert after[-1] == 0


@pytest.mark.usefixtures("cluster")
def test_an_index_whose_files_are_noise_begins_anew_and_answers(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'records.sqlite'}"
    migrate(url)
    folder = tmp_path / "index"
    EdgeIndex(folder, dim=4).close()
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(b"\xa5\x5a" * max(1, path.stat().st_size // 2))

    index = ActorIndex(folder=folder, dim=4, records_url=url)
    index.opened()

    assert asyncio.run(index.count()) == 0
    assert len(folders_set_aside(folder)) == 1
