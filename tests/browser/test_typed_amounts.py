"""Amounts as people type them on a German, a Swiss and a Japanese phone, into every form that asks
for one: the browser lets them be sent, and they mean the same everywhere."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.access.factors import second_factor
from apps.assets.models import Asset
from apps.billing.models import Invoice
from apps.links.models import PaymentLink
from apps.payments.models import Payment
from apps.payouts.models import Schedule
from apps.payouts.services.destinations import add_wallet
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_swaps import dollars
from tests.cast import Cast
from tests.dashboard.browse import next_code
from tests.links.makers import donation

__all__ = ["dollars"]
WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"


@dataclass(frozen=True)
class Phone:
    """How a phone's keypad writes 1234.50, 7.80, 0.25 coins and 3 of something."""

    locale: str
    thousand: str
    small: str
    coins: str
    many: str


PHONES = {
    "german": Phone("de-DE", "1.234,50", "7,80", "0,25", "3"),
    "swiss": Phone("de-CH", "1\N{RIGHT SINGLE QUOTATION MARK}234.50", "7.80", "0.25", "3"),
    "japanese": Phone("ja-JP", "１，２３４．５０", "７．８０", "０．２５", "３"),
}


@pytest.fixture
def merchant(dollars: Cast) -> Cast:
    make.store_coins(dollars.bakery.store, "SETH", 10**18)
    add_wallet(dollars.bakery.store, "test", "sepolia", WALLET, "The cold one")
    second_factor.switch_on(dollars.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    assert Asset.objects.get(pk="USDC_SETH").is_active
    dollars.alice.language = "en"  # the pages', whatever the phone's
    dollars.alice.save(update_fields=["language"])
    return dollars


def newest(kind: type[Any], cast: Cast) -> Any:
    """Of the merchant's store: other tests of browsers leave records of theirs."""
    return kind.objects.filter(store=cast.bakery.store).latest("created_at")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).first.click()


def no_keypad_is_left_out(page: Page) -> None:
    """Each amount asks for a keypad with a decimal mark, and the browser judges none of them."""
    for field in page.locator("input[inputmode=decimal]").all():
        assert field.get_attribute("pattern") is None
        assert field.get_attribute("type") in (None, "text")


@pytest.mark.parametrize("name", PHONES)
def test_whatever_the_phone_the_amount_is_the_same(
    name: str, merchant: Cast, open_page: OpenPage
) -> None:
    phone = PHONES[name]
    page = open_page(
        "/dashboard/payments/new",
        width=390,
        height=844,
        locale=phone.locale,
        person=merchant.alice,
    )
    base = page.url.split("/dashboard")[0]
    sells(page, base, phone, merchant)
    bills(page, base, phone, merchant)
    moves(page, base, phone, merchant)


def sells(page: Page, base: str, phone: Phone, cast: Cast) -> None:
    no_keypad_is_left_out(page)
    page.get_by_label("Amount", exact=True).press_sequentially(phone.thousand)
    press(page, "Create link")
    expect(page.get_by_text("€1,234.50").first).to_be_visible()
    assert newest(Payment, cast).settlement_amount_cents == 123450

    page.goto(f"{base}/dashboard/point-of-sale")
    no_keypad_is_left_out(page)
    page.locator("#amount").fill(phone.small)
    page.locator("form[data-till] button.primary").click()
    page.wait_for_url("**/point-of-sale/*-*")  # the button has shown the sum before
    expect(page.get_by_text("€7.80").first).to_be_visible()
    press(page, "No tip")
    expect(page.get_by_role("img", name="QR code of the checkout")).to_be_visible()
    assert newest(Payment, cast).settlement_amount_cents == 780

    page.goto(f"{base}/dashboard/payment-links/new")
    no_keypad_is_left_out(page)
    page.get_by_label("Title").fill("Tips")
    page.get_by_text("Customer chooses the amount").click()
    page.get_by_label("Minimum amount").fill(phone.small)
    page.get_by_label("Suggested amount 1").fill(phone.small)
    page.get_by_label("Suggested amount 2").fill(phone.thousand)
    press(page, "Create payment link")
    expect(page.get_by_text("Payment link created.")).to_be_visible()
    made = newest(PaymentLink, cast)
    assert (made.min_cents, made.suggested_cents) == (780, [780, 123450])

    link = donation(cast.bakery, suggested_cents=[], min_cents=1, max_cents=None)
    page.goto(f"{base}/pay/{link.token}")
    no_keypad_is_left_out(page)
    page.locator("#amount").fill(phone.thousand)
    page.locator("form.link-form button").click()
    page.wait_for_url(re.compile(r"/pay/(?!" + link.token + ")"))
    assert newest(Payment, cast).settlement_amount_cents == 123450


def bills(page: Page, base: str, phone: Phone, cast: Cast) -> None:
    page.goto(f"{base}/dashboard/invoices/new")
    no_keypad_is_left_out(page)
    page.get_by_label("Email").first.fill("ann@example.com")
    page.get_by_label("Description").first.fill("Bread")
    page.get_by_label("Quantity").first.fill(phone.many)
    page.get_by_label("Unit price").first.fill(phone.thousand)
    press(page, "Save draft")
    added = page.get_by_role("button", name=re.compile("Add customer|Add .* and save"))
    total = page.get_by_text("€3,703.50").first
    expect(added.first.or_(total).first).to_be_visible()
    if added.count():
        added.first.click()
    expect(total).to_be_visible()
    assert newest(Invoice, cast).subtotal_cents == 370350


def moves(page: Page, base: str, phone: Phone, cast: Cast) -> None:
    page.goto(f"{base}/dashboard/payouts/new?asset=SETH")
    no_keypad_is_left_out(page)
    page.get_by_label("Amount", exact=True).fill(phone.coins)
    press(page, "Review payout")
    expect(page.get_by_role("heading", name="Confirm payout")).to_be_visible()
    expect(page.get_by_text("0.25").first).to_be_visible()

    page.goto(f"{base}/dashboard/payouts/new?asset=SETH")
    page.get_by_label("Amount", exact=True).fill(phone.small)
    page.get_by_label("Amount in").select_option("fiat")
    press(page, "Review payout")
    expect(page.get_by_role("heading", name="Confirm payout")).to_be_visible()
    expect(page.get_by_text("€7.80").first).to_be_visible()

    page.goto(f"{base}/dashboard/swaps/new?from=SETH")
    page.get_by_label("Amount to sell").fill(phone.coins)
    page.get_by_label("Buy").select_option("USDC_SETH")
    press(page, "Get quote")
    expect(page.get_by_role("heading", name="Confirm swap")).to_be_visible()
    expect(page.get_by_text("0.25").first).to_be_visible()

    made = make.payment(cast.bakery.test, amount="50.00")
    make.simulated(cast.bakery.test, made["id"])
    page.goto(f"{base}/dashboard/payments/{made['id']}/refund")
    no_keypad_is_left_out(page)
    page.locator("#amount").fill(phone.small)
    page.get_by_label("Amount in").select_option("locked")
    press(page, "Review refund")
    expect(page.get_by_role("heading", name="Confirm refund")).to_be_visible()
    expect(page.get_by_text("€7.80").first).to_be_visible()

    page.goto(f"{base}/dashboard/payouts/schedules/new")
    no_keypad_is_left_out(page)
    page.get_by_label("Coin").select_option("SETH")
    page.get_by_label("Minimum payout").fill(phone.thousand)
    press(page, "Add schedule")
    expect(page.get_by_text("€1,234.50").first).to_be_visible()
    page.get_by_label("Code from your authenticator app").fill(next_code(cast.alice))
    press(page, "Confirm")
    expect(page.get_by_text("Schedule created.")).to_be_visible()
    assert newest(Schedule, cast).minimum_fiat_cents == 123450
