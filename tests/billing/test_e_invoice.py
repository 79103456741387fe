"""E-invoices: the XML against the schema of the standard and its business rules, its figures, and
the PDF that contains it."""

import io
from typing import Any

import pytest
from django.test import Client
from facturx import xml_check_xsd
from lxml import etree
from pypdf import PdfReader

from apps.billing.invoices import e_invoice, files
from apps.billing.models import Invoice
from apps.core.text.countries import country_code
from apps.stores.models import Store, Verification
from apps.stores.requests import StoreDetails
from apps.stores.services import change_details
from tests import make
from tests.billing import records as r
from tests.billing.sellers import verify
from tests.cast import Shop

pytestmark = pytest.mark.django_db
BERLIN = {
    "line1": "Ringstrasse 1",
    "postal_code": "10115",
    "city": "Berlin",
    "state": "Berlin",
    "country": "Germany",
}
_RAM = "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"
_PATHS = {"ram": _RAM, "udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"}


def billed(shop: Shop, address: dict[str, Any] | None = BERLIN, **fields: Any) -> dict[str, Any]:
    owner = r.customer(shop.test, name="Ann\x0bBaker & Co", address=address)
    return r.opened(shop.test, customer_id=owner["id"], **{"tax_rate_bps": 1950, **fields})


def row(made: dict[str, Any]) -> Invoice:
    return Invoice.objects.select_related("store", "customer").get(pk=made["id"])


def xml_of(made: dict[str, Any]) -> bytes:
    answer = Client().get(f"/invoice/{made['public_token']}/invoice.xml")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/xml"), answer
    assert f"invoice-{made['formatted_number']}.xml" in answer["Content-Disposition"]
    assert xml_check_xsd(answer.content, flavor="factur-x", level="en16931")
    return bytes(answer.content)


def value(xml: bytes, path: str) -> str | None:
    found = etree.fromstring(xml).find(f".//{path}", _PATHS)
    return None if found is None else found.text


def values(xml: bytes, *names: str) -> list[str | None]:
    return [value(xml, f"ram:{name}") for name in names]


SUMS = (
    "LineTotalAmount",
    "AllowanceTotalAmount",
    "TaxBasisTotalAmount",
    "TaxTotalAmount",
    "GrandTotalAmount",
    "TotalPrepaidAmount",
    "DuePayableAmount",
)


def sums(xml: bytes) -> list[str | None]:
    return [
        value(xml, f"ram:SpecifiedTradeSettlementHeaderMonetarySummation/ram:{name}")
        for name in SUMS
    ]


def test_every_figure_and_party_of_the_invoice_stands_in_its_data(bakery: Shop) -> None:
    verify(bakery.store)
    lines = [r.line(21900, 2, "Rye flour"), r.line(2000, 1, "Freight")]
    terms = {
        "discount_type": "percent",
        "discount_value": 10,
        "po_number": "PO-3381",
        "notes": "Ring <twice>",
        "due_at": "2099-12-01T00:00:00Z",
    }
    made = billed(bakery, line_items=lines, **terms)
    xml = xml_of(made)
    assert sums(xml) == ["458.00", "45.80", "412.20", "80.38", "492.58", None, "492.58"]
    assert value(xml, "ram:SellerTradeParty/ram:Name") == "Alice & Sons <Bakery> GmbH"
    assert value(xml, "ram:SpecifiedTaxRegistration/ram:ID[@schemeID='VA']") == "DE123456789"
    assert value(xml, "ram:BuyerTradeParty/ram:Name") == "AnnBaker & Co"
    assert values(xml, "PostcodeCode", "LineOne", "CityName") == [
        "10115",
        "Ringstrasse 1",
        "Berlin",
    ]
    assert value(xml, "ram:BuyerTradeParty/ram:PostalTradeAddress/ram:CountryID") == "DE"
    assert values(xml, "IssuerAssignedID", "CategoryCode", "RateApplicablePercent") == [
        "PO-3381",
        "S",
        "19.5",
    ]
    assert value(xml, "ram:DueDateDateTime/udt:DateTimeString") == "20991201"
    assert b"Test invoice" in xml and b"Ring &lt;twice&gt;" in xml
    assert (
        len(etree.fromstring(xml).findall(".//ram:IncludedSupplyChainTradeLineItem", _PATHS)) == 2
    )
    r.pay(bakery.test, made)
    assert sums(xml_of(made))[-2:] == ["492.58", "0.00"]


def test_the_pdf_holds_the_same_data_for_archives_and_for_screen_readers(bakery: Shop) -> None:
    verify(bakery.store)
    made = billed(bakery)
    reader = PdfReader(
        io.BytesIO(Client().get(f"/invoice/{made['public_token']}/invoice.pdf").content)
    )
    root = reader.root_object
    assert reader.attachments["factur-x.xml"] == [xml_of(made)]
    (named,) = root["/AF"]
    assert named.get_object()["/AFRelationship"] == "/Alternative"
    assert named.get_object()["/EF"]["/F"].get_object()["/Subtype"] == "/text/xml"
    assert (
        root["/OutputIntents"][0]["/S"] == "/GTS_PDFA1"
        and root["/MarkInfo"]["/Marked"]
        and "/StructTreeRoot" in root
    )
    assert root["/ViewerPreferences"]["/DisplayDocTitle"] and "/ID" in reader.trailer
    metadata = etree.fromstring(root["/Metadata"].get_data())
    said = " ".join(metadata.itertext()) + " ".join(
        value for item in metadata.iter() for value in item.attrib.values()
    )
    for part in (
        "factur-x.xml",
        "INVOICE",
        "1.0",
        "EN 16931",
        "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#",
        "pdfuaid",
    ):
        assert part in said, part
    assert metadata.find(".//{http://www.aiim.org/pdfua/ns/id/}part").text == "1"
    identified = metadata.find(".//*[@{http://www.aiim.org/pdfa/ns/id/}part]").attrib
    assert list(identified.values())[1:] == ["3", "A"]
    receipt = r.pay(bakery.test, made)
    plain = PdfReader(
        io.BytesIO(Client().get(f"/invoice/{receipt['public_token']}/receipt.pdf").content)
    )
    assert not plain.attachments


def test_the_sellers_address_stands_in_the_xml_and_on_the_page(bakery: Shop) -> None:
    verify(bakery.store)
    change_details(
        bakery.store,
        StoreDetails(name="Alice", street="Hauptstr. 1 <a>", postal_code="10117", city="Berlin"),
    )
    made = billed(bakery)
    at = "SellerTradeParty/ram:PostalTradeAddress/ram:"
    told = values(
        xml_of(made), *(f"{at}{item}" for item in ("LineOne", "PostcodeCode", "CityName"))
    )
    assert told == ["Hauptstr. 1 <a>", "10117", "Berlin"]
    shown = Client().get(f"/invoice/{made['public_token']}").content.decode()
    assert "Hauptstr. 1 &lt;a&gt;" in shown and "10117 Berlin" in shown and "Germany" in shown


TAXES: list[tuple[str, int | None, str | None, str | None]] = [
    ("DE123456789", 1900, "S", "VA"),
    ("DE 123.456.789", 0, "Z", "VA"),
    ("DE123456789", None, None, None),
    ("12/345/67890", 700, "S", "FC"),
    ("", None, "O", None),
    ("", 0, "O", None),
    ("", 1900, None, None),
]


def test_what_is_said_of_tax_is_what_the_invoice_and_the_seller_say(bakery: Shop) -> None:
    for tax_id, rate, category, scheme in TAXES:
        verify(bakery.store, tax_id=tax_id)
        made = billed(bakery, tax_rate_bps=rate)
        if category is None:
            missing = "VAT or tax number" if rate else "enter 0 if no tax is due"
            assert missing in e_invoice.refusal(row(made)), (tax_id, rate)
            assert Client().get(f"/invoice/{made['public_token']}/invoice.xml").status_code == 404
            continue
        xml = xml_of(made)
        assert value(xml, "ram:CategoryCode") == category, (tax_id, rate)
        registered = etree.fromstring(xml).find(".//ram:SpecifiedTaxRegistration/ram:ID", _PATHS)
        told = None if registered is None else registered.get("schemeID")
        assert told == scheme, (tax_id, rate)


def test_an_invoice_that_lacks_something_stays_a_plain_pdf_and_says_what(bakery: Shop) -> None:
    made = billed(bakery)
    assert "legal name, country, and VAT" in e_invoice.refusal(row(made))
    verify(bakery.store, tax_id="12/345/67890", registration="")
    assert "VAT or registration number" in e_invoice.refusal(row(made))
    verify(bakery.store)
    assert "registration" in e_invoice.refusal(row(made)), "it was finalized without them"
    made = billed(bakery)
    assert e_invoice.refusal(row(made)) == ""
    for address in (None, {"city": "Berlin"}, {"country": "Atlantis"}, {"country": 49}):
        assert "country in the customer’s address" in e_invoice.refusal(
            row(billed(bakery, address))
        )
    voided = billed(bakery)
    r.ok(r.act(bakery.test, voided["id"], "void"))
    empty = billed(bakery, line_items=[])
    for item, words in ((voided, "not canceled"), (empty, "no lines")):
        assert words in e_invoice.refusal(row(item))
        assert Client().get(f"/invoice/{item['public_token']}/invoice.xml").status_code == 404
        assert files._data(row(item)) is None, "nothing is put into its PDF"
        assert "E-invoice" not in Client().get(f"/invoice/{item['public_token']}").content.decode()
    owner = r.customer(bakery.test)
    draft = row(r.draft(bakery.test, customer_id=owner["id"]))
    assert "country in the customer’s address" in e_invoice.missing_of_verified(draft)
    Verification.objects.filter(store=bakery.store).delete()
    assert e_invoice.missing_of_verified(draft) == ""
    verify(bakery.store)
    assert "E-invoice (XML)" in Client().get(f"/invoice/{made['public_token']}").content.decode()


def test_yen_cycles_and_odd_texts_are_data_too(bakery: Shop) -> None:
    verify(bakery.store, country="JP", tax_id="T1234567890123")
    yen = billed(
        bakery,
        {"country": "jp"},
        currency="JPY",
        line_items=[r.line(33300, 3, " \u0085 x")],
        tax_rate_bps=1000,
    )
    assert sums(xml_of(yen)) == ["999.00", None, "999.00", "100.00", "1099.00", None, "1099.00"]
    free = billed(bakery, line_items=[r.line(0)], custom_number="A/1 & <2>")
    assert value(xml_of(free | {"formatted_number": "A-1-2"}), "ram:ID") is not None
    make.advance(bakery.test, 1)


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("de", "DE"),
        ("Deutschland", "DE"),
        (" united  kingdom ", "GB"),
        ("UK", "GB"),
        ("España", "ES"),
        ("EU", None),
        ("", None),
        (None, None),
        ({}, None),
    ],
)
def test_a_country_is_known_by_its_code_and_its_names(written: object, code: str | None) -> None:
    assert country_code(written) == code


def test_days_of_the_data_are_those_of_the_page(bakery: Shop) -> None:
    verify(bakery.store)
    Store.objects.filter(pk=bakery.store.pk).update(time_zone="Europe/Berlin")
    made = billed(bakery, due_at="2027-01-31T23:30:00Z")
    due = "SpecifiedTradePaymentTerms/{*}DueDateDateTime/{*}DateTimeString"
    found = etree.fromstring(xml_of(made)).find(f".//{{*}}{due}")
    assert found is not None and found.text == "20270201"
