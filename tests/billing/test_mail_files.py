"""The files beside emails about invoices and credit notes."""

import io
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from pypdf import PdfReader

from apps.core import mail
from apps.core.clock import real_now
from apps.core.documents import drawings
from apps.core.models import OutgoingMail
from tests.billing import records as r
from tests.cast import Shop
from tests.e_invoices.generated import seller

pytestmark = pytest.mark.django_db
A_SECOND = timedelta(seconds=1)


def billed(shop: Shop, **fields: Any) -> dict[str, Any]:
    seller(shop)
    owner = r.customer(
        shop.test,
        email=shop.owner.email,
        address={"line1": "Weg 1", "postal_code": "10115", "city": "Berlin", "country": "DE"},
        buyer_reference="04011000-12345-34",
        **fields,
    )
    return r.opened(shop.test, customer_id=owner["id"], tax_rate_bps=1900)


def last() -> list[tuple[str, bytes]]:
    mail.send_due()
    return [
        (str(name), content if isinstance(content, bytes) else str(content).encode())
        for name, content, _ in outbox.outbox[-1].attachments
    ]


def test_an_invoice_is_emailed_with_its_pdf_which_is_the_e_invoice(bakery: Shop) -> None:
    made = billed(bakery)
    r.ok(r.act(bakery.test, made["id"], "send"))
    ((name, content),) = last()
    assert name == "invoice-INV-0001.pdf"
    reader = PdfReader(io.BytesIO(content))
    assert list(reader.attachments) == ["factur-x.xml"]


def test_a_buyer_who_wants_xml_gets_it_beside_the_pdf(bakery: Shop) -> None:
    made = billed(bakery, e_invoice_format="xrechnung")
    r.ok(r.act(bakery.test, made["id"], "send"))
    (pdf, _), (name, xml) = last()
    assert (pdf, name) == ("invoice-INV-0001.pdf", "invoice-INV-0001.xml")
    assert b"xrechnung_3.0" in xml
    r.ok(r.act(bakery.test, made["id"], "void"))
    path = f"/billing/invoices/{made['id']}/credit_notes"
    note = r.ok(bakery.test.post(path, {"credit_note": {}}), 201)
    r.ok(bakery.test.post(f"/billing/credit_notes/{note['id']}/send"))
    (pdf, _), (name, xml) = last()
    assert (pdf, name) == ("credit-note-CN-0001.pdf", "credit-note-CN-0001.xml")
    assert b"CreditNote" in xml


def test_a_format_that_lacks_something_leaves_the_pdf_alone(bakery: Shop) -> None:
    made = billed(bakery, e_invoice_format="peppol", country="DE", electronic_address=None)
    bakery.test.patch(
        f"/billing/customers/{made['customer_id']}", {"customer": {"buyer_reference": None}}
    )
    r.ok(r.act(bakery.test, made["id"], "send"))
    assert [name for name, _ in last()] == ["invoice-INV-0001.pdf"]


def test_files_that_cant_be_made_hold_an_email_up_for_three_attempts(
    bakery: Shop, settings: Any
) -> None:
    settings.MAIL_FILES = {
        **settings.MAIL_FILES,
        "invoice": "tests.billing.test_mail_files.nothing",
    }
    made = billed(bakery)
    r.ok(r.act(bakery.test, made["id"], "send"))
    before = len(outbox.outbox)
    for _ in range(3):
        mail.OutgoingMail.objects.filter(status="queued").update(
            next_attempt_at="2020-01-01T00:00Z"
        )
        mail.send_due()
    assert len(outbox.outbox) == before + 1 and not outbox.outbox[-1].attachments


def test_an_email_whose_pdf_is_not_drawn_yet_waits_and_holds_up_no_other(
    bakery: Shop, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = time.sleep

    def sleep(seconds: float) -> None:
        if threading.current_thread() is threading.main_thread():
            raise AssertionError("somebody waits for a drawing")
        wait(seconds)

    made = billed(bakery)
    settings.WORK_INLINE = False
    monkeypatch.setattr(drawings.time, "sleep", sleep)
    r.ok(r.act(bakery.test, made["id"], "send"))
    queued = OutgoingMail.objects.filter(status="queued", template="invoice_open")
    mail.send_due()
    before = len(outbox.outbox)
    for seconds in (2, 10, 60, 300):
        waiting = queued.get()
        assert waiting.next_attempt_at is not None
        assert abs(waiting.next_attempt_at - real_now() - timedelta(seconds=seconds)) < A_SECOND
        queued.update(next_attempt_at=real_now())
        if seconds != 300:
            mail.send_due()
    drawings.draw_due()
    ((name, _),) = last()
    assert (len(outbox.outbox), name) == (before + 1, "invoice-INV-0001.pdf")


def nothing(id: str) -> list[mail.MailFile]:
    raise RuntimeError("no file of this kind is made")


def test_an_unknown_format_is_refused(bakery: Shop) -> None:
    answer = bakery.test.post(
        "/billing/customers", {"customer": {"email": "a@example.com", "e_invoice_format": "pdf"}}
    )
    assert answer.status_code == 422 and "e_invoice_format must be one of" in str(answer.json())
