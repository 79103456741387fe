"""A receipt by email: what it holds, in which language, how few can be asked for, and TEST on all
that isn't real."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.core import mail as outbox
from django.test import Client
from django.utils.html import strip_tags

from apps.core import clock, mail
from apps.core.models import OutgoingMail
from apps.core.redis import buckets
from apps.payments.documents.receipt import receipt_of
from apps.payments.models import Payment
from apps.payments.services.receipts import MAILBOXES_MAX
from apps.payments.services.refund_progress import advance_refunds
from apps.stores.services import change_store
from tests import make
from tests.cast import Shop
from tests.stage import empty_buckets

pytestmark = pytest.mark.django_db
ITEMS = [
    {"description": "Guji <b>coffee</b>", "quantity": 2, "unit_amount_cents": 980},
    {"description": "Filters", "quantity": 1, "unit_amount_cents": 530},
]
SELLER = {
    "street": "Hauptstraße 1",
    "postal_code": "10115",
    "city": "Berlin",
    "country": "DE",
    "brand_name": "Alice’s",
}


def ask(reference: str, email: str = "ann@example.com", query: str = "", **headers: str) -> Any:
    client = Client(enforce_csrf_checks=True)
    return client.post(f"/pay/{reference}/receipt{query}", {"email": email}, headers=headers)


def paid(shop: Shop, **fields: Any) -> dict[str, Any]:
    return make.paid(
        shop.test, **{"amount": "24.90", "title": "Order 1042", "line_items": ITEMS, **fields}
    )


def emails() -> list[Any]:
    outbox.outbox.clear()
    mail.send_due()
    return list(outbox.outbox)


def page(reference: str, **query: str) -> str:
    return Client().get(f"/pay/{reference}", query).content.decode()


def clear_limits() -> None:
    for name in buckets.client().keys("*receipts*"):
        buckets.client().delete(name)


def test_it_says_what_was_paid_to_whom_when_and_how(bakery: Shop) -> None:
    change_store(bakery.store, **SELLER)
    made = paid(bakery)
    answer = ask(made["reference"], "Ann@Example.com")
    assert (
        answer.status_code == 303
        and answer["Location"] == f"/pay/{made['reference']}?receipt=sent#receipt"
    )
    [message] = emails()
    assert (
        message.to == ["Ann@Example.com"]
        and message.subject == "[TEST] Receipt from Alice’s: €24.90"
    )
    tx_hash = make.detail(bakery.test, made["id"])["transaction"]["tx_hash"]
    html = message.alternatives[0][0]
    for text in (message.body, html):
        for told in (
            "€24.90",
            "Alice",
            "Alice’s",
            "Hauptstraße 1",
            "10115 Berlin",
            "Germany",
            "Order 1042",
            "Filters",
            "€9.80",
            "€5.30",
        ):
            assert told in text, told
        for told in (
            "ETH",
            "Ethereum Sepolia",
            "1 ETH = €1,800.00",
            tx_hash,
            made["reference"],
            f"/pay/{made['reference']}",
        ):
            assert told in text, told
        assert "TEST: no real money" in text
    assert f"{tx_hash}\nReference: {made['reference']}" in message.body
    assert "Guji <b>coffee</b>" in message.body and "Guji &lt;b&gt;coffee&lt;/b&gt;" in html
    assert "Your receipt is on its way" in page(made["reference"], receipt="sent")


def test_what_the_public_page_never_shows_is_not_in_it(bakery: Shop) -> None:
    made = paid(bakery, order_id="ORDER-4711", metadata={"note": "margin is thin"})
    ask(made["reference"])
    [message] = emails()
    assert "ORDER-4711" not in message.body and "margin" not in message.body


def test_a_real_one_says_nothing_of_a_test(bakery: Shop) -> None:
    made = make.payment(bakery.live, title="Order 1042")
    Payment.objects.filter(pk=made["id"]).update(completed_at=clock.real_now())
    ask(made["reference"])
    [message] = emails()
    assert (
        message.subject == "Receipt from Alice's Bakery: €10.00"
        and "TEST" not in message.body.upper().replace("LATEST", "")
    )


def test_it_is_in_the_language_of_the_page(bakery: Shop) -> None:
    made = paid(bakery)
    assert ask(made["reference"], query="?lang=ar")["Location"].startswith(
        f"/pay/{made['reference']}?lang=ar&"
    )
    [message] = emails()
    assert 'lang="ar" dir="rtl"' in message.alternatives[0][0]


def test_coins_that_were_paid_are_written_as_the_reader_writes_numbers(bakery: Shop) -> None:
    """Not those that are still due: what is copied by hand goes to a wallet."""
    made = make.payment(bakery.test, amount="2500000.00")
    assert "1388,88888889" in page(made["reference"], lang="de")
    make.simulated(bakery.test, made["id"])
    ask(made["reference"], query="?lang=de")
    [message] = emails()
    coins = "1.388,88888889 ETH"
    for written in (page(made["reference"], lang="de"), message.alternatives[0][0], message.body):
        assert coins in strip_tags(written)


def test_no_stored_address_is_shown_to_whoever_has_the_link(bakery: Shop) -> None:
    made = paid(bakery, metadata={"customer_email": "known@example.com"})
    ask(made["reference"], "ann@example.com")
    assert "known@example.com" not in page(made["reference"]) and "ann@example.com" not in page(
        made["reference"]
    )


NO_ADDRESS: list[str] = [
    "",
    "ann",
    "a@b",
    "ann@example.com\nBcc: x@example.com",
    "a" * 260 + "@example.com",
    "\x00@example.com",
]


def test_what_is_no_address_is_refused_at_its_field(bakery: Shop) -> None:
    made = paid(bakery)
    for typed in NO_ADDRESS:
        empty_buckets()
        answer = ask(made["reference"], typed)
        assert answer.status_code == 422 and b'id="receipt-email-error"' in answer.content, typed
    assert not OutgoingMail.objects.filter(template="payment_receipt").exists()


def test_one_address_gets_it_once_an_hour(bakery: Shop) -> None:
    made = paid(bakery)
    assert [ask(made["reference"]).status_code for _ in range(2)] == [303, 303]
    assert OutgoingMail.objects.filter(template="payment_receipt").count() == 1
    with time_machine.travel(clock.real_now() + timedelta(hours=2)):
        ask(made["reference"])
    assert OutgoingMail.objects.filter(template="payment_receipt").count() == 2


def test_few_mailboxes_get_the_receipt_of_one_payment(bakery: Shop) -> None:
    made = paid(bakery)
    answers = []
    for number in range(MAILBOXES_MAX + 1):
        answers.append(ask(made["reference"], f"ann{number}@example.com"))
        clear_limits()
    assert [answer.status_code for answer in answers] == [303] * MAILBOXES_MAX + [429]
    assert "Too many receipts were sent" in answers[-1].content.decode()


def test_one_mailbox_gets_few_receipts_in_a_day(bakery: Shop) -> None:
    limit = settings.EMAIL_LIMITS["payment_receipt"].by_store
    row = Payment.objects.select_related("store").get(pk=paid(bakery)["id"])
    for number in range(limit):
        assert mail.send(
            key=f"x{number}",
            to="ann@example.com",
            template="payment_receipt",
            context={"receipt": receipt_of(row)},
            store=bakery.store,
        )
    assert ask(paid(bakery)["reference"], "ann+1@example.com").status_code == 429


def test_presses_are_limited(bakery: Shop) -> None:
    made = paid(bakery)
    codes = [ask(made["reference"]).status_code for _ in range(6)]
    assert codes[0] == 303 and codes[-1] == 429


def test_there_is_none_before_a_payment_is_completed(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    assert "Email me a receipt" not in page(made["reference"])
    assert ask(made["reference"])["Location"] == f"/pay/{made['reference']}"
    assert not OutgoingMail.objects.filter(template="payment_receipt").exists()


def test_a_refunded_payment_keeps_its_receipt_and_says_so(bakery: Shop) -> None:
    make.funded(bakery.test)
    made = paid(bakery)
    assert bakery.test.post(f"/payments/{made['id']}/refunds", {}, key="back").status_code == 201
    make.advance(bakery.test, 120)
    advance_refunds()
    assert make.detail(bakery.test, made["id"])["status"] == "refunded"
    assert "Email me a receipt" in page(made["reference"])
    ask(made["reference"])
    [message] = [message for message in emails() if "Receipt" in message.subject]
    assert "Refunded: €24.90 (0.01383334 ETH, Ethereum Sepolia)" in message.body


def test_the_page_itself_says_how_it_was_paid(bakery: Shop) -> None:
    text = " ".join(re.sub(r"<[^>]+>", " ", page(paid(bakery)["reference"])).split())
    assert "Ethereum Sepolia 1 ETH = €1,800.00" in text and "Email me a receipt" in text
