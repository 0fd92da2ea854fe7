"""Questions on Chinese conversations, each answered by one of the first three hits."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from serve.client import Client
from serve.commands.ingest import Form, read_threads, send
from serve.commands.screen import Screen
from serve.local.temporary import service_in

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    # The service outlives the call that starts it, so its first process is not waited for.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
    pytest.mark.skipif(
        "SLOWWAVE_TEST_DATA" not in os.environ, reason="SLOWWAVE_TEST_DATA is not set"
    ),
]

SOLO = (
    ("用户一开始量出来的腰围是多少？", {"msg_017"}),
    ("用户为什么没能进故宫？", {"msg_011"}),
    ("医生对脚踝扭伤的具体诊断是什么？", {"msg_053"}),
    ("甘油三酯从多少降到了多少？", {"msg_083"}),
    ("用户2026年的体重目标是多少？", {"msg_103"}),
)
TEAM = (
    ("用的是哪个向量模型，topK是多少？", {"msg_0005"}),
    ("首次响应P95的指标定的是多少？", {"msg_0007"}),
    ("增量索引任务多久跑一次？", {"msg_0085"}),
    ("来源链接错位打算怎么解决？", {"msg_0102"}),
    ("slot清单里包括哪些字段？", {"msg_0053"}),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A service of the local profile that holds both conversations."""
    folder = Path(os.environ["SLOWWAVE_TEST_DATA"]) / "data"
    with service_in(tmp_path_factory.mktemp("chinese") / "home", say=print) as found:
        for name in ("solo", "team"):
            outgoing = read_threads(folder / f"{name}_chat_zh.json", Form.AUTO, collection=name)
            send(found, outgoing, screen=Screen(as_json=True), wait=True)
        yield found


@pytest.mark.parametrize(
    ("collection", "question", "answers"),
    [("solo", *each) for each in SOLO] + [("team", *each) for each in TEAM],
)
def test_a_question_is_answered_by_one_of_the_first_three_hits(
    client: Client, collection: str, question: str, answers: set[str]
) -> None:
    hits = client.search(collection, question, limit=3)

    shown = [[source["message_id"] for source in hit["entry"]["sources"]] for hit in hits]
    assert any(answers & set(sources) for sources in shown), [hit["entry"]["text"] for hit in hits]
