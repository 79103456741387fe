"""The till: a sale is one payment whose lines add up, made once under the key of its device, and
what its pages say of it."""

import re
import uuid
from html import unescape
from typing import Any

import pytest

from apps.core.messages.fields import Invalid
from apps.core.money import Bps
from apps.links.models import Sale, TillItem
from apps.links.sale_documents import VatPart, tip_cents, vat_of, vat_parts
from apps.links.services.sales import (
    PricesChanged,
    SaleDiffers,
    SaleEnded,
    answer_tip,
    cancel_sale,
    discard_sale,
    payment_of,
    quote_again,
    start_sale,
)
from apps.links.services.till import change_till
from apps.links.till_requests import TillRequest
from apps.links.till_selectors import TIPS_DEFAULT, DayTotal, day_totals, items_of, till_of
from apps.payments.models import Payment
from apps.payments.services.cancel import NotCancelable
from apps.stores.models import AuditEntry, Role, Store
from tests.billing import records
from tests.cast import Cast, Shop
from tests.dashboard.browse import Browser, text
from tests.links.cashiers import joined
from tests.links.sales import coffee, line, new_key, ring_up, sale_request, set_up, sold
from tests.make import advance, simulated

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(cast: Cast) -> Browser:
    return Browser(cast.alice)


def words(answer: Any) -> str:
    """Words of a page, without its tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", text(answer)).split())


@pytest.mark.parametrize(
    ("cents", "share", "currency", "tip"),
    [
        (1250, 1000, "EUR", 125),
        (1, 1000, "EUR", 0),
        (5, 1000, "EUR", 1),
        (1249, 1500, "EUR", 187),
        (123400, 500, "JPY", 6200),
    ],
)
def test_a_tip_is_rounded_half_up_to_what_can_be_paid(
    cents: int, share: int, currency: str, tip: int
) -> None:
    assert tip_cents(cents, Bps(share), currency) == tip


# --- the sale and its payment ---


def test_a_sale_without_tips_has_its_payment_at_once(bakery: Shop, alice: Browser) -> None:
    set_up(bakery.owner_access())
    assert ring_up(alice, note="Table 4").status_code == 303
    made = Payment.objects.get()
    assert (made.settlement_amount_cents, made.title, made.metadata) == (
        1250,
        "Table 4",
        {"source": "point_of_sale"},
    )
    assert Sale.objects.get().payment == made
    assert made.line_items == [{"description": "Table 4", "quantity": 1, "unit_amount_cents": 1250}]


def test_the_customer_is_asked_for_a_tip_before_there_is_a_payment(
    bakery: Shop, alice: Browser
) -> None:
    page = alice.get(ring_up(alice)["Location"].removeprefix("/dashboard/"))
    assert not Payment.objects.exists()
    shown = page.content.decode()
    assert "Not charged yet" in shown and "QR code of the customer’s page" in shown
    sale = Sale.objects.get()
    assert sale.offered_bps == list(TIPS_DEFAULT)
    answered = answer_tip(bakery.owner_access(), sale, 125)
    made = Payment.objects.get()
    assert answered.payment == made and made.settlement_amount_cents == 1375
    assert made.metadata == {"source": "point_of_sale", "tip": "1.25"}
    assert [item["description"] for item in made.line_items] == ["Sale", "Tip"]
    assert answer_tip(bakery.owner_access(), sale, 999).tip_cents == 125
    assert Payment.objects.count() == 1, "the first answer stands"


def test_no_tip_is_one_press_at_the_till(bakery: Shop, alice: Browser) -> None:
    path = ring_up(alice)["Location"].removeprefix("/dashboard/")
    assert alice.post(f"{path}/tip").status_code == 303
    assert Payment.objects.get().settlement_amount_cents == 1250
    assert "QR code of the checkout" in alice.get(path).content.decode()


@pytest.mark.parametrize("tip", [-1, 10**12])
def test_what_is_no_tip_is_refused_and_charges_nothing(bakery: Shop, tip: int) -> None:
    access = bakery.owner_access()
    sale = sold(access, offered_bps=[1000])
    with pytest.raises(Invalid) as refused:
        answer_tip(access, sale, tip)
    assert refused.value.field == "tip" and not Payment.objects.exists()
    assert Sale.objects.get().tip_cents is None, "the customer can answer again"


def test_another_amount_is_no_tip_until_it_is_typed(bakery: Shop, alice: Browser) -> None:
    sale = sold(bakery.owner_access(), offered_bps=[1000])
    answer = alice.client.post(f"/pay/{sale.token}/sale", {"choice": "other", "amount": ""})
    assert answer.status_code == 422 and "The tip is required" in text(answer)
    assert not Payment.objects.exists()


def test_nobody_answers_for_a_sale_that_waited_too_long(bakery: Shop) -> None:
    access = bakery.owner_access()
    sale = sold(access, offered_bps=[1000])
    advance(bakery.test, 1000)
    with pytest.raises(SaleEnded):
        answer_tip(bakery.owner_access(), sale, 0)
    assert not Payment.objects.exists()


def test_a_sale_sent_twice_is_one_payment(bakery: Shop, alice: Browser) -> None:
    set_up(bakery.owner_access())
    key = new_key()
    assert ring_up(alice, form_key=key)["Location"] == ring_up(alice, form_key=key)["Location"]
    assert Payment.objects.count() == Sale.objects.count() == 1


def test_a_key_charges_nothing_else_than_what_it_was_sent_with(bakery: Shop) -> None:
    access = bakery.owner_access()
    first = sale_request()
    start_sale(access, first)
    with pytest.raises(SaleDiffers):
        start_sale(access, sale_request(line(990), form_key=first.form_key))
    assert Payment.objects.count() == 1


def test_a_sale_that_differs_gets_a_key_of_its_own(bakery: Shop, alice: Browser) -> None:
    set_up(bakery.owner_access())
    key = new_key()
    assert ring_up(alice, form_key=key).status_code == 303
    answer = ring_up(alice, form_key=key, amount="9.90")
    found = re.search(r'name="form_key" value="(\w+)"', text(answer))
    assert answer.status_code == 409 and found is not None and found[1] != key
    assert ring_up(alice, form_key=found[1], amount="9.90").status_code == 303
    assert Payment.objects.count() == 2


def test_what_was_given_up_before_it_arrived_isnt_charged_when_it_does(bakery: Shop) -> None:
    access = bakery.owner_access()
    request = sale_request()
    assert discard_sale(access, request.form_key).canceled_at is not None
    late = start_sale(access, request)
    assert late.payment is None and not Payment.objects.exists()
    assert discard_sale(access, request.form_key).pk == late.pk


def test_what_was_given_up_after_it_arrived_is_canceled(bakery: Shop) -> None:
    access = bakery.owner_access()
    request = sale_request()
    start_sale(access, request)
    discard_sale(access, request.form_key)
    assert Payment.objects.get().status == "expired"


def test_a_sale_that_something_came_for_isnt_canceled(bakery: Shop) -> None:
    access = bakery.owner_access()
    sale = sold(access)
    simulated(bakery.test, str(sale.payment_id), "underpaid")
    with pytest.raises(NotCancelable):
        cancel_sale(access, sale)
    assert Sale.objects.get().canceled_at is None


def test_an_expired_sale_gets_one_new_quote_and_a_canceled_one_none(bakery: Shop) -> None:
    access = bakery.owner_access()
    sale = sold(access)
    first = sale.payment_id
    advance(bakery.test, 1000)
    again = quote_again(Sale.objects.get())
    assert again.payment_id != first and Payment.objects.count() == 2
    later = payment_of(Sale.objects.get())
    assert later is not None and later.pk == again.payment_id
    cancel_sale(access, Sale.objects.get())
    with pytest.raises(SaleEnded):
        quote_again(Sale.objects.get())


def test_a_new_quote_of_a_sale_is_made_at_the_till_alone_and_counted(
    bakery: Shop, alice: Browser
) -> None:
    sold(bakery.owner_access())
    for _ in range(2):
        advance(bakery.test, 1000)
        payment = Sale.objects.get().payment
        assert payment is not None
        assert alice.client.post(f"/pay/{payment.reference}/quote").status_code == 422
        quote_again(Sale.objects.get())


def test_a_sale_of_another_store_or_mode_isnt_charged_here(bakery: Shop, alice: Browser) -> None:
    for fields in ({"store": str(uuid.uuid4())}, {"mode": "live"}):
        answer = ring_up(alice, **fields)
        assert answer.status_code == 409 and "another store or mode" in text(answer)
    assert not Sale.objects.exists()


# --- items and VAT ---


@pytest.mark.parametrize(
    ("gross", "rate", "currency", "vat"),
    [
        (1190, 1900, "EUR", 190),
        (420, 1900, "EUR", 67),  # 67.06
        (107, 700, "EUR", 7),
        (1, 1900, "EUR", 0),
        (110000, 1000, "JPY", 10000),
        (100_000_000_00, 1900, "EUR", 1_596_638_655),
        (500, 0, "EUR", 0),
    ],
)
def test_vat_is_rounded_once_for_each_rate(gross: int, rate: int, currency: str, vat: int) -> None:
    parts = vat_parts([vars(line(gross, rate))], currency)
    assert parts == [VatPart(rate, gross, vat)] and parts[0].net_cents + vat == gross


def test_a_sale_of_two_rates_says_net_vat_and_gross_of_each(bakery: Shop, alice: Browser) -> None:
    access = bakery.owner_access()
    set_up(access, vat_bps=(1900, 700))
    flat = coffee(access)
    beans = coffee(access, "Beans", 1190, vat_bps=700)
    answer = ring_up(
        alice,
        **{f"item-{flat.pk}": "3", f"item-{beans.pk}": "1", "amount": "5,00", "line": "100:700"},
    )
    sale = Sale.objects.get()
    assert sale.amount_cents == 3 * 420 + 1190 + 100 + 500
    assert sale.payment is not None
    assert vat_of(sale.payment) == [VatPart(1900, 1760, 281), VatPart(700, 1290, 84)]
    shown = words(alice.get(answer["Location"].removeprefix("/dashboard/")))
    assert "19% VAT in €17.60 net €14.79" in shown
    receipt = words(alice.client.get(f"/pay/{sale.payment.reference}"))
    assert "7% €12.06 €0.84 €12.90" in receipt


def test_a_sale_that_was_shown_in_another_currency_isnt_charged(
    bakery: Shop, alice: Browser
) -> None:
    set_up(bakery.owner_access())
    key = new_key()
    kept = {"form_key": key, "currency": "EUR", "amount": "", "line": "500:"}
    assert ring_up(alice, **kept).status_code == 303
    set_up(bakery.owner_access(), currency="USD")
    answer = ring_up(alice, **{**kept, "form_key": new_key()})
    assert answer.status_code == 409 and "Prices have changed" in text(answer)
    assert ring_up(alice, **kept).status_code == 303, "its answer was lost"
    assert [sale.currency for sale in Sale.objects.all()] == ["EUR"]


def test_prices_that_changed_meanwhile_arent_charged_unseen(bakery: Shop) -> None:
    with pytest.raises(PricesChanged):
        sold(bakery.owner_access(), line(1300), expected_cents=1250)
    assert not Sale.objects.exists()


def test_an_item_that_is_gone_isnt_sold(bakery: Shop, alice: Browser) -> None:
    item = coffee(bakery.owner_access())
    assert alice.post(f"point-of-sale/items/{item.pk}/remove").status_code == 303
    assert ring_up(alice, **{f"item-{item.pk}": "1"}).status_code == 422
    assert not Sale.objects.exists()


def test_an_item_is_made_of_a_product_and_changed(bakery: Shop, alice: Browser) -> None:
    set_up(bakery.owner_access(), vat_bps=(700,))
    product = records.product(bakery.test, name="Filter beans")
    assert (
        'value="Filter beans"'
        in alice.get(f"point-of-sale/items?product={product['id']}").content.decode()
    )
    assert (
        alice.post("point-of-sale/items", name="Filter beans", price="8,90", vat="7").status_code
        == 303
    )
    id = str(till_items(bakery)[0].pk)
    alice.post(f"point-of-sale/items/{id}", name="Beans", price="9.10", vat="")
    item = till_items(bakery)[0]
    assert (item.name, item.price_cents, item.vat_bps) == ("Beans", 910, None)


def till_items(bakery: Shop) -> list[Any]:
    return list(items_of(bakery.store))


# --- what a day has brought ---


def test_a_day_is_added_up_for_each_till(bakery: Shop, alice: Browser) -> None:
    access = bakery.owner_access()
    set_up(access, names=("Bar", "Terrace"))
    alice.post("point-of-sale/name", name="Terrace")
    for _ in range(2):
        ring_up(alice)
    tipped = sold(access, tip_cents=100)
    open_one = sold(access)
    for sale in Sale.objects.exclude(pk=open_one.pk):
        simulated(bakery.test, str(sale.payment_id))
    advance(bakery.test, 1)
    begin = tipped.created_at.replace(hour=0, minute=0, second=0, microsecond=0)
    end = begin.replace(hour=23, minute=59, second=59)
    assert day_totals(access, begin, end) == [
        DayTotal("", "EUR", 1, 1350, 100),
        DayTotal("Terrace", "EUR", 2, 2500, 0),
    ]
    shown = words(alice.get("point-of-sale/sales"))
    assert "Terrace €25.00 2 sales" in shown and "€13.50 1 sale, of it €1.00 tips" in shown
    assert shown.count("Refund") >= 3, "each paid sale leads to its refund"


# --- settings ---


def test_a_store_that_takes_no_tips_asks_for_none(bakery: Shop, alice: Browser) -> None:
    assert till_of(bakery.store).tip_bps == list(TIPS_DEFAULT)
    set_up(bakery.owner_access(), currency="USD")
    ring_up(alice)
    made = Payment.objects.get()
    assert (made.settlement_amount_cents, made.settlement_currency) == (1250, "USD")


def test_settings_of_the_till_are_kept_and_audited(bakery: Shop, alice: Browser) -> None:
    for tips in ("12.5%, 5", "20"):
        sent = {"currency": "CHF", "tips": tips, "vat": "8.1, 2.6", "names": "Bar\nBar\n Terrace "}
        assert alice.post("point-of-sale/settings", **sent).status_code == 303
    till = till_of(bakery.store)
    assert (till.tip_bps, till.currency, till.vat_bps) == ([2000], "CHF", [810, 260])
    assert till.names == ["Bar", "Terrace"]
    details = (
        AuditEntry.objects.filter(action="till.changed")
        .order_by("id")
        .values_list("details", flat=True)
    )
    assert [entry["tip_bps"] for entry in details] == [[500, 1250], [2000]]


@pytest.mark.parametrize("tips", [(1, 2, 3, 4, 5), (0,), (10_001,)])
def test_what_is_no_share_is_refused(bakery: Shop, tips: tuple[int, ...]) -> None:
    with pytest.raises(Invalid):
        change_till(bakery.owner_access(), TillRequest(currency="EUR", tip_bps=tips))


# --- the page of a sale ---


def test_a_till_follows_its_payment(bakery: Shop, alice: Browser) -> None:
    set_up(bakery.owner_access())
    path = ring_up(alice)["Location"].removeprefix("/dashboard/")
    payment = Payment.objects.get()
    opened = alice.get(path).content.decode()
    assert "QR code of the checkout" in opened and "data-refreshes" in opened
    assert 'http-equiv="refresh"' in opened
    assert "opens a wallet" in alice.get(f"{path}?asset=SETH").content.decode()
    assert "QR code of the checkout" in alice.get(f"{path}?asset=%3Cb%3E").content.decode()
    simulated(bakery.test, str(payment.pk), "underpaid")
    told = text(alice.get(path))
    assert "Partially paid" in told and "asks for the remaining €" in told
    simulated(bakery.test, str(payment.pk), "exact")
    done = alice.get(path).content.decode()
    assert "data-refreshes" not in done and "QR code of the receipt" in done
    assert "QR code of the checkout" not in done
    assert alice.get(f"point-of-sale/{payment.pk}")["Location"].endswith(path), "the old address"


def test_a_receipt_is_emailed_from_the_till(bakery: Shop, alice: Browser) -> None:
    set_up(bakery.owner_access())
    path = ring_up(alice)["Location"].removeprefix("/dashboard/")
    simulated(bakery.test, str(Payment.objects.get().pk))
    assert alice.post(f"{path}/receipt", email="guest").status_code == 422
    sent = alice.post(f"{path}/receipt", email="guest@example.com")
    assert sent.status_code == 303 and "on its way" in text(alice.get(path))


def test_a_sale_that_nobody_paid_is_charged_again_in_one_press(
    bakery: Shop, alice: Browser
) -> None:
    set_up(bakery.owner_access())
    path = ring_up(alice)["Location"].removeprefix("/dashboard/")
    advance(bakery.test, 1000)
    assert "Time is up" in text(alice.get(path))
    assert alice.post(f"{path}/quote").status_code == 303
    assert "QR code of the checkout" in alice.get(path).content.decode()


def test_a_sale_is_canceled_at_the_till(bakery: Shop, alice: Browser) -> None:
    path = ring_up(alice)["Location"].removeprefix("/dashboard/")
    assert alice.post(f"{path}/cancel").status_code == 303
    assert "Nothing was charged." in text(alice.get(path))
    assert alice.post(f"{path}/tip").status_code == 422 and not Payment.objects.exists()


def test_the_same_refusals_as_those_of_the_api(bakery: Shop, alice: Browser) -> None:
    set_up(bakery.owner_access())
    platform = Store.objects.create(name="Mall", created_at=bakery.access().now())
    Store.objects.filter(pk=bakery.store.pk).update(platform=platform, kyc_confirmed_at=None)
    alice.switch("live")
    answer = ring_up(alice)
    assert answer.status_code == 403 and "Store KYC verification required" in unescape(
        answer.content.decode()
    )
    assert not Payment.objects.exists() and not Sale.objects.exists()


# --- who may ---


@pytest.mark.parametrize("role", [Role.ACCOUNTANT, Role.VIEWER])
def test_who_may_not_ask_for_money_has_no_till(cast: Cast, role: str) -> None:
    browser = joined(cast, role)
    assert browser.get("point-of-sale").status_code == 403 and ring_up(browser).status_code == 403
    assert "Point of sale" not in browser.get("payments").content.decode()
    assert not Payment.objects.exists()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"lines": (line(0),)}, "amount"),
        ({"lines": ()}, "amount"),
        ({"lines": (line(1, quantity=0),)}, "quantity"),
        ({"lines": (line(10**10), line(1))}, "amount"),
        ({"lines": (line(1, 10_001),)}, "vat"),
        ({"lines": (line(100),) * 50}, "amount"),
        ({"tip_cents": 10**12}, "tip"),
        ({"note": "x" * 151}, "note"),
        ({"form_key": "k"}, "form_key"),
    ],
)
def test_what_is_no_sale_is_refused(bakery: Shop, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        start_sale(bakery.owner_access(), sale_request(**fields))
    assert refused.value.field == field and not Sale.objects.exists()


def test_a_price_of_a_page_that_showed_another_currency_is_asked_for_again(
    bakery: Shop, alice: Browser
) -> None:
    fields = {"name": "Cake", "price": "3.50", "vat": ""}
    assert alice.post("point-of-sale/items", **fields, currency="EUR").status_code == 303
    item = TillItem.objects.get()
    set_up(bakery.owner_access(), currency="USD")
    answer = alice.post("point-of-sale/items", **{**fields, "price": "4"}, currency="EUR")
    assert answer.status_code == 422
    assert "The currency has changed. Check the price." in answer.content.decode()
    item.refresh_from_db()
    assert item.price_cents == 350 and TillItem.objects.count() == 1
