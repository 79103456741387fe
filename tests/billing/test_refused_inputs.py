"""Bodies that billing refuses: each with 422, its field and one sentence, and nothing is kept."""

from typing import Any

import pytest

from apps.billing.models import CreditNote, Customer, Invoice, Subscription, TaxRate
from tests import make
from tests.billing import records as r
from tests.billing.test_taxes import EXEMPT, REVERSE, VAT, rate, settle
from tests.billing.test_vat_numbers import FRENCH, GERMAN
from tests.cast import Shop
from tests.dashboard.browse import Browser, text

pytestmark = pytest.mark.django_db
GOODS = {"name": "Goods", "category": "K", "rate_bps": 0, "reason": "Goods within the EU"}
NO_NUMBER = (
    "tax_rate_id is for businesses: the customer has no VAT number of their country, or the"
    " registry says that it isn't valid"
)
NOT_ABROAD = "tax_rate_id is for goods to another EU country, and the customer isn't in one"


def refused(answer: Any, *sentences: str) -> None:
    assert answer.status_code == 422, answer.content
    body = answer.json()
    assert (body.get("errors") or [body["error"]]) == list(sentences)


def german(shop: Shop) -> None:
    shop.store.country = "DE"
    shop.store.save(update_fields=["country"])


# --- numbers of the wrong country -----------------------------------------------------------------

OF_ANOTHER = [
    ("FR", GERMAN, "FR"),
    ("DE", FRENCH, "DE"),
    ("GR", GERMAN, "EL"),
    ("GR", "GR094259216", "EL"),
    ("IE", "GB980780684", "IE"),
    ("CH", FRENCH, "CH"),
]


@pytest.mark.parametrize(("country", "number", "prefix"), OF_ANOTHER)
def test_a_number_of_another_country_is_refused_with_its_field(
    bakery: Shop, country: str, number: str, prefix: str
) -> None:
    sentence = f"vat_number must begin with {prefix}, as numbers of that country do"
    sent = {"email": "ann@example.com", "country": country, "vat_number": number}
    refused(bakery.test.post("/billing/customers", {"customer": sent}), sentence)
    assert not Customer.objects.exists()
    by_address = {**sent, "country": None, "address": {"country": country}}
    refused(bakery.test.post("/billing/customers", {"customer": by_address}), sentence)
    made = r.customer(bakery.test, country=country)
    path = f"/billing/customers/{made['id']}"
    refused(bakery.test.patch(path, {"customer": {"vat_number": number}}), sentence)
    assert Customer.objects.get().vat_number is None


def test_an_address_that_moves_abroad_is_held_against_the_number(bakery: Shop) -> None:
    made = r.customer(bakery.test, address={"country": "Germany"}, vat_number=GERMAN)
    path = f"/billing/customers/{made['id']}"
    refused(
        bakery.test.patch(path, {"customer": {"address": {"country": "France"}}}),
        "vat_number must begin with FR, as numbers of that country do",
    )


# --- rates ----------------------------------------------------------------------------------------

WRONG_RATES = [
    ({"name": "X", "rate_bps": 0}, "category is required"),
    ({**VAT, "category": None}, "category is required"),
    ({**VAT, "category": ""}, "category must be one of S, Z, E, AE, K, G, O, L, M"),
    ({**VAT, "category": "s"}, "category must be one of S, Z, E, AE, K, G, O, L, M"),
    ({**VAT, "category": "AA"}, "category must be one of S, Z, E, AE, K, G, O, L, M"),
    ({"name": "X", "category": "S"}, "rate_bps is required"),
    ({**VAT, "rate_bps": -1}, "rate_bps must be at least 0"),
    ({**VAT, "rate_bps": 10**9}, "rate_bps must be at most 10000"),
    ({**VAT, "rate_bps": 19.5}, "rate_bps must be an integer"),
    ({**VAT, "rate_bps": 0}, "rate_bps must be more than 0 in the category S"),
    *[
        (
            {"name": "X", "category": category, "rate_bps": 0},
            f"reason is required in the category {category}",
        )
        for category in ("E", "AE", "K", "G", "O")
    ],
    ({**EXEMPT, "reason": "   "}, "reason is required in the category E"),
    *[
        (
            {**EXEMPT, "category": category, "rate_bps": 1900},
            f"rate_bps must be 0 in the category {category}",
        )
        for category in ("Z", "E", "AE", "K", "G", "O")
    ],
    *[
        (
            {"name": "X", "category": category, "rate_bps": 700, "reason": "Because"},
            f"reason must be empty in the category {category}",
        )
        for category in ("S", "L", "M")
    ],
    ({**VAT, "reason_code": "VATEX-EU-AE"}, "reason_code must be empty in the category S"),
    ({**EXEMPT, "inclusive": True}, "inclusive must be false when the rate is 0"),
]


@pytest.mark.parametrize(("fields", "sentence"), WRONG_RATES)
def test_a_rate_that_cant_be_is_refused(
    bakery: Shop, fields: dict[str, Any], sentence: str
) -> None:
    refused(bakery.test.post("/billing/tax_rates", {"tax_rate": fields}), sentence)
    assert not TaxRate.objects.exists()


# --- buyers who may not be reverse-charged --------------------------------------------------------


@pytest.mark.parametrize(
    "buyer",
    [
        {},
        {"country": "FR"},
        {"address": {"country": "France"}},
        {"country": "US"},
    ],
)
def test_nobody_without_a_number_is_given_a_rate_for_businesses(
    bakery: Shop, buyer: dict[str, Any]
) -> None:
    """By the customer itself, a subscription, an invoice or a line; at once and by a change."""
    german(bakery)
    api = bakery.test
    reverse, goods, full = rate(bakery, **REVERSE), rate(bakery, **GOODS), rate(bakery, **VAT)
    owner = r.customer(api, **buyer)
    path = f"/billing/customers/{owner['id']}"
    for id in (reverse, goods):
        refused(api.patch(path, {"customer": {"tax_rate_id": id}}), NO_NUMBER)
        asked = {"email": "new@example.com", **buyer, "tax_rate_id": id}
        refused(api.post("/billing/customers", {"customer": asked}), NO_NUMBER)
        terms = {"customer_id": owner["id"], "price_id": r.price(api)["id"], "tax_rate_id": id}
        for days in (0, 14):
            refused(r.ask_subscription(api, **terms, trial_period_days=days), NO_NUMBER)
        of_price = r.price(api, tax_rate_id=id)["id"]
        terms = {"customer_id": owner["id"], "price_id": of_price, "trial_period_days": 14}
        refused(r.ask_subscription(api, **terms), NO_NUMBER)
        refused(r.ask_invoice(api, customer_id=owner["id"], tax_rate_id=id), NO_NUMBER)
        lines = [{**r.line(), "tax_rate_id": full}, {**r.line(), "tax_rate_id": id}]
        refused(
            r.ask_invoice(api, customer_id=owner["id"], line_items=lines),
            NO_NUMBER.replace("tax_rate_id", "line_items[1].tax_rate_id"),
        )
    assert not Invoice.objects.exists() and not Subscription.objects.exists()
    draft = r.draft(api, customer_id=owner["id"])
    change = {"invoice": {"tax_rate_id": reverse}}
    refused(api.patch(f"/billing/invoices/{draft['id']}", change), NO_NUMBER)
    running = r.subscribe(api, customer_id=owner["id"])
    for asked in ({"tax_rate_id": reverse}, {"price_id": r.price(api, tax_rate_id=goods)["id"]}):
        answer = api.patch(f"/billing/subscriptions/{running['id']}", {"subscription": asked})
        refused(answer, NO_NUMBER)
    settle(bakery, tax_rate_id=reverse)
    refused(r.ask_invoice(api, customer_id=owner["id"]), NO_NUMBER)


@pytest.mark.parametrize(
    "buyer",
    [
        {"country": "DE", "vat_number": GERMAN},
        {"country": "CH", "vat_number": "CHE107787577IVA"},
    ],
)
def test_goods_without_tax_go_to_another_country_of_the_eu(
    bakery: Shop, buyer: dict[str, Any]
) -> None:
    german(bakery)
    api = bakery.test
    goods = rate(bakery, **GOODS)
    owner = r.customer(api, **buyer)
    refused(r.ask_invoice(api, customer_id=owner["id"], tax_rate_id=goods), NOT_ABROAD)
    change = {"customer": {"tax_rate_id": goods}}
    refused(api.patch(f"/billing/customers/{owner['id']}", change), NOT_ABROAD)


def test_a_draft_whose_buyer_lost_the_number_isnt_finalized(bakery: Shop) -> None:
    german(bakery)
    api = bakery.test
    owner = r.customer(api, country="FR", vat_number=FRENCH)
    made = r.draft(api, customer_id=owner["id"], tax_rate_id=rate(bakery, **REVERSE))
    r.ok(api.patch(f"/billing/customers/{owner['id']}", {"customer": {"vat_number": None}}))
    refused(r.act(api, made["id"], "finalize"), NO_NUMBER)
    assert r.invoice(api, made["id"])["status"] == "draft"


@pytest.mark.parametrize("place", ["price", "product", "store", "subscription"])
def test_a_cycle_whose_buyer_lost_the_number_is_billed_by_the_next_rate(
    bakery: Shop, place: str
) -> None:
    """Nobody looks at a cycle: where it can't be reverse-charged, the rate behind counts."""
    german(bakery)
    api = bakery.test
    reverse, full = rate(bakery, **REVERSE), rate(bakery, **VAT)
    settle(bakery, tax_rate_id=reverse if place == "store" else full)
    of_product = {"tax_rate_id": reverse} if place == "product" else {}
    of_price = {"tax_rate_id": reverse} if place == "price" else {}
    price = r.price(api, r.product(api, **of_product)["id"], **of_price)
    terms = {"tax_rate_id": reverse} if place == "subscription" else {}
    owner = r.customer(api, country="FR", vat_number=FRENCH)
    made = r.subscribe(api, customer_id=owner["id"], price_id=price["id"], **terms)
    r.ok(api.patch(f"/billing/customers/{owner['id']}", {"customer": {"vat_number": None}}))
    make.advance(api, 32 * r.DAY)
    before, after = r.invoices_of(api, made["id"])
    assert [tax["category"] for tax in before["taxes"]] == ["AE"]
    assert [tax["category"] for tax in after["taxes"]] == ([] if place == "store" else ["S"])


def test_the_dashboard_says_it_at_the_rates_field(bakery: Shop) -> None:
    german(bakery)
    reverse = rate(bakery, **REVERSE)
    owner = r.customer(bakery.test, country="FR")
    browser = Browser(bakery.owner)
    sent = {"email": owner["email"], "country": "FR", "tax_rate_id": reverse}
    answer = browser.post(f"customers/{owner['id']}/edit", **sent)
    assert answer.status_code == 422
    assert 'id="tax_rate_id-error"' in answer.content.decode()
    assert "is for businesses" in text(answer)


# --- documents that are final ---------------------------------------------------------------------


def test_what_is_finalized_isnt_changed_by_anything(bakery: Shop) -> None:
    api = bakery.test
    made = r.opened(api, tax_rate_id=rate(bakery, **VAT))
    path = f"/billing/invoices/{made['id']}"
    changes: tuple[dict[str, Any], ...] = (
        {"tax_rate_bps": 0},
        {"line_items": [r.line(1)]},
        {"currency": "USD"},
        {"discount_type": "percent", "discount_value": 100},
        {"supplied_from": "2026-01-01"},
        {"notes": "x"},
        {},
    )
    for change in changes:
        refused(api.patch(path, {"invoice": change}), "Only draft invoices can be edited")
    refused(api.delete(path), "Only draft invoices can be deleted")
    paid = r.pay(api, made)
    refused(api.patch(path, {"invoice": {"notes": "x"}}), "Only draft invoices can be edited")
    refused(r.act(api, paid["id"], "void"), "Cannot void a paid invoice")
    assert {**r.invoice(api, made["id"]), "updated_at": ""} == {**paid, "updated_at": ""}


def test_a_credit_above_what_was_billed_is_refused(bakery: Shop) -> None:
    """Of the whole, of what others left, and of one that a void has taken back already."""
    api = bakery.test
    made = r.opened(api, tax_rate_id=rate(bakery, **VAT))
    r.pay(api, made)
    path = f"/billing/invoices/{made['id']}/credit_notes"

    def ask(**fields: Any) -> Any:
        return api.post(path, {"credit_note": fields})

    refused(ask(amount_cents=1191), "amount_cents must be at most 1190")
    refused(ask(amount_cents=10**12), "amount_cents must be at most 10000000000")
    for wrong in (0, -1):
        refused(ask(amount_cents=wrong), "amount_cents must be at least 1")
    r.ok(ask(amount_cents=1000), 201)
    refused(ask(amount_cents=191), "amount_cents must be at most 190")
    r.ok(ask(), 201)
    refused(ask(amount_cents=1), "The whole invoice was credited before")
    assert sum(note.total_cents for note in CreditNote.objects.all()) == 1190


# --- what was tried on others ---------------------------------------------------------------------

WRONG_INVOICES = [
    (
        {"discount_type": "percent", "discount_value": 101},
        "discount_value must be at most 100 percent",
    ),
    ({"discount_type": "percent", "discount_value": -5}, "discount_value must be at least 0"),
    ({"discount_type": "percent"}, "discount_value is required with discount_type"),
    ({"discount_value": 5}, "discount_type is required with discount_value"),
    ({"tax_rate_bps": 10**9}, "tax_rate_bps must be at most 10000"),
    ({"tax_rate_bps": -1}, "tax_rate_bps must be at least 0"),
    ({"line_items": [r.line(-1)]}, "line_items[0].unit_amount_cents must be at least 0"),
    ({"line_items": [r.line(1, 0)]}, "line_items[0].quantity must be at least 1"),
    ({"supplied_from": "2026-02-30"}, "supplied_from is not a date"),
    (
        {"supplied_from": "2026-03-02", "supplied_until": "2026-03-01"},
        "supplied_until is before supplied_from",
    ),
]


@pytest.mark.parametrize(("fields", "sentence"), WRONG_INVOICES)
def test_an_invoice_that_cant_be_is_refused(
    bakery: Shop, fields: dict[str, Any], sentence: str
) -> None:
    owner = r.customer(bakery.test)
    refused(r.ask_invoice(bakery.test, customer_id=owner["id"], **fields), sentence)
    assert not Invoice.objects.exists()
