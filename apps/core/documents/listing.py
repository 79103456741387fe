"""Pages of plain lines behind a document that WeasyPrint has drawn: a long listing, written
straight into the file.

Drawing a line of text as HTML costs half a millisecond, and writing it here a hundredth of that.
Paper and letters come from a specimen that WeasyPrint draws once. The document stays tagged: each
page of lines is one paragraph of it.
"""

import html
import io
import re
from collections.abc import Iterable, Sequence
from typing import IO, Any

from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    NameObject,
    NumberObject,
)

from apps.core.documents import pdf

LETTERS = "".join(map(chr, range(32, 127)))
SIZE, LEADING, MARGIN, TOP = 6.5, 1.35, 28.35, 34.0  # points, but for the leading: of a size
ADVANCE = 0.602  # of a size: every letter of the font
FONT = "/F0"
_SPECIMEN = """<!doctype html><html lang="en"><title>Specimen</title>
<style>@page { size: A4 landscape; }
pre { font: 6.5pt "DejaVu Sans Mono", monospace; }</style><pre>%s</pre></html>"""
_GLYPH = re.compile(rb"<([0-9a-f]{4})> <([0-9a-f]{4})>")


def append(document: bytes, pages: Iterable[Sequence[str]], file: IO[bytes], columns: int) -> None:
    """Write the tagged document and then each page's lines, of so many letters at most, into the
    file."""
    writer = PdfWriter(clone_from=io.BytesIO(document))
    tree: Any = writer.root_object["/StructTreeRoot"]
    tagged = tree["/K"][0].get_object()
    owners = tree["/ParentTree"]["/Nums"]
    sheet: _Sheet | None = None
    for lines in pages:
        sheet = sheet or _Sheet(writer, columns)
        _tag(writer, tagged, owners, sheet.page(lines))
    writer.write(file)


class _Sheet:
    """The paper, the font and where each letter of it is."""

    def __init__(self, writer: PdfWriter, columns: int) -> None:
        self._writer = writer
        with PdfReader(io.BytesIO(pdf.render(_SPECIMEN % html.escape(LETTERS)))) as reader:
            page: Any = reader.pages[0]
            (font,) = page["/Resources"]["/Font"].values()
            mapping = font["/ToUnicode"].get_object().get_data().lower()
            self.width = float(page.mediabox.width)
            self.height = float(page.mediabox.height)
            self._resources = writer._add_object(
                DictionaryObject(
                    {
                        NameObject("/Font"): DictionaryObject(
                            {NameObject(FONT): font.indirect_reference.clone(writer)}
                        )
                    },
                )
            )
        self._glyphs = {
            int(letter, 16): glyph.decode() for glyph, letter in _GLYPH.findall(mapping)
        }
        self._size = min(SIZE, (self.width - 2 * MARGIN) / (columns * ADVANCE))

    def page(self, lines: Sequence[str]) -> Any:
        """A page with the lines on it, added to the writer. What is no letter of the specimen is a
        question mark."""
        begin = (
            f"BT {FONT} {self._size:.3f} Tf {self._size * LEADING:.3f} TL {MARGIN}"
            f" {self.height - TOP - self._size:.2f} Td\n"
        )
        plain = (line.encode("ascii", "replace").decode() for line in lines)
        drawn = "\n".join(f"<{line.translate(self._glyphs)}> Tj T*" for line in plain)
        contents = DecodedStreamObject()
        contents.set_data(f"/P <</MCID 0>> BDC\n{begin}{drawn}\nET\nEMC\n".encode())
        sheet = self._writer.add_blank_page(self.width, self.height)
        sheet[NameObject("/Resources")] = self._resources
        sheet[NameObject("/Contents")] = self._writer._add_object(contents.flate_encode())
        return sheet


def _tag(writer: PdfWriter, document: Any, owners: Any, page: Any) -> None:
    """`owners` is flat: the number of a page, then who owns its pieces, in rising order."""
    key = NumberObject(int(owners[-2]) + 1)
    page[NameObject("/StructParents")] = key
    page[NameObject("/Tabs")] = NameObject("/S")
    paragraph = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/StructElem"),
            NameObject("/S"): NameObject("/P"),
            NameObject("/P"): document.indirect_reference,
            NameObject("/Pg"): page.indirect_reference,
            NameObject("/K"): ArrayObject([NumberObject(0)]),
        }
    )
    reference = writer._add_object(paragraph)
    document["/K"].append(reference)
    owners.extend([key, ArrayObject([reference])])
