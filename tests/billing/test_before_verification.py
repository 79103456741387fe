"""Invoices of stores whose business isn't verified: what they lack for an e-invoice is said before
they are finalized, and who says it in Settings needs no verification."""

import pytest

from apps.billing.invoices import e_invoice
from apps.billing.models import Invoice
from apps.stores.requests import StoreDetails
from apps.stores.services import change_details
from tests.billing import records as r
from tests.cast import Shop
from tests.dashboard.browse import Browser, text

pytestmark = pytest.mark.django_db
ADDRESS = {"line1": "Weg 1", "postal_code": "10115", "city": "Berlin", "country": "DE"}
MISSING = "Your legal name, country, and VAT or registration number are missing"


def test_a_draft_and_the_page_that_finalizes_it_say_what_is_missing(bakery: Shop) -> None:
    owner = r.customer(bakery.test, address=ADDRESS)
    made = r.draft(bakery.test, customer_id=owner["id"], tax_rate_bps=1900)
    browser = Browser(bakery.owner)
    for path in (f"invoices/{made['id']}", f"invoices/{made['id']}/finalize"):
        assert MISSING in text(browser.get(path)), path
    formats = r.ok(bakery.test.get(f"/billing/invoices/{made['id']}/e_invoices"))
    assert all(MISSING in item["missing"] for item in formats)


def test_details_of_the_owner_make_e_invoices_without_a_verification(bakery: Shop) -> None:
    change_details(
        bakery.store,
        StoreDetails(name="Alice", legal_name="Alice GmbH", country="DE", vat_number="DE136695976"),
    )
    owner = r.customer(bakery.test, address=ADDRESS)
    made = r.opened(bakery.test, customer_id=owner["id"], tax_rate_bps=1900)
    row = Invoice.objects.select_related("store", "customer").get(pk=made["id"])
    assert e_invoice.refusal(row) == ""
    assert b"Alice GmbH" in (e_invoice.e_invoice_xml(row) or b"")
