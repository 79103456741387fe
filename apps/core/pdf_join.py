"""Many PDFs as one, tagged: a long listing is drawn in untagged parts, so that neither memory nor time grows out of hand.

The first part keeps its own structure. Each page of the others becomes one paragraph of it, all of the page being its text.
"""

import io
from collections.abc import Iterable
from typing import IO, Any

from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, NumberObject

_OPEN, _CLOSE = b"/P <</MCID 0>> BDC\n", b"\nEMC\n"


def join(parts: Iterable[bytes], file: IO[bytes]) -> None:
    """Write the parts, of which there is at least one, into a file as one document."""
    rest = iter(parts)
    writer = PdfWriter(clone_from=io.BytesIO(next(rest)))
    tree: Any = writer.root_object["/StructTreeRoot"]
    document, owners = tree["/K"][0].get_object(), tree["/ParentTree"]["/Nums"]
    for part in rest:
        # Closed, because what was cloned keeps the reader alive: the text of its pages must not stay with it.
        with PdfReader(io.BytesIO(part)) as reader:
            for page in reader.pages:
                _append(writer, document, owners, page)
            # By the reader's address in memory, which the next one may have: it would be taken for this one.
            writer.reset_translation(reader)
    writer.write(file)


def _append(writer: PdfWriter, document: Any, owners: Any, page: Any) -> None:
    """`owners` is flat: the number of a page, then who owns its pieces, in rising order."""
    contents = DecodedStreamObject()
    contents.set_data(_OPEN + page.get_contents().get_data() + _CLOSE)
    page[NameObject("/Contents")] = contents.flate_encode()
    added, key = writer.add_page(page), NumberObject(int(owners[-2]) + 1)
    added[NameObject("/StructParents")], added[NameObject("/Tabs")] = key, NameObject("/S")
    paragraph = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/StructElem"),
            NameObject("/S"): NameObject("/P"),
            NameObject("/P"): document.indirect_reference,
            NameObject("/Pg"): added.indirect_reference,
            NameObject("/K"): ArrayObject([NumberObject(0)]),
        }
    )
    reference = writer._add_object(paragraph)
    document["/K"].append(reference)
    owners.extend([key, ArrayObject([reference])])
