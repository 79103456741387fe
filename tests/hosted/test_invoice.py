"""The hosted invoice as a client without a browser sees it: what it says in each state, what can be
done, and its files."""

import io
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pypdf import PdfReader

from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.invoices.seller_buyer import address_lines
from apps.billing.models import InvoicePayment, InvoiceTax
from apps.core.models import OutgoingMail
from apps.payments.models import Payment
from apps.payments.services.late import accept_late_deposit
from apps.stores.services import change_store
from tests import make
from tests.billing import records as r
from tests.cast import Cast, Shop, assemble
from tests.stage import standing

pytestmark = pytest.mark.django_db
HOUR = 3601


def page(made: dict[str, Any], query: str = "") -> str:
    answer = Client().get(f"/invoice/{made['public_token']}{query}")
    assert answer.status_code == 200, answer.content
    whole = answer.content.decode().replace("<wbr>", "")
    return " ".join(re.sub(r"<[^>]+>", " ", whole).replace("&#x27;", "'").split())


def press(made: dict[str, Any], button: str = "pay", **fields: str) -> Any:
    return Client().post(f"/invoice/{made['public_token']}/{button}", fields)


def intents(made: dict[str, Any]) -> list[Payment]:
    return [
        invoice_payment.payment
        for invoice_payment in (
            InvoicePayment.objects.filter(invoice_id=made["id"])
            .select_related("payment")
            .order_by("id")
        )
    ]


@dataclass
class World:
    """Alice's store, and an open invoice of €10.00."""

    cast: Cast
    invoice: dict[str, Any]


def an_open_invoice() -> World:
    cast = assemble()
    return World(cast, r.opened(cast.bakery.test))


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    yield from standing(django_db_blocker, an_open_invoice)


@pytest.fixture
def cast(world: World, db: None) -> Cast:
    return world.cast.again()


@pytest.fixture
def made(world: World, cast: Cast) -> dict[str, Any]:
    return deepcopy(world.invoice)


def text_of(answer: Any) -> str:
    assert answer["Content-Type"] == "application/pdf", answer
    return " ".join(
        " ".join(
            page.extract_text() for page in PdfReader(io.BytesIO(answer.content)).pages
        ).split()
    )


def file_of(made: dict[str, Any], name: str) -> Any:
    return Client().get(f"/invoice/{made['public_token']}/{name}.pdf")


def test_drafts_and_unknown_tokens_are_not_found(bakery: Shop, made: dict[str, Any]) -> None:
    for token in ("nosuchtokenatall", "x", "%00", "é"):
        assert Client().get(f"/invoice/{token}").status_code == 404
        assert Client().post(f"/invoice/{token}/pay").status_code == 404
    for token in (r.draft(bakery.test)["id"], made["id"]):
        for path in ("", "/invoice.pdf", "/invoice.xml", "/receipt.pdf", "/brand.css"):
            assert Client().get(f"/invoice/{token}{path}").status_code == 404
        for path in ("/pay", "/simulate", "/portal"):
            assert Client().post(f"/invoice/{token}{path}").status_code == 404


def test_the_page_says_who_bills_whom_for_what_and_what_is_due(bakery: Shop) -> None:
    address = {"line1": "Ringstrasse 1", "postal_code": "10115", "city": "Berlin", "country": "DE"}
    owner = r.customer(bakery.test, name="Ann Baker", address=address)
    made = r.opened(
        bakery.test,
        customer_id=owner["id"],
        line_items=[r.line(21900, 2, "Rye flour"), r.line(2000, 1, "Freight")],
        tax_rate_bps=1950,
        discount_type="percent",
        discount_value=10,
        po_number="PO-3381",
        notes="Ring <b>twice</b>",
        footer="Thanks",
        due_at="2099-12-01T00:00:00Z",
    )
    said = page(made)
    for part in (
        "INV-0002",
        "Alice's Bakery",
        "Ann Baker",
        "Ringstrasse 1",
        "10115 Berlin",
        owner["email"],
        "Rye flour",
        "2 × €219.00",
        "Subtotal €458.00",
        "Discount, 10% −€45.80",
        "Tax, 19.5% €80.38",
        "Total €492.58",
        "PO-3381",
        "1 Dec 2099",
        "Unpaid",
        "Pay €492.58",
        "Ring &lt;b&gt;twice&lt;/b&gt;",
        "Thanks",
    ):
        assert part in said, part
    assert "Payments received" not in said
    answer = Client().get(f"/invoice/{made['public_token']}")
    assert (answer["Cache-Control"], answer["Referrer-Policy"], answer["X-Robots-Tag"]) == (
        "no-store",
        "same-origin",
        "noindex",
    )
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_pressing_pay_makes_one_intent_and_shows_its_checkout_in_the_page(
    made: dict[str, Any],
) -> None:
    for _ in range(2):
        answer = press(made)
        assert (answer.status_code, answer["Location"]) == (303, f"/invoice/{made['public_token']}")
    (payment,) = intents(made)
    said = page(made)
    assert "Send exactly" in said and payment.reference in said and "Pay €10.00" not in said
    assert (
        Client().get(f"/invoice/{made['public_token']}?pay=card")["Location"]
        == f"/pay/{payment.reference}?pay=card"
    )


def test_the_test_panel_pays_and_the_page_becomes_the_receipt(made: dict[str, Any]) -> None:
    assert press(made, "simulate", scenario="exact").status_code == 404
    press(made)
    assert press(made, "simulate", scenario="nonsense").status_code == 404
    assert press(made, "simulate", scenario="underpaid").status_code == 303
    assert "Partially paid" in page(made)
    press(made, "simulate", scenario="unconfirmed", reference="rest")
    assert "Confirming your payment" in page(made)
    press(made, "simulate", scenario="exact", reference="rest")
    said = page(made)
    assert (
        "Paid (test) No real money was moved. Thank you" in said
        and "Payments received" in said
        and "Receipt as PDF" in said
    )
    assert press(made).status_code == 422
    assert "Pay €" not in said


def test_a_part_payment_is_shown_and_what_is_left_is_asked_for_with_one_intent(
    bakery: Shop,
    made: dict[str, Any],
) -> None:
    change_store(bakery.store, accept_underpayments=True)
    press(made)
    make.simulated(bakery.test, str(intents(made)[0].pk), None, settlement_amount="4.00")
    make.advance(bakery.test, HOUR)
    said = page(made)
    for part in (
        "€6.00 Partly paid left of €10.00",
        "Left to pay €6.00",
        "Payments received",
        "€4.00",
        "Pay the remaining amount",
        "Pay €6.00",
    ):
        assert part in said, part
    press(made), press(made)
    assert [intent.settlement_amount_cents for intent in intents(made)] == [1000, 600]
    make.simulated(bakery.test, str(intents(made)[1].pk))
    said = page(made)
    assert "Paid (test) No real money was moved. Thank you" in said and said.count("0x") == 2
    assert "Payments received" in text_of(file_of(made, "receipt"))


def test_after_the_time_of_an_intent_a_new_one_is_made(bakery: Shop, made: dict[str, Any]) -> None:
    press(made)
    make.advance(bakery.test, HOUR)
    said = page(made)
    assert (
        "Your last payment has expired" in said
        and "I already paid" in said
        and "Pay €10.00" in said
    )
    form = f'action="/pay/{intents(made)[0].reference}/sent"'
    assert form in Client().get(f"/invoice/{made['public_token']}").content.decode()
    press(made)
    assert [intent.status for intent in intents(made)] == ["expired", "pending"]
    assert "Send exactly" in page(made)


def test_what_came_too_late_is_told_before_somebody_pays_again(
    bakery: Shop, made: dict[str, Any]
) -> None:
    press(made)
    make.advance(bakery.test, HOUR)
    page(made)
    make.late_deposit(str(intents(made)[0].pk))
    said = page(made)
    assert "Your payment arrived after time was up. It’s safe: Alice's Bakery can" in said
    assert "Your last payment has expired" not in said and "Pay €10.00" in said


def test_an_invoice_says_how_long_its_price_is_held(made: dict[str, Any]) -> None:
    press(made)
    assert re.search(r"5\d minutes left", page(made))


def test_a_failed_payment_is_told_and_can_be_made_again(bakery: Shop, made: dict[str, Any]) -> None:
    change_store(bakery.store, accept_overpayments=False)
    press(made)
    make.simulated(bakery.test, str(intents(made)[0].pk), "overpaid")
    assert "Your last payment was not accepted" in page(made)
    assert press(made).status_code == 303


@pytest.mark.parametrize(
    ("act", "words"),
    [("void", "This invoice was canceled"), ("mark_uncollectible", "This invoice is closed")],
)
def test_what_is_not_to_be_paid_any_more_says_so(
    bakery: Shop, made: dict[str, Any], act: str, words: str
) -> None:
    press(made)
    r.ok(r.act(bakery.test, made["id"], act))
    said = page(made)
    assert (
        words in said
        and "Pay €" not in said
        and "Send exactly" not in said
        and "past due" not in said.lower()
    )
    assert press(made).status_code == 422


def test_money_that_comes_to_a_written_off_invoice_is_still_followed(
    bakery: Shop, made: dict[str, Any]
) -> None:
    press(made)
    r.ok(r.act(bakery.test, made["id"], "mark_uncollectible"))
    make.simulated(bakery.test, str(intents(made)[0].pk), "unconfirmed")
    assert "Payment detected" in page(made)


def test_past_due_is_counted_by_the_stores_own_time(bakery: Shop) -> None:
    made = r.opened(bakery.test, due_at=r.ok(bakery.test.get("/test_clock"))["now"])
    assert "Past due" in page(made)


def test_a_refund_is_told_on_the_receipt(bakery: Shop, made: dict[str, Any]) -> None:
    paid = r.pay(bakery.test, made)
    make.paid(bakery.test, amount="100.00")
    body = {"destination_address": make.fresh_address()}
    r.ok(
        bakery.test.post(f"/payments/{intents(made)[0].pk}/refunds", {"refund": body}, key="k"), 201
    )
    for _ in range(2):
        make.advance(bakery.test, 61)
    r.view(paid["public_token"])
    update_paid_amounts()
    assert "has refunded €10.00" in page(made)
    assert "Paid, refunded" in text_of(file_of(made, "receipt"))


def test_invoice_and_receipt_are_tagged_pdfs_of_the_same_figures(bakery: Shop) -> None:
    made = r.opened(
        bakery.test,
        custom_number='../2026/№ 7 "x"',
        tax_rate_bps=1900,
        notes="N" * 4000,
        line_items=[r.line(description="A<b>&")],
    )
    answer = file_of(made, "invoice")
    assert answer["Content-Disposition"] == 'attachment; filename="invoice-2026-7-x.pdf"'
    said = text_of(answer)
    for part in (
        "Invoice",
        "Not paid",
        "€11.90",
        "A<b>&",
        "Tax, 19%",
        made["hosted_url"],
        "Test invoice",
        "TEST – no real money",
    ):
        assert part in said, part
    reader = PdfReader(io.BytesIO(answer.content))
    assert (
        reader.trailer["/Root"]["/MarkInfo"]["/Marked"] and reader.trailer["/Root"]["/Lang"] == "en"
    )  # type: ignore[index]
    assert file_of(made, "receipt").status_code == 404
    r.pay(bakery.test, made)
    answer = file_of(made, "receipt")
    assert answer["Content-Disposition"] == 'attachment; filename="receipt-2026-7-x.pdf"'
    said = text_of(answer)
    for part in ("Test receipt", "Paid", "€11.90", "Payments received", "0x"):
        assert part in said, part


@pytest.mark.parametrize(
    ("country", "language", "words"),
    [
        ("DE", "de", "USt., 19 %"),
        ("FR", "fr", "TVA, 19 %"),
        ("CH", "en", "VAT, 19%"),
        ("US", "en", "Tax, 19%"),
        ("", "de", "Steuer, 19 %"),
    ],
)
def test_the_tax_of_a_seller_where_it_is_vat_is_called_so_in_the_customers_language(
    bakery: Shop, country: str, language: str, words: str
) -> None:
    """On the page and in the PDF."""
    bakery.store.country = country
    bakery.store.save(update_fields=["country"])
    made = r.opened(bakery.test, tax_rate_bps=1900)
    path = f"/invoice/{made['public_token']}"
    shown = Client(headers={"Accept-Language": language}).get(path).text
    spaces = str.maketrans("\u00a0\u202f", "  ")
    assert words in " ".join(shown.translate(spaces).split())
    pdf = Client(headers={"Accept-Language": language}).get(f"{path}/invoice.pdf")
    assert words in " ".join(text_of(pdf).translate(spaces).split())


def test_a_store_shows_its_name_and_colours(bakery: Shop, made: dict[str, Any]) -> None:
    change_store(
        bakery.store,
        brand_name="Brot & Büchse",
        primary_color="#7b2d8b",
        remove_service_branding=True,
    )
    answer = Client().get(f"/invoice/{made['public_token']}")
    assert (
        b"Brot &amp; B" in answer.content
        and b"Payments by" not in answer.content
        and b"branded" in answer.content
    )
    assert b"#7b2d8b" in Client().get(f"/invoice/{made['public_token']}/brand.css").content


def test_a_link_to_everything_goes_to_the_customers_mailbox_once_an_hour(
    made: dict[str, Any],
) -> None:
    for _ in range(3):
        answer = press(made, "portal")
        assert answer["Location"] == f"/invoice/{made['public_token']}?sent=1"
    assert "Check your email" in page(made, "?sent=1")
    assert OutgoingMail.objects.filter(
        template="portal_link", to=made["customer"]["email"]
    ).count() in (1, 2)


def test_a_late_deposit_that_the_merchant_accepts_pays_the_invoice_and_ends_an_intent_that_waits(
    bakery: Shop,
    made: dict[str, Any],
) -> None:
    press(made)
    make.advance(bakery.test, HOUR)
    press(made)
    first, second = intents(made)
    deposit_id = make.late_deposit(str(first.pk))
    assert r.invoice(bakery.test, made["id"])["amount_paid_cents"] == 0
    accept_late_deposit(first, deposit_id, bakery.access().now())
    assert [update_paid_amounts() for _ in range(3)] == [
        1,
        1,
        0,
    ]  # the invoice, and the intent that was ended with it
    paid = r.invoice(bakery.test, made["id"])
    assert (paid["status"], paid["amount_paid_cents"]) == ("paid", 1000)
    second.refresh_from_db()
    assert second.status == "expired"
    assert "Paid (test) No real money was moved. Thank you" in page(made)


ADDRESSES = [
    (None, []),
    ({}, []),
    (
        {"city": "Berlin", "country": "DE", "line1": "Ring 1", "postal_code": "10115"},
        ["Ring 1", "10115 Berlin", "Germany"],
    ),
    (
        {"zip": 10115, "deep": {"a": "b"}, "list": ["x"], "yes": True, "blank": " ", "floor": "3"},
        ["10115", "3"],
    ),
]


@pytest.mark.parametrize(("address", "lines"), ADDRESSES)
def test_an_address_of_any_shape_is_written_as_people_do(address: Any, lines: list[str]) -> None:
    assert address_lines(address) == lines


@pytest.mark.parametrize(
    ("bps", "text"),
    [(0, "0"), (50, "0.5"), (700, "7"), (1950, "19.5"), (10000, "100"), (1, "0.01")],
)
def test_a_rate_is_written_without_zeros(bps: int, text: str) -> None:
    assert InvoiceTax(rate_bps=bps).percent == text


def test_looking_again_stays_cheap_however_much_was_paid_before(
    bakery: Shop, made: dict[str, Any]
) -> None:
    change_store(bakery.store, accept_underpayments=True)

    def look() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert (
                Client()
                .get(f"/invoice/{made['public_token']}", headers={"HX-Request": "true"})
                .status_code
                == 200
            )
        return len(asked)

    assert look() <= 4, "nothing was begun that could have changed it since it was read"
    press(made)
    first = look()
    assert first <= 12, "what the payment may have changed is read once"
    make.simulated(bakery.test, str(intents(made)[0].pk), None, settlement_amount="4.00")
    make.advance(bakery.test, HOUR)
    press(made)
    assert look() <= first + 6
