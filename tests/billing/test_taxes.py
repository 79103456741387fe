"""Rates of tax from the API to the invoice: their rules, the order in which they count, the usual
case, cycles, days, and the same figures wherever they are read."""

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.billing.invariants import BILLING
from apps.billing.models import InvoiceTax, TaxRate
from tests import make
from tests.auditing import found_of
from tests.billing import records as r
from tests.billing.test_vat_numbers import FRENCH, MONEGASQUE, NORTHERN_IRISH
from tests.cast import Shop

VAT = {"name": "VAT 19%", "category": "S", "rate_bps": 1900}
REDUCED = {"name": "VAT 7%", "category": "S", "rate_bps": 700}
EXEMPT = {"name": "Teaching", "category": "E", "rate_bps": 0, "reason": "§ 4 Nr. 21 UStG"}
REVERSE = {"name": "Reverse", "category": "AE", "rate_bps": 0, "reason": "Reverse charge"}


def ask_rate(shop: Shop, **fields: Any) -> Any:
    return shop.test.post("/billing/tax_rates", {"tax_rate": fields})


def rate(shop: Shop, **fields: Any) -> str:
    id: str = r.ok(ask_rate(shop, **fields), 201)["id"]
    return id


def settle(shop: Shop, **fields: Any) -> Any:
    return r.ok(shop.test.patch("/billing/tax_settings", {"tax_settings": fields}))


def german(shop: Shop, **fields: Any) -> str:
    """A German seller whose usual cases are chosen; the ID of its rate."""
    shop.store.country = "DE"
    shop.store.save(update_fields=["country"])
    id = rate(shop, **VAT)
    settle(shop, is_automatic=True, tax_rate_id=id, **fields)
    return id


def charged(invoice: dict[str, Any]) -> list[tuple[str, int, int, int]]:
    return [
        (tax["category"], tax["rate_bps"], tax["base_cents"], tax["tax_cents"])
        for tax in invoice["taxes"]
    ]


def findings() -> set[str]:
    return {item.invariant for item in found_of(*(item.name for item in BILLING))}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": "X", "rate_bps": 1900}, "category is required"),
        ({**VAT, "rate_bps": 0}, "rate_bps must be more than 0 in the category S"),
        ({**EXEMPT, "rate_bps": 700}, "rate_bps must be 0 in the category E"),
        ({**EXEMPT, "reason": None}, "reason is required in the category E"),
        ({**VAT, "reason": "None"}, "reason must be empty in the category S"),
        ({**EXEMPT, "inclusive": True}, "inclusive must be false when the rate is 0"),
    ],
)
def test_a_rate_that_cant_be_is_refused(
    bakery: Shop, fields: dict[str, Any], sentence: str
) -> None:
    answer = ask_rate(bakery, **fields)
    assert (answer.status_code, answer.json()["errors"]) == (422, [sentence])


@pytest.mark.parametrize(
    "change",
    [
        "category = 'AE'",
        "rate_bps = 0",
        "reason = 'Because'",
        "category = 'E', rate_bps = 0",
        "inclusive = true, rate_bps = 0, category = 'Z'",
        "category = 'X'",
    ],
)
def test_the_database_refuses_it_too(bakery: Shop, change: str) -> None:
    rate(bakery, **VAT)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE billing_taxrate SET {change}")  # a table's rows
    assert TaxRate.objects.get().category == "S"


def test_the_nearest_that_says_something_counts(bakery: Shop) -> None:
    names = ("store", "product", "price", "customer", "invoice", "line")
    rates = {
        name: rate(bakery, name=name, category="S", rate_bps=100 * n)
        for n, name in enumerate(names, start=1)
    }
    settle(bakery, tax_rate_id=rates["store"])
    owner = r.customer(bakery.test)
    product = r.product(bakery.test)

    def invoiced(**fields: Any) -> int:
        lines = [r.line() | fields.pop("line", {})]
        made = r.draft(bakery.test, customer_id=owner["id"], line_items=lines, **fields)
        bps: int = made["line_items"][0]["tax_rate_bps"]
        return bps

    def cycle(price: dict[str, Any]) -> int:
        made = r.ok(
            r.ask_subscription(bakery.test, customer_id=owner["id"], price_id=price["id"]), 201
        )
        (invoice,) = r.invoices_of(bakery.test, made["id"])
        bps: int = invoice["line_items"][0]["tax_rate_bps"]
        return bps

    plain = r.price(bakery.test, product["id"])
    assert (invoiced(), cycle(plain)) == (100, 100)
    bakery.test.patch(
        f"/billing/products/{product['id']}", {"product": {"tax_rate_id": rates["product"]}}
    )
    assert cycle(plain) == 200
    own = r.price(bakery.test, product["id"], tax_rate_id=rates["price"])
    assert cycle(own) == 300
    bakery.test.patch(
        f"/billing/customers/{owner['id']}", {"customer": {"tax_rate_id": rates["customer"]}}
    )
    assert (cycle(own), invoiced()) == (400, 400)
    assert invoiced(tax_rate_id=rates["invoice"]) == 500
    assert invoiced(tax_rate_bps=555) == 555
    line = {"tax_rate_id": rates["line"]}
    assert invoiced(tax_rate_id=rates["invoice"], line=line) == 600
    assert findings() == set()


def test_an_invoice_has_several_rates_and_each_its_base_and_tax(bakery: Shop) -> None:
    full, reduced = rate(bakery, **VAT), rate(bakery, **REDUCED)
    exempt = rate(bakery, **EXEMPT)
    lines = [
        r.line(1005) | {"tax_rate_id": full},
        r.line(333) | {"tax_rate_id": reduced},
        r.line(200) | {"tax_rate_id": exempt},
    ]
    made = r.opened(bakery.test, line_items=lines, discount_type="percent", discount_value=50)
    assert charged(made) == [("S", 1900, 502, 95), ("S", 700, 167, 12), ("E", 0, 100, 0)]
    assert (made["subtotal_cents"], made["discount_cents"]) == (1538, 769)
    assert (made["tax_cents"], made["total_cents"]) == (107, 876)
    assert made["taxes"][2]["reason"] == "§ 4 Nr. 21 UStG"
    token = made["public_token"]
    assert r.ok(bakery.test.get(f"/billing/invoice/{token}"))["taxes"] == made["taxes"]
    assert findings() == set()


def test_prices_that_hold_their_tax_cost_what_they_say(bakery: Shop) -> None:
    inclusive = rate(bakery, **VAT, inclusive=True)
    made = r.opened(bakery.test, line_items=[r.line(999)], tax_rate_id=inclusive)
    assert (made["subtotal_cents"], made["tax_cents"], made["total_cents"]) == (839, 160, 999)
    assert (made["line_items"][0]["amount_cents"], made["line_items"][0]["net_cents"]) == (999, 839)
    assert findings() == set()


def test_what_was_finalized_keeps_its_taxes(bakery: Shop) -> None:
    full = rate(bakery, **VAT)
    made = r.opened(bakery.test, tax_rate_id=full)
    for change in ("tax_cents = 0", "category = 'Z', rate_bps = 0, tax_cents = 0"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE billing_invoicetax SET {change}")  # as above
    answer = bakery.test.patch(
        f"/billing/invoices/{made['id']}", {"invoice": {"tax_rate_id": None}}
    )
    assert answer.status_code == 422
    assert "Only draft invoices can be edited" in str(answer.json())
    assert InvoiceTax.objects.get().tax_cents == 190


def test_a_buyer_without_a_number_isnt_charged_by_reverse_charge(bakery: Shop) -> None:
    answer = r.ask_invoice(
        bakery.test,
        customer_id=r.customer(bakery.test, country="FR")["id"],
        tax_rate_id=rate(bakery, **REVERSE),
    )
    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        "tax_rate_id is for businesses: the customer has no VAT number of their country, or the"
        " registry says that it isn't valid"
    ]


def test_a_german_shop_charges_each_buyer_by_their_case(bakery: Shop) -> None:
    german(bakery, supply_type="digital", charges_abroad=True)
    buyers = {
        "domestic": {"country": "DE"},
        "reverse_charge": {"country": "FR", "vat_number": FRENCH},
        "eu_consumer": {"address": {"country": "Netherlands"}},
        "outside": {"country": "US"},
    }
    got = {}
    for case, fields in buyers.items():
        owner = r.customer(bakery.test, **fields)
        made = r.draft(bakery.test, customer_id=owner["id"])
        assert made["tax_case"] == case
        got[case] = charged(r.ok(r.act(bakery.test, made["id"], "finalize")))
    assert got == {
        "domestic": [("S", 1900, 1000, 190)],
        "reverse_charge": [("AE", 0, 1000, 0)],
        "eu_consumer": [("S", 2100, 1000, 210)],
        "outside": [("O", 0, 1000, 0)],
    }
    assert findings() == set()


@pytest.mark.parametrize(
    ("country", "number", "case", "charge"),
    [
        ("MC", MONEGASQUE, "intra_community", ("K", 0, 1000, 0)),
        ("GB", NORTHERN_IRISH, "intra_community", ("K", 0, 1000, 0)),
        ("GB", "GB980780684", "export", ("G", 0, 1000, 0)),
    ],
)
def test_goods_go_to_monaco_and_northern_ireland_as_within_the_eu(
    bakery: Shop, country: str, number: str, case: str, charge: tuple[object, ...]
) -> None:
    german(bakery, supply_type="goods", charges_abroad=True)
    owner = r.customer(bakery.test, country=country, vat_number=number)
    made = r.draft(bakery.test, customer_id=owner["id"])
    assert (made["tax_case"], charged(made)) == (case, [charge])
    is_asked = not number.startswith("GB")
    told = bakery.test.post(f"/billing/customers/{owner['id']}/vat_checks")
    assert told.status_code == (201 if is_asked else 422), told.content
    finalized = r.ok(r.act(bakery.test, made["id"], "finalize"))
    assert charged(finalized) == [charge]


def test_what_is_exempt_is_exempt_abroad_too(bakery: Shop) -> None:
    german(bakery)
    settle(bakery, tax_rate_id=rate(bakery, **EXEMPT))
    owner = r.customer(bakery.test, country="FR", vat_number=FRENCH)
    made = r.draft(bakery.test, customer_id=owner["id"])
    assert (made["tax_case"], charged(made)) == ("exempt", [("E", 0, 1000, 0)])


def test_a_number_that_the_registry_refuses_is_a_consumers(bakery: Shop) -> None:
    german(bakery)
    owner = r.customer(bakery.test, country="FR", vat_number="FR00300076965")
    made = r.draft(bakery.test, customer_id=owner["id"])
    assert made["tax_case"] == "reverse_charge"
    told = r.ok(bakery.test.post(f"/billing/customers/{owner['id']}/vat_checks"), 201)
    assert told["result"] == "invalid"
    # What was shown isn't what would be charged now.
    answer = r.act(bakery.test, made["id"], "finalize")
    assert answer.status_code == 422
    assert "save it again and check them" in str(answer.json())
    again = r.ok(bakery.test.patch(f"/billing/invoices/{made['id']}", {"invoice": {}}))
    assert (again["tax_case"], charged(again)) == ("domestic", [("S", 1900, 1000, 190)])
    r.ok(r.act(bakery.test, made["id"], "finalize"))


def test_a_small_business_says_so_on_every_invoice(bakery: Shop) -> None:
    bakery.store.country = "DE"
    bakery.store.save(update_fields=["country"])
    settle(bakery, is_small_business=True)
    made = r.opened(bakery.test)
    assert charged(made) == [("E", 0, 1000, 0)]
    assert "§ 19 UStG" in made["taxes"][0]["reason"]


def test_cycles_carry_their_tax_and_their_discount(bakery: Shop) -> None:
    full = rate(bakery, **VAT)
    made = r.ok(
        r.ask_subscription(
            bakery.test,
            customer_id=r.customer(bakery.test)["id"],
            price_id=r.price(bakery.test, unit_amount_cents=999)["id"],
            tax_rate_id=full,
            discount_type="percent",
            discount_value=50,
        ),
        201,
    )
    assert (made["tax_rate_id"], made["discount_value"]) == (full, 50)
    make.advance(bakery.test, 32 * r.DAY)
    invoices = r.invoices_of(bakery.test, made["id"])
    assert len(invoices) == 2
    for invoice in invoices:
        assert (invoice["subtotal_cents"], invoice["discount_cents"]) == (999, 500)
        assert charged(invoice) == [("S", 1900, 499, 95)]
        assert invoice["total_cents"] == 594
    first, second = invoices
    assert first["supplied_until"] < second["supplied_from"]
    assert first["description"] == f"{first['supplied_from']} to {first['supplied_until']}"
    assert findings() == set()


def test_a_cycle_is_billed_though_its_buyer_lost_the_number(bakery: Shop) -> None:
    german(bakery)
    owner = r.customer(
        bakery.test, country="FR", vat_number=FRENCH, tax_rate_id=rate(bakery, **REVERSE)
    )
    made = r.ok(
        r.ask_subscription(
            bakery.test, customer_id=owner["id"], price_id=r.price(bakery.test)["id"]
        ),
        201,
    )
    bakery.test.patch(f"/billing/customers/{owner['id']}", {"customer": {"vat_number": None}})
    make.advance(bakery.test, 32 * r.DAY)
    before, after = r.invoices_of(bakery.test, made["id"])
    assert charged(before) == [("AE", 0, 1000, 0)]
    assert charged(after) == [("S", 1900, 1000, 190)]


def test_every_day_of_an_invoice_is_one_of_the_stores_zone(bakery: Shop) -> None:
    bakery.store.time_zone = "Pacific/Kiritimati"  # fourteen hours ahead
    bakery.store.save(update_fields=["time_zone"])
    made = r.opened(bakery.test, due_at="2026-12-31T23:30:00Z")
    assert made["due_on"] == "2027-01-01"
    assert made["issued_on"] == made["supplied_from"] == made["supplied_until"]
    assert made["issued_on"] >= made["finalized_at"][:10]


def test_days_of_supply_are_named_and_in_order(bakery: Shop) -> None:
    made = r.opened(bakery.test, supplied_from="2026-10-01", supplied_until="2026-10-31")
    assert (made["supplied_from"], made["supplied_until"]) == ("2026-10-01", "2026-10-31")
    answer = r.ask_invoice(
        bakery.test,
        customer_id=r.customer(bakery.test)["id"],
        supplied_from="2026-10-02",
        supplied_until="2026-10-01",
    )
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"tax_rate_id": "nobody"}, "tax_rate_id is not an active tax rate of this store"),
        (
            {"line_items": [{**r.line(), "tax_rate_id": "nobody"}]},
            "line_items[0].tax_rate_id is not an active tax rate of this store",
        ),
    ],
)
def test_a_rate_that_isnt_the_stores_is_refused(
    bakery: Shop, fields: dict[str, Any], sentence: str
) -> None:
    answer = r.ask_invoice(bakery.test, customer_id=r.customer(bakery.test)["id"], **fields)
    assert (answer.status_code, answer.json()["errors"]) == (422, [sentence])


def test_one_rate_of_two_kinds_is_refused(bakery: Shop) -> None:
    answer = r.ask_invoice(
        bakery.test,
        customer_id=r.customer(bakery.test)["id"],
        tax_rate_id=rate(bakery, **VAT),
        tax_rate_bps=700,
    )
    assert answer.json()["errors"] == ["tax_rate_id and tax_rate_bps can't be given together"]


def test_an_inactive_rate_stays_where_it_is_and_is_named_nowhere_else(bakery: Shop) -> None:
    id = rate(bakery, **VAT)
    made = r.draft(bakery.test, tax_rate_id=id)
    changed = r.ok(bakery.test.patch(f"/billing/tax_rates/{id}", {"tax_rate": {"active": False}}))
    assert changed["active"] is False
    r.ok(bakery.test.patch(f"/billing/invoices/{made['id']}", {"invoice": {"tax_rate_id": id}}))
    r.ok(r.act(bakery.test, made["id"], "finalize"))
    owner = r.customer(bakery.test)
    assert r.ask_invoice(bakery.test, customer_id=owner["id"], tax_rate_id=id).status_code == 422
