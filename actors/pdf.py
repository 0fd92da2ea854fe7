"""The text of a PDF page by page, through pypdf (the extra ``pdf``)."""

import io
from collections.abc import Sequence

from pipeline.errors import ConfigError, InputError


def pages_of(content: bytes) -> Sequence[str]:
    """The text of each page; empty where a page holds none, as a scan does.

    Raises:
        ConfigError: pypdf is not installed.
        InputError: it is no PDF that can be read, or one that asks for a password.
    """
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ModuleNotFoundError as exc:
        raise ConfigError("a PDF needs pypdf: install slowwave[pdf]", field="file") from exc
    try:
        return [page.extract_text() for page in PdfReader(io.BytesIO(content)).pages]
    except (PyPdfError, ValueError, KeyError) as exc:
        raise InputError(f"expected a PDF that can be read: {exc}", field="file") from exc
