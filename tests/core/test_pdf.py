"""PDFs are tagged for screen readers, and nothing that their HTML names is fetched."""

import base64
import io

from PIL import Image
from pypdf import PdfReader
from pytest_httpserver import HTTPServer

from apps.core.documents import listing, pdf

PAGE = (
    '<!doctype html><html lang="en"><head><title>A'
    " page</title>{head}</head><body><h1>Hello</h1>{body}</body></html>"
)


def picture() -> str:
    drawn = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(drawn, "PNG")
    return f"data:image/png;base64,{base64.b64encode(drawn.getvalue()).decode()}"


def read(made: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(made))


def test_a_pdf_is_tagged_and_has_a_title_and_a_language() -> None:
    reader = read(pdf.render(PAGE.format(head="", body="")))
    root = reader.root_object
    assert root["/MarkInfo"]["/Marked"] is not None and bool(root["/MarkInfo"]["/Marked"])
    assert "/StructTreeRoot" in root
    assert root["/Lang"] == "en"
    assert reader.metadata is not None and reader.metadata.title == "A page"
    assert b"pdfuaid" in root["/Metadata"].get_data()


def test_nothing_is_fetched_from_the_network_or_the_disk(httpserver: HTTPServer) -> None:
    url = httpserver.url_for("/secret")
    head = (
        f'<link rel="stylesheet" href="{url}"><link rel="attachment"'
        f' href="file:///etc/passwd"><style>@import "{url}";</style>'
    )
    body = (
        f'<img src="{url}" alt="x"><img src="file:///etc/passwd" alt="x"><div'
        f' style="background:url({url})">y</div><object data="{url}">'
    )
    svg = (
        "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><image"
        f" href='{url}'/></svg>"
    )
    reader = read(pdf.render(PAGE.format(head=head, body=f'{body}<img src="{svg}" alt="z">')))
    assert "Hello" in reader.pages[0].extract_text()
    assert httpserver.log == []
    assert not reader.attachments


def test_a_picture_in_the_page_itself_is_drawn() -> None:
    reader = read(
        pdf.render(
            PAGE.format(head="", body=f'<img src="{picture()}" alt="dot" width="10" height="10">')
        )
    )
    assert len(reader.pages[0].images) == 1


def test_lines_behind_a_document_stay_on_their_paper_and_may_be_copied_from_it() -> None:
    file = io.BytesIO()
    wide = "x" * 400
    listing.append(
        pdf.render(PAGE.format(head="", body="")),
        [["Straße (1\\2)", wide], ["<b>"]],
        file,
        columns=len(wide),
    )
    reader = read(file.getvalue())
    assert [page.extract_text().split() for page in reader.pages[1:]] == [
        ["Stra?e", "(1\\2)", wide],
        ["<b>"],
    ]
    size = float(reader.pages[1].get_contents().get_data().split(b" Tf")[0].split()[-1])  # type: ignore[union-attr]
    assert (
        400 * size * listing.ADVANCE
        <= float(reader.pages[1].mediabox.width) - 2 * listing.MARGIN + 1
    )
