"""HTML to sections, by the standard parser: headings, paragraphs, lists, tables, code."""

from html.parser import HTMLParser

from pipeline.documents.parts import Code, Document, Outline, Prose, Rows, title_of

_HIDDEN = frozenset({"script", "style", "template", "noscript", "svg", "head", "nav"})
_VOID = frozenset({"br", "hr", "img", "input", "meta", "link", "wbr", "source", "area", "col"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "ul", "ol", "dl", "dt", "dd", "blockquote", "header"}
    | {"footer", "main", "aside", "figure", "figcaption", "form", "address", "details", "summary"}
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def read_html(text: str, *, title: str) -> Document:
    """The document; ``title`` names it where it has no title of its own."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    sections = reader.outline.sections()
    named = " ".join(reader.title.split())
    return Document(
        title=named or title_of(sections, default=title), written=reader.written, sections=sections
    )


class _Reader(HTMLParser):
    """Collects text until something ends it; what is hidden on a page is left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.outline = Outline()
        self.title = ""
        self.written: str | None = None
        self._text: list[str] = []
        self._hidden: list[str] = []
        self._is_title = False
        self._code: str | None = None
        self._table: list[list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._is_title = True
        elif tag in _HIDDEN:
            self._hidden.append(tag)
        elif self._hidden or tag in _VOID:
            self._single(tag, dict(attrs))
        elif tag == "pre":
            self._end()
            self._code = _language(dict(attrs))
        elif tag == "code" and self._code is not None:
            self._code = self._code or _language(dict(attrs))
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._end()
        else:
            self._row_or_item(tag)

    def _single(self, tag: str, attrs: dict[str, str | None]) -> None:
        if tag == "br":
            self._text.append("\n")
        elif tag == "meta" and attrs.get("name") in ("date", "dcterms.date"):
            self.written = attrs.get("content") or None

    def _row_or_item(self, tag: str) -> None:
        if tag == "table":
            self._end()
            self._table = []
        elif tag == "tr" and self._table is not None:
            self._table.append([])
            self._text = []
        elif tag in ("td", "th"):
            self._text = [] if self._table is not None else self._text
        elif tag == "li":
            self._text.append("\n- ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._is_title = False
        elif self._hidden:
            if tag == self._hidden[-1]:
                self._hidden.pop()
        elif tag in _HEADINGS:
            level, text = _HEADINGS[tag], self._taken()
            self.outline.heading(level, text)
        elif tag == "pre":
            self._end_code()
        elif tag in ("td", "th") and self._table:
            self._table[-1].append(" ".join(self._taken().split()))
        elif tag == "table":
            self._end_table()
        elif tag in _BLOCKS:
            self._end()

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.title += data
        elif not self._hidden:
            self._text.append(data if self._code is not None else _spaced(data))

    def close(self) -> None:
        super().close()
        self._end_code() if self._code is not None else self._end()

    def _taken(self) -> str:
        text, self._text = "".join(self._text), []
        return text

    def _end(self) -> None:
        if self._table is not None:
            self._text.append(" ")
            return
        lines = (" ".join(line.split()) for line in self._taken().split("\n"))
        if text := "\n".join(line for line in lines if line not in ("", "-")):
            self.outline.add(Prose(text))

    def _end_code(self) -> None:
        text, language = self._taken().strip("\n"), self._code or ""
        self._code = None
        if text.strip():
            self.outline.add(Code(text, language))

    def _end_table(self) -> None:
        rows = [tuple(row) for row in self._table or () if any(row)]
        self._table = None
        self._text = []
        if rows:
            self.outline.add(Rows(rows[0], tuple(rows[1:])))


def _language(attrs: dict[str, str | None]) -> str:
    named = (attrs.get("class") or "").split()
    return next((one.removeprefix("language-") for one in named if "language-" in one), "")


def _spaced(data: str) -> str:
    """White space as a page shows it."""
    if not data.strip():
        return " " if data else ""
    before, after = data[:1].isspace(), data[-1:].isspace()
    return f"{' ' * before}{' '.join(data.split())}{' ' * after}"
