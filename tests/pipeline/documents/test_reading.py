"""Markdown, plain text, HTML and pages to sections, in English and Chinese."""

import pytest

from pipeline.documents.html import read_html
from pipeline.documents.markdown import read_markdown, read_plain
from pipeline.documents.pages import read_pages
from pipeline.documents.parts import Block, Code, Document, Outline, Prose, Rows

KILN = """\
# Kiln manual

Read this before firing.

## Schedule ##

| Cone | Peak | Note |
|:-----|-----:|------|
| 06   | 999 C | a \\| b |
| 6 | 1222 C |

Hold for ten minutes.

### Script

```python
# not a heading
def ramp(start: int) -> int:
    return start + 5
```
"""
TEA = """\
---
title: 茶园手册
date: 2025-03-01
---
# 采摘

春茶在清明前采摘。每天早上六点开始。

## 价格

等级 | 单价
---|---
特级 | 800元
一级 | 300元

~~~
称重 --单位 克
"""


def found(document: Document) -> list[tuple[tuple[str, ...], list[Block]]]:
    return [(section.path, list(section.blocks)) for section in document.sections]


def test_markdown_is_read_by_headings_tables_and_code() -> None:
    document = read_markdown(KILN, title="kiln")

    assert document.title == "Kiln manual"
    assert found(document) == [
        (("Kiln manual",), [Prose("Read this before firing.")]),
        (
            ("Kiln manual", "Schedule"),
            [
                Rows(("Cone", "Peak", "Note"), (("06", "999 C", "a | b"), ("6", "1222 C"))),
                Prose("Hold for ten minutes."),
            ],
        ),
        (
            ("Kiln manual", "Schedule", "Script"),
            [Code("# not a heading\ndef ramp(start: int) -> int:\n    return start + 5", "python")],
        ),
    ]


def test_front_matter_gives_the_title_and_the_time_and_an_open_fence_ends_with_the_text() -> None:
    document = read_markdown(TEA, title="tea")

    assert (document.title, document.written) == ("茶园手册", "2025-03-01")
    assert found(document) == [
        ((), [Rows(("title", "date"), (("茶园手册", "2025-03-01"),))]),
        (("采摘",), [Prose("春茶在清明前采摘。每天早上六点开始。")]),
        (
            ("采摘", "价格"),
            [
                Rows(("等级", "单价"), (("特级", "800元"), ("一级", "300元"))),
                Code("称重 --单位 克"),
            ],
        ),
    ]


@pytest.mark.parametrize("text", ["---\nno pair\n---\nText.", "---\n\n---\nText.", "---\nText."])
def test_rules_around_anything_else_are_no_front_matter(text: str) -> None:
    assert read_markdown(text, title="t").written is None


def test_a_line_with_a_rule_under_it_is_a_heading_and_a_rule_alone_is_not() -> None:
    text = "Wells\n=====\n\nDeep.\n\nNorth\n-----\nCold water.\n\n- item\n---\nEnd."

    document = read_markdown(text, title="t")

    assert found(document) == [
        (("Wells",), [Prose("Deep.")]),
        (("Wells", "North"), [Prose("Cold water.\n\n- item\n---\nEnd.")]),
    ]


def test_empty_documents_and_blocks_have_no_sections() -> None:
    assert read_markdown("\n\n# Alone\n\n```\n```\n", title="t").sections == ()
    assert read_markdown("", title="t").title == "t"


def test_plain_text_has_chapters_by_number_and_no_marks() -> None:
    text = (
        "第一章 山路\n\n他们清晨出发。\n\n第二节 河边\n\n# 不是标题\n\n"
        "2. Results\n\nIt rained.\n\n2.1 Rain\n\nTen days.\n\n3 apples were left.\n"
    )

    assert found(read_plain(text, title="t")) == [
        (("第一章 山路",), [Prose("他们清晨出发。")]),
        (("第一章 山路", "第二节 河边"), [Prose("# 不是标题")]),
        (("2. Results",), [Prose("It rained.")]),
        (("2. Results", "2.1 Rain"), [Prose("Ten days.\n\n3 apples were left.")]),
    ]


def test_html_is_read_by_what_it_shows() -> None:
    page = """<!doctype html><html><head><title>Night  ferries</title>
    <meta name="date" content="2024-11-02"><style>p {color: red}</style></head><body>
    <nav><p>Home</p></nav><h1>Ferries</h1><p>They run <b>all</b> night&nbsp;long.<br>Every hour.</p>
    <ul><li>Red line<li>蓝线</ul><script>var x = "<p>no</p>"</script>
    <h2>票价</h2><table><tr><th>船</th><th>价格</th></tr><tr><td>甲 <i>号</i></td><td>20元</td></tr>
    <tr><td></td></tr></table>
    <pre><code class="x language-sh">ferry --book
  now</code></pre><pre></pre><p>Bring a <img src=x> coat."""

    document = read_html(page, title="t")

    assert (document.title, document.written) == ("Night ferries", "2024-11-02")
    assert found(document) == [
        (
            ("Ferries",),
            [Prose("They run all night long.\nEvery hour."), Prose("- Red line\n- 蓝线")],
        ),
        (
            ("Ferries", "票价"),
            [
                Rows(("船", "价格"), (("甲 号", "20元"),)),
                Code("ferry --book\n  now", "sh"),
                Prose("Bring a coat."),
            ],
        ),
    ]


@pytest.mark.parametrize(
    ("page", "blocks"),
    [
        ("<pre>open", [Code("open")]),
        ("<table></table><td>loose</td>", [Prose("loose")]),
        ("text<p>more</p>", [Prose("text"), Prose("more")]),
        ("<meta name=date><template>x</template>y", [Prose("y")]),
        ("<table><tr><td>a<p>b</p></td></tr></table>", [Rows(("a b",), ())]),
        ("", []),
    ],
)
def test_broken_html_loses_nothing(page: str, blocks: list[Block]) -> None:
    sections = read_html(page, title="t").sections

    assert [block for section in sections for block in section.blocks] == blocks


def test_pages_without_headings_are_sections_and_broken_lines_are_put_together() -> None:
    pages = ["The kiln was re-\nbuilt in\nspring.\n- one", "", "王芳住在\n杭州。"]

    assert found(read_pages(pages, title="t")) == [
        (("p. 1",), [Prose("The kiln was rebuilt in spring.\n- one")]),
        (("p. 3",), [Prose("王芳住在杭州。")]),
    ]


def test_pages_with_numbered_headings_are_read_by_them() -> None:
    pages = ["1 Intro\n\nIt began\nhere.", "2 End\n\nIt ended."]

    assert found(read_pages(pages, title="t")) == [
        (("1 Intro",), [Prose("It began here.")]),
        (("2 End",), [Prose("It ended.")]),
    ]


def test_a_heading_ends_those_of_its_level_and_below() -> None:
    outline = Outline()
    for level, text in ((1, "A"), (3, "B"), (2, " "), (2, "C")):
        outline.heading(level, text)
        outline.add(Prose(text))

    assert [section.path for section in outline.sections()] == [
        ("A",),
        ("A", "B"),
        ("A",),
        ("A", "C"),
    ]
