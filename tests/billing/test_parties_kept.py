"""Seller and buyer of a finalized invoice stay as they were, wherever it is read; what a draft
lacks for a format is said before it is finalized."""

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from apps.billing.invoices import files
from apps.billing.invoices.credit_notes import credit_notes_visible_to
from apps.billing.invoices.e_invoice import required_credit_note_xml
from apps.billing.models import Customer, Invoice
from apps.stores.models import Store, Verification
from tests.billing import records as r
from tests.billing.sellers import verify
from tests.cast import Shop

pytestmark = pytest.mark.django_db
ADDRESS = {"line1": "Weg 1", "postal_code": "10115", "city": "Berlin", "country": "DE"}


def everywhere(shop: Shop, made: dict[str, Any]) -> list[str | bytes]:
    """The page, the data, what the PDF is drawn from, and the XRechnung of the invoice."""
    row = Invoice.objects.select_related("store", "customer").get(pk=made["id"])
    data = files._data(row)
    assert data is not None
    web = Client()
    path = f"/api/v2/billing/invoices/{made['id']}/e_invoices/xrechnung"
    answer = shop.test.get(path.removeprefix("/api/v2"))
    assert answer.status_code == 200, answer.content
    page = web.get(f"/invoice/{made['public_token']}").content.decode()
    parties = page[page.index('class="parties"') : page.index('class="order-items"')]
    return [parties, data.content, files._page(row, is_receipt=False), answer.content]


def change_everything(shop: Shop) -> None:
    Verification.objects.filter(store=shop.store).update(
        business_legal_name="Other GmbH", tax_id="DE999999999", registration_number="HRB 9"
    )
    Store.objects.filter(pk=shop.store.pk).update(
        street="Other street", city="Other town", postal_code="99999", support_phone="+49 9"
    )
    Customer.objects.filter(store=shop.store).update(
        name="Somebody else",
        address={"line1": "Elsewhere", "city": "Paris", "country": "FR"},
        country="FR",
        vat_number="FR40303265045",
        buyer_reference="OTHER",
        electronic_address="0208:0999999999",
    )


def test_a_later_change_of_seller_or_buyer_changes_no_finalized_invoice(bakery: Shop) -> None:
    verify(bakery.store)
    Store.objects.filter(pk=bakery.store.pk).update(
        street="Ring 5", city="Berlin", postal_code="10117", support_phone="+49 30 1",
        support_email="shop@example.com",
    )  # fmt: skip
    owner = r.customer(
        bakery.test,
        name="Kunde AG",
        address=ADDRESS,
        vat_number="DE136695976",
        buyer_reference="04011000-12345-34",
    )
    terms = {"customer_id": owner["id"], "tax_rate_bps": 1900}
    made, draft = r.opened(bakery.test, **terms), r.draft(bakery.test, **terms)
    before = everywhere(bakery, made)
    assert all(b"HRB 1234" in text for text in before if isinstance(text, bytes))
    change_everything(bakery)
    assert everywhere(bakery, made) == before
    later = Invoice.objects.get(pk=r.ok(r.act(bakery.test, draft["id"], "finalize"))["id"])
    assert later.seller is not None and later.seller["name"] == "Other GmbH"
    assert later.buyer is not None and later.buyer["vat_number"] == "FR40303265045"


def test_a_credit_note_has_the_parties_of_its_invoice(bakery: Shop) -> None:
    verify(bakery.store)
    owner = r.customer(bakery.test, name="Kunde AG", address=ADDRESS)
    made = r.opened(bakery.test, customer_id=owner["id"], tax_rate_bps=1900)
    r.ok(r.act(bakery.test, made["id"], "void"))
    change_everything(bakery)
    path = f"/billing/invoices/{made['id']}/credit_notes"
    note = r.ok(bakery.test.post(path, {"credit_note": {}}), 201)
    row = credit_notes_visible_to(bakery.access()).get(pk=note["id"])
    xml = required_credit_note_xml(row, "factur-x").decode()
    assert "Alice &amp; Sons" in xml and "Kunde AG" in xml and "DE123456789" in xml
    assert "Other" not in xml and "Somebody" not in xml


@pytest.mark.parametrize("column", ["seller", "buyer"])
def test_the_database_keeps_them(bakery: Shop, column: str) -> None:
    made = r.opened(bakery.test)
    change = f"UPDATE billing_invoice SET {column} = '{{}}' WHERE id = %s"
    with (
        pytest.raises(DatabaseError, match="locked"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(change, [made["id"]])


def test_a_draft_says_what_it_lacks_for_each_format(bakery: Shop) -> None:
    verify(bakery.store)
    owner = r.customer(bakery.test, address=ADDRESS)
    made = r.draft(bakery.test, customer_id=owner["id"], tax_rate_bps=1900)

    def lacks() -> dict[str, str | None]:
        rows = r.ok(bakery.test.get(f"/billing/invoices/{made['id']}/e_invoices"))
        return {item["format"]: item["missing"] for item in rows}

    said = lacks()
    assert said["factur-x"] is None
    assert "Leitweg-ID" in str(said["xrechnung"]) and "reference" in str(said["peppol"])
    change = {"invoice": {"buyer_reference": "04011000-12345-34", "tax_rate_bps": None}}
    r.ok(bakery.test.patch(f"/billing/invoices/{made['id']}", change))
    assert "no tax rate" in str(lacks()["factur-x"]), "nothing is charged by any rate"
    page = f"/billing/invoices/{made['id']}/e_invoices/factur-x"
    assert bakery.test.get(page).status_code == 422, "a draft is no e-invoice yet"


def test_page_and_pdf_say_when_it_was_supplied(bakery: Shop) -> None:
    days = {"supplied_from": "2026-11-01", "supplied_until": "2026-11-30"}
    made = r.opened(bakery.test, **days)
    row = Invoice.objects.select_related("store", "customer").get(pk=made["id"])
    page = Client().get(f"/invoice/{made['public_token']}").content.decode()
    for text in (page, files._page(row, is_receipt=False)):
        assert "Supplied" in text and "1 Nov 2026 – 30 Nov 2026" in text
    one = r.opened(bakery.test)
    assert " – " not in Client().get(f"/invoice/{one['public_token']}").content.decode()
