"""Documents into memory: read from a file, sent as one conversation, found by their sections."""

import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import ConfigError, InputError
from serve.commands.ingest import read_as_document
from serve.formats.documents import read_document

MARA = "/v1/collections/mara"
REPORT = """\
---
title: Bridge report
date: 2025-02-03
---
# Bridge report

## Load tests

The north span carries forty tonnes. The south span carries thirty tonnes.

| Span | Limit |
|------|-------|
| North | 40 t |
| 南桥 | 30 t |

## 检查脚本

脚本每晚运行一次。

```python
def check(span: str) -> bool:
    return span in ("north", "south")
```
"""


def minimal_pdf(*lines: str) -> bytes:
    """A PDF of one page that shows the lines."""
    shown = "".join(f"({line}) Tj 0 -14 Td " for line in lines)
    stream = f"BT /F1 12 Tf 72 720 Td {shown}ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    trailer = b"trailer << /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return out + head + table + trailer + b"startxref\n%d\n%%%%EOF\n" % len(out)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    file = tmp_path / "report.md"
    file.write_text(REPORT, encoding="utf-8")
    return file


def stored(house: Any, file: Path) -> list[dict[str, Any]]:
    document = read_document(file)
    body = {"conversation": document.conversation, "messages": list(document.messages)}
    house.client.post(f"{MARA}/messages", json=body).raise_for_status()
    house.client.post(f"{MARA}/flush").raise_for_status()
    house.work()
    found: list[dict[str, Any]] = house.client.get(f"{MARA}/entries").json()["entries"]
    return found


def test_rows_code_and_summaries_are_entries_as_they_stand_with_their_section(
    house: Any, report: Path
) -> None:
    found = {entry["text"]: entry for entry in stored(house, report)}

    row = found["Bridge report > Load tests: Span: North; Limit: 40 t"]
    code = next(entry for text, entry in found.items() if "```" in text)
    summaries = [entry["text"] for entry in found.values() if entry["kind"] == "summary"]
    assert row["sources"][0]["section"] == "Bridge report > Load tests"
    assert row["sources"][0]["conversation"] == "report.md"
    assert row["said_at"] == "2025-02-03T00:00:00Z"
    assert "code: def check(span: str) -> bool\n```python\n" in code["text"].replace(
        "代码：", " code: "
    )
    assert 'return span in ("north", "south")' in code["text"]
    assert len(summaries) == 2
    assert any(text.endswith("脚本每晚运行一次。") for text in summaries)
    assert any("The north span carries forty tonnes." in text for text in found)


def test_a_section_is_a_filter_and_a_summary_a_kind(house: Any, report: Path) -> None:
    stored(house, report)

    def hits(**more: Any) -> list[str]:
        reply = house.client.post(f"{MARA}/search", json={"query": "span 脚本", **more})
        reply.raise_for_status()
        return [hit["entry"]["text"] for hit in reply.json()["hits"]]

    of_tests = hits(filter={"metadata.section": "Bridge report > Load tests"})
    assert of_tests
    assert not any("脚本" in text for text in of_tests)
    assert len(hits(kinds=["summary"])) == 2


def test_the_same_document_again_gives_the_same_ids(report: Path) -> None:
    first, again = read_document(report), read_document(report)

    assert first == again
    assert len({each["message_id"] for each in first.messages}) == len(first.messages)
    assert read_document(report, said_at="2020-01-01").messages[0]["said_at"] == "2020-01-01"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "第一章 山路\n\n他们清晨出发。"),
        ("b.html", "<h1>Ferries</h1><p>They run all night.</p>"),
        ("c.MD", "---\ntitle: x\ndate: soon\n---\nPlain."),
    ],
)
def test_each_form_is_told_by_the_ending_of_its_file(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")

    [thread] = read_as_document(file, collection="docs", said_at=None)

    assert (thread.collection, thread.conversation) == ("docs", name)
    assert all("said_at" not in each for each in thread.messages)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.docx", b"x", "expected a document"),
        ("a", b"x", "no ending"),
        ("a.md", b"# Only\n", "with text"),
        ("a.md", b"\xff\xfe", "UTF-8"),
    ],
)
def test_what_is_no_document_is_refused(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)

    with pytest.raises(InputError, match=told):
        read_as_document(file, collection=None, said_at=None)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        read_as_document(tmp_path / "no.md", collection=None, said_at=None)
    with pytest.raises(InputError, match="can be read"):
        read_document(tmp_path / "no.pdf")


def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    file = tmp_path / "kiln.pdf"
    file.write_bytes(minimal_pdf("The kiln was rebuilt", "in spring.", "It fires glazes."))

    found = read_document(file)

    assert found.messages[0]["content"] == "The kiln was rebuilt in spring.\nIt fires glazes."
    assert found.messages[0]["metadata"]["section"] == "p. 1"  # type: ignore[index,call-overload]


def test_a_broken_pdf_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    file = tmp_path / "kiln.pdf"
    file.write_bytes(b"%PDF-1.4\nnothing")

    with pytest.raises(InputError, match="expected a PDF"):
        read_document(file)


def test_a_pdf_without_the_extra_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    file = tmp_path / "kiln.pdf"
    file.write_bytes(b"%PDF-1.4")

    with pytest.raises(ConfigError, match=r"slowwave\[pdf\]"):
        read_document(file)
