"""The invoice of an intent: it renders in every status, says whether it is paid, and fetches
nothing."""

import io
import re
from html import unescape
from typing import Any

from pypdf import PdfReader
from pytest_httpserver import HTTPServer

from apps.core import clock
from apps.payments.documents.invoice import _page
from apps.payments.models import Payment
from apps.stores.models import Store, Verification
from tests.cast import Api, Cast, Shop
from tests.dashboard.browse import Browser
from tests.make import advance, paid, payment, simulated

ITEMS = [
    {"description": "Rye bread", "quantity": 2, "unit_amount_cents": 350},
    {"description": "خبز <b>شعير</b>", "quantity": 1, "unit_amount_cents": 300},
]


def invoice(api: Api, made: dict[str, Any]) -> PdfReader:
    answer = api.get(f"/payments/{made['id']}/invoice")
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "application/pdf"
    assert (
        answer["Content-Disposition"] == f'attachment; filename="invoice-{made["reference"]}.pdf"'
    )
    return PdfReader(io.BytesIO(answer.content))


def words(reader: PdfReader) -> str:
    return " ".join("".join(page.extract_text() for page in reader.pages).split())


def shown(made: dict[str, Any]) -> str:
    """The words of the page that is drawn."""
    page = _page(Payment.objects.select_related("store").get(pk=made["id"]))
    return " ".join(unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.S)).split())


def test_an_unpaid_intent_has_an_invoice_that_says_so_and_where_to_pay(bakery: Shop) -> None:
    made = payment(bakery.test, title="Bread", order_id="order-7", line_items=ITEMS)
    reader = invoice(bakery.test, made)
    text = words(reader)
    assert "Not paid" in text and "Nothing so far" in text
    assert made["reference"] in text and "order-7" in text and "Alice's Bakery" in text
    assert "Rye bread" in text and "€7.00" in text and "€10.00" in text
    for payment_address in made["payment_addresses"]:
        assert payment_address["address"] in text and payment_address["crypto_amount"] in text
    assert "no real money" in text
    assert reader.root_object["/Lang"] == "en" and "/StructTreeRoot" in reader.root_object
    title = f"TEST · Invoice {made['reference']} · Alice's Bakery"
    assert reader.metadata is not None and reader.metadata.title == title


def test_the_country_of_the_merchant_is_named(bakery: Shop) -> None:
    at = clock.real_now()
    Verification.objects.create(
        store=bakery.store,
        status="approved",
        business_legal_name="Alice's Bakery Ltd",
        business_country="DE",
        tax_id="DE123456789",
        created_at=at,
        submitted_at=at,
        updated_at=at,
    )
    text = shown(payment(bakery.test))
    assert "Alice's Bakery Ltd Germany VAT or tax ID DE123456789" in text


def test_an_invoice_speaks_the_language_in_which_the_store_writes_to_customers(
    bakery: Shop,
) -> None:
    Store.objects.filter(pk=bakery.store.pk).update(customer_language="de")
    made = payment(bakery.test)
    text = shown(made)
    assert "Nicht bezahlt" in text and "Testrechnung" in text and "Wo Sie zahlen" in text
    assert "Not paid" not in text and "10,00" in text
    assert all(payment_address["address"] in text for payment_address in made["payment_addresses"])


def test_a_paid_intent_has_its_transactions_on_the_invoice(bakery: Shop) -> None:
    made = paid(bakery.test)
    text = shown(made)
    assert "Not paid" not in text and "Paid" in text
    assert "Where to pay" not in text and "don’t send anything to these addresses" in text
    assert made["transaction"]["tx_hash"] in text.replace(" ", "")


def test_each_status_says_what_it_means(bakery: Shop) -> None:
    part, waiting, gone = (payment(bakery.test, expires_in=300) for _ in range(3))
    simulated(bakery.test, part["id"], "underpaid")
    simulated(bakery.test, waiting["id"], "unconfirmed")
    assert "Partly paid" in shown(part)
    assert "Not yet confirmed" in shown(waiting)
    advance(bakery.test, 400)
    assert "Not paid, expired" in shown(gone)


def test_a_live_invoice_carries_no_mark_of_a_test(bakery: Shop) -> None:
    reader = invoice(bakery.live, payment(bakery.live))
    assert (
        "no real money" not in words(reader)
        and "TEST" not in words(reader).upper()
        and "TEST" not in str(reader.metadata)
    )


def test_every_page_of_a_test_invoice_says_that_it_is_one(bakery: Shop) -> None:
    reader = invoice(bakery.test, payment(bakery.test, line_items=ITEMS * 12))
    assert len(reader.pages) > 1
    assert all("TEST – no real money" in page.extract_text() for page in reader.pages)


ADDED_UP = {
    "to less than the total": ("24.90", "EUR", 1000, "Other charges €14.90"),
    "to more than the total": ("8.00", "EUR", 1000, "Discounts and credits −€2.00"),
    "to the total": ("10.00", "EUR", 1000, ""),
    "to a part of a yen less": ("100", "JPY", 9950, "Other charges ¥0.50"),
    "to more yen": ("100", "JPY", 15000, "Discounts and credits −¥50"),
}


def test_an_invoice_adds_up_whatever_its_items_add_up_to(bakery: Shop) -> None:
    for case, (amount, currency, price, line) in ADDED_UP.items():
        items = [{"description": "Bread", "quantity": 1, "unit_amount_cents": price}]
        made = payment(bakery.test, amount=amount, currency=currency, line_items=items)
        text = shown(made)
        assert line in text, case
        assert ("Other charges" in text or "Discounts" in text) == bool(line), case


def test_a_pictures_address_is_never_fetched(bakery: Shop, httpserver: HTTPServer) -> None:
    url = httpserver.url_for("/pixel.png").replace("http://", "https://")
    items = [
        {
            **ITEMS[0],
            "description": f'<img src="{httpserver.url_for("/pixel.png")}">',
            "image_url": url,
        }
    ]
    bakery.store.logo_url = httpserver.url_for("/logo.png")
    bakery.store.primary_color = "}*{x:y"
    bakery.store.save()
    made = payment(
        bakery.test,
        image_url=url,
        title=f'<link rel="stylesheet" href="{httpserver.url_for("/x.css")}">',
        line_items=items,
    )
    assert "<img" in words(invoice(bakery.test, made))
    assert httpserver.log == []


def test_the_scope_is_that_of_reading_payments_and_the_dashboard_offers_the_same_file(
    cast: Cast,
) -> None:
    made = payment(cast.bakery.test)
    path = f"payments/{made['id']}/invoice"
    assert cast.bakery.with_scopes("balances:read").get(f"/{path}").status_code == 403
    told = cast.bakery.with_scopes("payments:read").get(f"/{path}")
    assert told.status_code == 200

    browser = Browser(cast.bob)
    assert f"/dashboard/{path}" in browser.get(f"payments/{made['id']}").content.decode()
    answer = browser.get(path)
    assert (answer["Content-Type"], answer.content) == ("application/pdf", told.content)
    assert answer.content.startswith(b"%PDF-")
