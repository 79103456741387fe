"""XML that is written element by element, without an empty one."""

from collections.abc import Mapping
from xml.etree import ElementTree as Xml

from apps.billing.e_invoices.bills import plain


class Tree:
    """An element, and the prefixes of the names below it; none where its attribute `xmlns` names
    the one space of all."""

    def __init__(self, element: Xml.Element, spaces: Mapping[str, str]) -> None:
        self.element = element
        self._spaces = spaces

    @classmethod
    def begun(cls, name: str, spaces: Mapping[str, str]) -> "Tree":
        return cls(Xml.Element(_full(name, spaces)), spaces)

    def put(self, path: str, text: object = None, /, **attributes: str) -> "Tree":
        """The last element of a path of names, each made below the one before."""
        below = self.element
        for part in path.split("/"):
            below = Xml.SubElement(below, _full(part, self._spaces))
        for attribute, value in attributes.items():
            below.set(attribute, value)
        if text is not None:
            below.text = plain(str(text))
        return Tree(below, self._spaces)

    def put_text(self, path: str, text: str, /, **attributes: str) -> None:
        """Nothing for no text."""
        if plain(text):
            self.put(path, text, **attributes)

    def written(self) -> bytes:
        Xml.indent(self.element)
        xml: bytes = Xml.tostring(self.element, encoding="UTF-8", xml_declaration=True)
        return xml


def _full(name: str, spaces: Mapping[str, str]) -> str:
    prefix, _, local = name.rpartition(":")
    return f"{{{spaces[prefix]}}}{local}" if spaces else local
