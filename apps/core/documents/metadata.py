"""Words in a PDF's metadata that PDF/A doesn't know, and the schema that PDF/A asks for with
them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_END = b"</rdf:RDF>"


@dataclass(frozen=True)
class Vocabulary:
    """Words under a prefix: each with its value, its kind and its meaning."""

    title: str
    namespace: str
    prefix: str
    words: Mapping[str, tuple[str, str, str]]


ACCESSIBLE = Vocabulary(
    title="PDF/UA identification",
    namespace="http://www.aiim.org/pdfua/ns/id/",
    prefix="pdfuaid",
    words={"part": ("1", "Integer", "The part of ISO 14289 that the document follows")},
)


def add_to(pdf: Any, vocabularies: tuple[Vocabulary, ...]) -> None:
    """Into the metadata of a PDF that WeasyPrint has drawn and not written yet. They are in it
    uncompressed, for any reader."""
    metadata = pdf.objects[int(pdf.catalog["Metadata"].split()[0])]
    packet = b"".join(
        part if isinstance(part, bytes) else str(part).encode() for part in metadata.stream
    )
    head, end, tail = packet.rpartition(_END)
    more = "".join(_said(vocabulary) for vocabulary in vocabularies) + _schemas(vocabularies)
    metadata.stream = [_NOT_IN_XML.sub(b"", head + more.encode() + end + tail)]
    metadata.compress = False


def _said(vocabulary: Vocabulary) -> str:
    words = "".join(
        f"<{vocabulary.prefix}:{name}>{escape(value)}</{vocabulary.prefix}:{name}>"
        for name, (value, _, _) in vocabulary.words.items()
    )
    return (
        '<rdf:Description rdf:about=""'
        f' xmlns:{vocabulary.prefix}="{vocabulary.namespace}">{words}</rdf:Description>'
    )


def _schemas(vocabularies: tuple[Vocabulary, ...]) -> str:
    spaces = " ".join(
        f'xmlns:pdfa{name}="http://www.aiim.org/pdfa/ns/{path}"'
        for name, path in (
            ("Extension", "extension/"),
            ("Schema", "schema#"),
            ("Property", "property#"),
        )
    )
    bag = "".join(_schema(vocabulary) for vocabulary in vocabularies)
    inner = f"<pdfaExtension:schemas><rdf:Bag>{bag}</rdf:Bag></pdfaExtension:schemas>"
    return f'<rdf:Description rdf:about="" {spaces}>{inner}</rdf:Description>'


def _schema(vocabulary: Vocabulary) -> str:
    properties = "".join(
        _resource(
            "pdfaProperty",
            {"name": name, "valueType": kind, "category": "external", "description": meaning},
        )
        for name, (_, kind, meaning) in vocabulary.words.items()
    )
    heading = {
        "schema": vocabulary.title,
        "namespaceURI": vocabulary.namespace,
        "prefix": vocabulary.prefix,
    }
    return _resource(
        "pdfaSchema",
        heading,
        f"<pdfaSchema:property><rdf:Seq>{properties}</rdf:Seq></pdfaSchema:property>",
    )


def _resource(prefix: str, texts: Mapping[str, str], more: str = "") -> str:
    inner = "".join(
        f"<{prefix}:{name}>{escape(text)}</{prefix}:{name}>" for name, text in texts.items()
    )
    return f'<rdf:li rdf:parseType="Resource">{inner}{more}</rdf:li>'
