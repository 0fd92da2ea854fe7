"""Pages of text to sections: one per page, or per heading where the pages have numbered ones."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pipeline.documents.markdown import read_plain
from pipeline.documents.parts import Document, Outline, Prose, Section

_HYPHEN = re.compile(r"(?<=[a-z])-\n(?=[a-z])")
_BROKEN = re.compile(r"(?<![.!?。！？:：;；\n])\n(?=[^\n•\-*\d])")
_HAN_BREAK = re.compile(r"(?<=[\u3400-\u9fff，、])\n(?=[\u3400-\u9fff])")


def read_pages(pages: Sequence[str], *, title: str) -> Document:
    """The document of pages whose lines were broken to fit; ``title`` names it."""
    document = read_plain("\n\n".join(pages), title=title)
    is_outlined = any(section.path for section in document.sections)
    sections = document.sections if is_outlined else _by_page(pages)
    return replace(document, sections=tuple(map(_mended, sections)))


def _mended(section: Section) -> Section:
    blocks = (
        Prose(_joined(block.text)) if isinstance(block, Prose) else block
        for block in section.blocks
    )
    return replace(section, blocks=tuple(blocks))


def _by_page(pages: Sequence[str]) -> tuple[Section, ...]:
    outline = Outline()
    for number, page in enumerate(pages, start=1):
        outline.heading(1, f"p. {number}")
        if page.strip():
            outline.add(Prose(page.strip()))
    return outline.sections()


def _joined(text: str) -> str:
    """Lines that a page broke put together again."""
    return _BROKEN.sub(" ", _HAN_BREAK.sub("", _HYPHEN.sub("", text)))
