"""Credit notes as PDF, in the customer's portal and by email, and a customer's credit on pages."""

from io import BytesIO

import pytest
from django.test import Client
from pypdf import PdfReader

from apps.billing.models import CreditNote, Customer
from apps.billing.services.portal import portal_url
from apps.core.models import OutgoingMail
from apps.stores.models.mail import TestLetter
from tests.billing import records as r
from tests.billing.test_credit_notes import credited, voided
from tests.billing.test_customer_credit import taxed
from tests.billing.test_paid_twice import paid_twice
from tests.cast import Cast, Shop
from tests.dashboard.browse import Browser, text
from tests.e_invoices import checking
from tests.e_invoices.generated import seller

pytestmark = pytest.mark.django_db


def read(content: bytes) -> PdfReader:
    return PdfReader(BytesIO(content))


def words(content: bytes) -> str:
    return " ".join(" ".join(page.extract_text() for page in read(content).pages).split())


def test_the_pdf_says_what_was_taken_back_and_has_its_data_inside(cast: Cast) -> None:
    bakery = cast.bakery
    seller(bakery)
    made = voided(bakery.test)
    note = credited(bakery.test, made, amount_cents=5950, memo="Damaged")
    answer = bakery.test.get(f"/billing/credit_notes/{note['id']}/pdf")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/pdf")
    assert 'filename="credit-note-CN-0001.pdf"' in answer["Content-Disposition"]
    shown = words(answer.content)
    for part in ("Credit note CN-0001", "INV-0001", "€59.50", "€50.00", "€9.50", "Damaged"):
        assert part in shown, (part, shown)
    [(name, [xml])] = read(answer.content).attachments.items()
    assert name == "factur-x.xml" and not checking.problems(xml, "factur-x")
    assert checking.read(xml)["BT-3"] == "381"
    assert cast.strangers.test.get(f"/billing/credit_notes/{note['id']}/pdf").status_code == 404

    public = f"/invoice/{made['public_token']}/credit-notes/1"
    client = Client()
    german = client.get(f"{public}.pdf", headers={"Accept-Language": "de"})
    assert german.status_code == 200 and "Gutschrift" in words(german.content)
    assert client.get(f"{public}.xml?format=xrechnung").status_code == 200
    for path in (f"{public}.xml?format=fax", f"/invoice/{made['public_token']}/credit-notes/2.pdf"):
        assert client.get(path).status_code == 404
    assert f"{public}.pdf" in text(client.get(f"/invoice/{made['public_token']}"))
    customer = Customer.objects.get(pk=made["customer_id"])
    portal = text(client.get(portal_url(customer).partition("/portal/")[2].join(("/portal/", ""))))
    assert "CN-0001" in portal and f"{public}.pdf" in portal

    browser = Browser(bakery.owner)
    page = text(browser.get(f"invoices/{made['id']}"))
    assert "CN-0001" in page
    file = browser.get(f"invoices/{made['id']}/file?of=credit_note&note={note['id']}")
    assert file["Content-Type"] == "application/pdf"


def test_what_a_void_makes_is_emailed_and_another_when_it_is_asked_for(bakery: Shop) -> None:
    api = bakery.test
    taxed(api)
    made = r.opened(api)
    r.ok(r.act(api, made["id"], "void"))
    note = CreditNote.objects.get()
    sent = OutgoingMail.objects.filter(to=made["customer"]["email"], template="credit_note")
    assert sent.count() == 1
    [letter] = TestLetter.objects.filter(to=made["customer"]["email"])
    assert "CN-0001" in letter.subject and "/credit-notes/1.pdf" in letter.text
    r.ok(api.post(f"/billing/credit_notes/{note.pk}/send"))
    assert sent.count() == 2


def test_a_customer_and_the_merchant_see_the_credit_and_what_used_it(cast: Cast) -> None:
    bakery = cast.bakery
    sent, _ = paid_twice(bakery)
    owner = str(sent["customer_id"])
    client = Client()
    path = "/portal/" + portal_url(Customer.objects.get(pk=owner)).partition("/portal/")[2]
    assert "You have a credit of €10.00" in text(client.get(path))
    used = r.opened(bakery.test, customer_id=owner, line_items=[r.line(1500)])
    [credit] = r.ok(bakery.test.get(f"/billing/customers/{owner}/credit"))
    assert (credit["currency"], credit["balance_cents"]) == ("EUR", 0)
    assert [(line["kind"], line["amount_cents"]) for line in credit["lines"]] == [
        ("applied", -1000),
        ("overpaid", 1000),
    ]
    assert cast.strangers.test.get(f"/billing/customers/{owner}/credit").status_code == 404
    page = text(client.get(f"/invoice/{used['public_token']}"))
    assert "From your credit" in page and "€10.00" in page and "€5.00" in page
    shown = words(client.get(f"/invoice/{used['public_token']}/invoice.pdf").content)
    assert "From your credit €10.00" in shown
    hosted = r.view(used["public_token"])
    assert (hosted["amount_paid_cents"], hosted["credit_applied_cents"]) == (1000, 1000)
    shown = text(Browser(bakery.owner).get(f"customers/{owner}"))
    assert "Used for an invoice" in shown and "Paid beyond what was owed" in shown
    assert "From the customer" in text(Browser(bakery.owner).get(f"invoices/{used['id']}"))
