"""HTML to PDF: tagged, with a title and a language, so that a screen reader can follow it
(PDF/UA-1).

With a file inside it is made for archives too (PDF/A-3a). Nothing is fetched, whatever the HTML
names: only what is in it as a data: URI is drawn. Fonts are the system's.
"""

import ctypes.util
import sys
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import Any

from apps.core.documents.metadata import ACCESSIBLE, Vocabulary, add_to

ALTERNATIVE = "Alternative"  # the file says what the pages say


@dataclass(frozen=True)
class EmbeddedFile:
    """A file within the PDF, and what the PDF's metadata says of it."""

    name: str
    content: bytes
    description: str
    made_at: datetime
    vocabulary: Vocabulary


@cache
def load() -> Any:
    """The library, which finds Pango on the system when it is loaded: anyone who makes no PDF must
    not need that.

    It tries several names for each of its libraries, and Python searches for each by running
    ldconfig, the compiler and the linker: fifty processes. On Linux one of the names is that by
    which the system itself loads it.
    """
    search = ctypes.util.find_library
    if sys.platform == "linux":
        ctypes.util.find_library = lambda name: None
    try:
        return import_module("weasyprint")
    finally:
        ctypes.util.find_library = search


def render(html: str, inside: EmbeddedFile | None = None) -> bytes:
    """A whole HTML document as PDF."""
    weasyprint = load()
    from weasyprint.urls import URLFetcher

    class OnlyData(URLFetcher):  # type: ignore[misc]  # the library has no types
        """Refuses every address; WeasyPrint leaves out what it could not get."""

        def fetch(self, url: str, headers: Any = None) -> Any:
            if not url.lower().startswith("data:"):
                raise ValueError("only data: URIs are drawn")
            return super().fetch(url, headers)

    document = weasyprint.HTML(string=html, url_fetcher=OnlyData(allowed_protocols=("data",)))
    if inside is None:
        plain: bytes = document.write_pdf(pdf_variant="pdf/ua-1")
        return plain
    vocabularies = (ACCESSIBLE, inside.vocabulary)

    def finish(_: Any, drawn: Any) -> None:
        drawn.catalog["AF"][:] = dict.fromkeys(drawn.catalog["AF"])  # WeasyPrint names a file twice
        add_to(drawn, vocabularies)

    attached = weasyprint.Attachment(
        string=inside.content,
        name=inside.name,
        description=inside.description,
        created=inside.made_at,
        modified=inside.made_at,
        relationship=ALTERNATIVE,
    )
    hybrid: bytes = document.write_pdf(
        pdf_variant="pdf/a-3a", attachments=[attached], finisher=finish
    )
    return hybrid
