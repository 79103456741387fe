"""Many PDFs as one, still tagged: a long listing is drawn in parts, so that memory doesn't grow with its length.

The first part keeps its structure. Of the others each page becomes one paragraph of it, read in the order in which it was drawn.
"""

import io
from collections.abc import Iterable
from typing import IO, Any

from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject


def join(parts: Iterable[bytes], file: IO[bytes]) -> None:
    """Write the parts, of which there is at least one, into a file as one document."""
    rest = iter(parts)
    writer = PdfWriter(clone_from=io.BytesIO(next(rest)))
    tree: Any = writer.root_object["/StructTreeRoot"]
    document, numbers = tree["/K"][0].get_object(), tree["/ParentTree"]["/Nums"]
    for part in rest:
        for page, marks in _pages(part):
            _append(writer, document, numbers, page, marks)
    writer.write(file)


def _pages(part: bytes) -> list[tuple[Any, int]]:
    """The pages of a part, each with how many marked pieces it has."""
    reader = PdfReader(io.BytesIO(part))
    tree: Any = reader.root_object["/StructTreeRoot"]
    flat = tree["/ParentTree"]["/Nums"]
    marks = {int(flat[at]): len(flat[at + 1].get_object()) for at in range(0, len(flat), 2)}
    return [(page, marks[int(page["/StructParents"])]) for page in reader.pages]  # type: ignore[call-overload]  # a number in a page


def _append(writer: PdfWriter, document: Any, numbers: Any, page: Any, marks: int) -> None:
    added, key = writer.add_page(page), NumberObject(int(numbers[-2]) + 1)
    added[NameObject("/StructParents")] = key
    paragraph = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/StructElem"),
            NameObject("/S"): NameObject("/P"),
            NameObject("/P"): document.indirect_reference,
            NameObject("/Pg"): added.indirect_reference,
            NameObject("/K"): ArrayObject(NumberObject(mark) for mark in range(marks)),
        }
    )
    reference = writer._add_object(paragraph)
    document["/K"].append(reference)
    numbers.extend([key, ArrayObject([reference] * marks)])
