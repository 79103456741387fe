"""HTML to PDF: tagged, with a title and a language, so that a screen reader can follow it (PDF/UA-1).

Nothing is fetched, whatever the HTML names: only what stands in it as a data: URI is drawn. Fonts are the system's.
"""

from typing import Any


def render(html: str) -> bytes:
    """A whole HTML document as PDF."""
    # Loading it finds Pango on the system; whoever makes no PDF must not need that.
    import weasyprint
    from weasyprint.urls import URLFetcher

    class OnlyData(URLFetcher):  # type: ignore[misc]  # the library has no types
        """Refuses every address; WeasyPrint leaves out what it could not get."""

        def fetch(self, url: str, headers: Any = None) -> Any:
            if not url.lower().startswith("data:"):
                raise ValueError("only data: URIs are drawn")
            return super().fetch(url, headers)

    document = weasyprint.HTML(string=html, url_fetcher=OnlyData(allowed_protocols=("data",)))
    made: bytes = document.write_pdf(pdf_variant="pdf/ua-1")
    return made
