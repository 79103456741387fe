"""The rooms of billing in a real browser: a draft is written with live totals, sent and looked at;
wide, on a phone and in the dark."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.stores.requests import StoreDetails
from apps.stores.services import change_details
from tests.billing import records as billing
from tests.billing.sellers import verify
from tests.billing.test_paid_twice import paid_twice
from tests.browser.conftest import OpenPage, barriers, overflow, shoot, turn_to
from tests.browser.judging import FRAME
from tests.browser.test_dashboard import fine
from tests.cast import Cast


def seen(page: Page, name: str) -> None:
    fine(page)
    shoot(page, f"dashboard-billing-{name}")


def test_a_merchant_writes_an_invoice_and_sees_its_total_while_typing(
    world: Cast, open_page: OpenPage
) -> None:
    owner = billing.customer(world.bakery.test, name="Café Lumen")
    page = open_page(f"/dashboard/invoices/new?customer={owner['id']}", person=world.bob)
    page.wait_for_url("**/invoices/new**")
    page.get_by_role("group", name="Line item 1").get_by_label("Description").fill("Beans")
    page.get_by_role("group", name="Line item 1").get_by_label("Unit price").fill("19.90")
    page.get_by_role("group", name="Line item 1").get_by_label("Quantity").fill("10")
    expect(page.locator("#totals")).to_contain_text("€199.00")
    page.get_by_label("Tax rate (%)").fill("20")
    expect(page.locator("#totals")).to_contain_text("€238.80")
    seen(page, "editor")
    page.get_by_label("Tax rate (%)").press("Enter")
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    page.get_by_role("link", name="Finalize").click()
    page.get_by_role("button", name="Finalize").click()
    expect(page.get_by_role("heading", name="INV-0001")).to_be_visible()
    page.get_by_role("button", name="Copy the link").click()
    assert "/invoice/" in page.evaluate("navigator.clipboard.readText()")
    seen(page, "open")


def test_a_cafe_bills_both_of_its_rates_and_its_customer_reads_each(
    world: Cast, open_page: OpenPage
) -> None:
    """The address of a customer who is new is asked for where they are added, so that nothing is
    missing in the e-invoice."""
    rates = cafe(world)
    page = open_page("/dashboard/invoices/new", width=390, person=world.bob)
    page.get_by_label("Customer’s email address").fill("gast@example.com")
    for number, (goods, price) in enumerate((("Catering", "50"), ("Espresso", "10"))):
        line = page.get_by_role("group", name=f"Line item {number + 1}")
        line.get_by_label("Description").fill(goods)
        line.get_by_label("Unit price").fill(price)
        line.get_by_label("Tax").select_option(rates[number])
    for words in ("7% of €50.00", "€3.50", "19% of €10.00", "€1.90", "€65.40"):
        expect(page.locator("#totals")).to_contain_text(words)
    page.get_by_role("button", name="Save draft").last.click()
    page.get_by_label("Name of the new customer").fill("Gasthof Adler")
    page.get_by_label("Street").fill("Marktplatz 2")
    page.get_by_label("Postal code").fill("53111")
    page.get_by_label("City").fill("Bonn")
    page.get_by_label("Country").select_option("DE")
    seen(page, "two-rates")
    page.get_by_role("button", name="and save the draft").click()
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    page.get_by_role("link", name="Finalize").click()
    expect(page.get_by_text("nothing is missing").first).to_be_visible()
    page.get_by_role("button", name="Finalize").click()
    expect(page.get_by_role("heading", name="INV-0001")).to_be_visible()
    page.get_by_role("button", name="Copy the link").click()
    _, _, token = page.evaluate("navigator.clipboard.readText()").partition("/invoice/")
    customers = open_page(f"/invoice/{token}", width=390, locale="de-DE")
    told = " ".join(customers.locator("main").inner_text().split())
    assert [part for part in ("Marktplatz 2", "3,50", "1,90", "65,40") if part not in told] == []
    assert len(re.findall(r"(?:USt|MwSt)[^€]{0,12}(?:7|19)\s?%", told)) == 2
    assert barriers(customers) == [] and overflow(customers) == 0


def cafe(world: Cast) -> list[str]:
    """A German café; the IDs of the rates that it has."""
    verify(world.bakery.store)
    place = {"street": "Hauptstraße 1", "postal_code": "10115", "city": "Berlin"}
    change_details(world.bakery.store, StoreDetails(name="Café", **place))
    ids = []
    for bps in (700, 1900):
        asked = {"name": "VAT", "category": "S", "rate_bps": bps}
        made = billing.ok(world.bakery.test.post("/billing/tax_rates", {"tax_rate": asked}), 201)
        ids.append(str(made["id"]))
    return ids


@pytest.mark.parametrize(
    ("look", "width", "dark"),
    [("desktop", 1280, False), ("phone-dark", 390, True), ("wide-dark", 1920, True)],
)
def test_the_rooms_of_billing_can_be_used_everywhere(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    api = world.bakery.test
    owner = billing.customer(
        api,
        email="a-very-long-address-of-somebody@a-rather-long-domain.example",
        address={"city": "Lyon"},
    )
    made = billing.subscribe(api, customer_id=owner["id"])
    billing.opened(api, customer_id=owner["id"], due_at="2020-01-01T00:00:00Z", tax_rate_bps=770)
    draft = billing.draft(api, customer_id=owner["id"])
    credited = credit(world)
    page = open_page("/dashboard/invoices", width=width, dark=dark, person=world.alice)
    rooms = {
        "invoices": "invoices",
        "customer": f"customers/{owner['id']}",
        "subscription": f"subscriptions/{made['id']}",
        "cancel": f"subscriptions/{made['id']}/cancel",
        "product": f"products/{made['price']['product_id']}",
        "editor": f"invoices/{draft['id']}/edit",
        "taxes": "settings/taxes",
        "credit": f"customers/{credited['customer_id']}",
        "credited": f"invoices/{credited['id']}",
    }
    for name, path in rooms.items():
        turn_to(page, f"/dashboard/{path}")
        shoot(page, f"dashboard-billing-{name}-{look}")
        assert barriers(page, FRAME if name != "invoices" else ()) == [], name
        assert overflow(page) == 0, name


def credit(world: Cast) -> dict[str, Any]:
    """An invoice that was paid twice and taken back in part: its customer has credit."""
    api = world.bakery.test
    rate = {"name": "Umsatzsteuer " * 4, "category": "S", "rate_bps": 1900}
    billing.ok(api.post("/billing/tax_rates", {"tax_rate": rate}), 201)
    made, _ = paid_twice(world.bakery)
    note = {"amount_cents": 333, "memo": "Broken on the way " * 8}
    path = f"/billing/invoices/{made['id']}/credit_notes"
    billing.ok(api.post(path, {"credit_note": note}), 201)
    return dict(made)


def test_without_a_script_a_button_calculates_the_totals(world: Cast, open_page: OpenPage) -> None:
    draft = billing.draft(world.bakery.test)
    path = f"/dashboard/invoices/{draft['id']}/edit"
    page = open_page(path, width=390, script=False, person=world.alice)
    page.get_by_label("Tax rate (%)").fill("20")
    page.get_by_role("button", name="Calculate totals").click()
    expect(page.locator("#totals")).to_contain_text("€12.00")
