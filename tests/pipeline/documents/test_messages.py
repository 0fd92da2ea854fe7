"""A document as messages, what of them is a statement already, signatures and summaries."""

from datetime import UTC, datetime

import pytest

from pipeline.documents.given import given, section_of
from pipeline.documents.markdown import read_markdown
from pipeline.documents.messages import PIECE_CHARS, ROWS_PER_MESSAGE, Piece, pieces
from pipeline.documents.signature import signature
from pipeline.documents.summary import MOST_CHARS, summary
from pipeline.entries import Kind
from pipeline.ids import MessageId, SegmentId
from pipeline.messages import Batch, Json, Message, Role, Scope, Segment, TenantId

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
GUIDE = """\
# Relay

## 部署

部署需要两台机器。主机负责写入。备机只读。

| 机器 | 端口 |
|---|---|
| 主机 | 5432 |
|  | 5433 |

## Code

```python
def send(message: str) -> bool:
    return True
```
"""


def told(text: str) -> list[tuple[str, str, str]]:
    return [
        (str(one.metadata["part"]), str(one.metadata["section"]), one.content)
        for one in pieces(read_markdown(text, title="relay"))
    ]


def message(piece: Piece, place: int, **more: Json) -> Message:
    return Message(
        id=MessageId(f"m{place}"),
        sequence=place + 1,
        conversation="relay.md",
        role=Role.USER,
        speaker="Relay",
        content=piece.content,
        said_at=NOON,
        accepted_at=NOON,
        metadata={**piece.metadata, **more},
    )


def batch(messages: list[Message]) -> Batch:
    segment = Segment(
        id=SegmentId("s"), conversation="relay.md", topic="t", messages=tuple(messages)
    )
    return Batch(scope=Scope(tenant=TenantId("acme"), collection="docs"), segments=(segment,))


def test_a_document_becomes_messages_with_the_path_of_their_section() -> None:
    assert told(GUIDE) == [
        ("prose", "Relay > 部署", "部署需要两台机器。主机负责写入。备机只读。"),
        ("rows", "Relay > 部署", "Relay > 部署：机器: 主机; 端口: 5432\nRelay > 部署：端口: 5433"),
        ("summary", "Relay > 部署", "Relay > 部署：部署需要两台机器。主机负责写入。备机只读。"),
        (
            "code",
            "Relay > Code",
            "Relay > Code: python code: def send(message: str) -> bool\n"
            "```python\ndef send(message: str) -> bool:\n    return True\n```",
        ),
    ]


def test_ids_depend_on_what_is_said_and_where_and_repeats_have_their_own() -> None:
    twice = "# A\n\nSame.\n\n```\nx\n```\n\n```\nx\n```\n"

    first = [one.id for one in pieces(read_markdown(twice, title="t"))]
    again = [one.id for one in pieces(read_markdown(f"{twice}\n# B\n\nMore.", title="t"))]

    assert len(set(first)) == len(first) == 4
    assert set(first) <= {one.id for one in pieces(read_markdown(twice, title="t"))}
    assert again != first


def test_long_prose_is_cut_between_paragraphs_and_long_tables_between_rows() -> None:
    paragraphs = "\n\n".join(["word " * 150] * 4)
    table = "| n |\n|---|\n" + "\n".join(f"| {n} |" for n in range(ROWS_PER_MESSAGE + 1))

    parts = [part for part, _, _ in told(f"{paragraphs}\n\n{table}")]
    contents = [content for part, _, content in told(paragraphs) if part == "prose"]

    assert parts.count("rows") == 2
    assert len(contents) == 2
    assert max(map(len, contents)) <= PIECE_CHARS + 10


def test_a_table_of_one_row_is_told_without_names() -> None:
    assert told("| a | b |\n|---|---|\n")[0] == ("rows", "relay", "relay: a; b")


def test_code_that_holds_fences_keeps_them() -> None:
    [(part, _, content)] = told("# 代码\n\n~~~~md\n```\nx\n```\n~~~~\n")

    assert part == "code"
    assert content == "代码：md代码：```\n~~~~md\n```\nx\n```\n~~~~"


def test_rows_code_and_summaries_are_statements_as_they_are_and_prose_is_left() -> None:
    messages = [
        message(one, place) for place, one in enumerate(pieces(read_markdown(GUIDE, title="x")))
    ]

    found, rest = given(batch(messages), roles=[Role.USER])

    assert [(one.kind, one.ordinal, one.sources) for one in found] == [
        (Kind.FACT, 0, ("m1",)),
        (Kind.FACT, 1, ("m1",)),
        (Kind.SUMMARY, 0, ("m2",)),
        (Kind.FACT, 0, ("m3",)),
    ]
    assert found[0].text == "Relay > 部署：机器: 主机; 端口: 5432"
    assert (found[0].language, found[3].language) == ("zh", "en")
    assert found[3].text.endswith("return True\n```")
    assert rest is not None
    assert [one.id for one in rest.messages] == ["m0"]
    assert {section_of(one) for one in messages} == {"Relay > 部署", "Relay > Code"}


def test_nothing_is_left_of_a_batch_of_such_messages_and_roles_not_asked_give_nothing() -> None:
    rows = message(pieces(read_markdown(GUIDE, title="x"))[1], 0)

    assert given(batch([rows]), roles=[Role.ASSISTANT]) == ([], None)


@pytest.mark.parametrize("metadata", [{}, {"part": "rows"}, {"document": "x", "part": ["rows"]}])
def test_other_messages_are_left_as_they_are(metadata: dict[str, Json]) -> None:
    plain = message(Piece(id="p", content="Hello", metadata=metadata), 0)

    assert given(batch([plain]), roles=[Role.USER]) == ([], batch([plain]))
    assert section_of(plain) is None


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("import os\n\nclass Kiln(Oven):\n  def heat(self, to):\n    pass", None),
        ("export async function load(path) {}", "export async function load(path)"),
        ("pub fn add(a: i32) -> i32 { a }", "pub fn add(a: i32) -> i32"),
        ("func (s *Shop) Open(day int) error {", "func (s *Shop) Open(day int) error"),
        ("public static int sum(int a) {\n}", "public static int sum(int a)"),
        ("CREATE TABLE teas (id int);", "CREATE TABLE teas"),
        ("const boil = (water) => water", "const boil"),
        ("# 说明\nmake 茶", "make 茶"),
        ("# only a remark", "# only a remark"),
    ],
)
def test_code_is_described_by_what_it_defines(code: str, shown: str | None) -> None:
    assert signature(code) == (shown or "class Kiln(Oven); def heat(self, to)")


def test_only_the_first_definitions_are_named() -> None:
    code = "\n".join(f"def f{n}(): ..." for n in range(6))

    assert signature(code) == "def f0(); def f1(); def f2(); def f3(); …"


def test_a_summary_is_the_sentences_that_share_the_most_in_their_order() -> None:
    text = (
        "The kiln fires glazes at cone six. Cats slept. The glaze on the kiln shelf cracked. "
        "It was Tuesday. A cracked glaze in the kiln needs a slower cone six firing."
    )

    assert summary([text]) == (
        "The kiln fires glazes at cone six. The glaze on the kiln shelf cracked. "
        "A cracked glaze in the kiln needs a slower cone six firing."
    )


def test_a_chinese_summary_keeps_its_marks() -> None:
    texts = ["- 茶园在杭州\n- 天气不错", "茶园每年春天采茶。杭州的茶园产龙井茶。"]

    assert summary(texts) == "茶园在杭州。茶园每年春天采茶。杭州的茶园产龙井茶。"


def test_a_summary_is_short_even_of_one_endless_sentence() -> None:
    assert len(summary(["word " * 400])) == MOST_CHARS
    assert summary(["```\ncode\n```"]) == ""
    assert summary(["…"]) in ("", "…")
