"""FA(3) before the official schema, and read by a program of other hands; both are those of the
package `ksef-client`, in the environment of accounting programs."""

from functools import cache
from pathlib import Path
from typing import Any

from lxml import etree

from dev import accounting

FILE = "schemat_FA(3)_v1-0E.xsd"
SPACE = "http://crd.gov.pl/wzor/2025/06/25/13775/"


def is_there() -> bool:
    return accounting.APART.is_installed()


class _Beside(etree.Resolver):  # type: ignore[misc]  # lxml has no types
    """The file beside this one that the schema names by the state's address."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def resolve(self, url: str, id: str, context: Any) -> Any:
        path = self.folder / url.rpartition("/")[2]
        return self.resolve_filename(str(path), context) if path.exists() else None


@cache
def schema() -> etree.XMLSchema:
    (path,) = accounting.APART.folder.glob(f"lib/python*/site-packages/ksef_client/**/{FILE}")
    parser = etree.XMLParser(no_network=True)
    parser.resolvers.add(_Beside(path.parent))
    return etree.XMLSchema(etree.parse(path, parser))


def complaints(xml: bytes) -> list[str]:
    """Complaints of the schema about a document, and of an element that is empty."""
    try:
        tree = etree.fromstring(xml)
    except etree.XMLSyntaxError as error:
        return [str(error)]
    empty = [f"empty: {item.tag}" for item in tree.iter() if not len(item) and not item.text]
    if schema().validate(tree):
        return empty
    return [*empty, *(str(row.message) for row in schema().error_log)]
