"""Where money goes out and what the books say of it, with ugly names, in a real browser: wide, on a
phone and in the dark."""

import pytest
from playwright.sync_api import Page, expect

from apps.payments.services.refund_progress import advance_refunds
from apps.payouts.services.destinations import add_wallet
from tests import make
from tests.browser.conftest import OpenPage, shoot, turn_to
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Cast

UGLY = "مقهى الزاوية 🍰 <script> " + "Donaudampfschifffahrt" * 6
WALLETS = 9


def ugly(world: Cast) -> tuple[str, str]:
    """A store with a refund on its way, payouts and a swap; the id of a payment that can be
    refunded, and that of a payout with as many digits as there are."""
    shop = world.bakery
    make.paid(shop.test, amount="5000.00", currency="JPY", title=UGLY, order_id="A" * 200)
    for number in range(WALLETS):
        saved = add_wallet(
            shop.store, "test", "sepolia", make.fresh_address(), f"{number} {UGLY}"[:100]
        )
    make.swapped(shop)
    digits = 123_456_789_012_345_678
    payout = make.payout(shop.test, digits, crypto_payout_detail_id=str(saved.pk))
    refunded = make.paid(shop.test, title=UGLY)
    shop.test.post(f"/payments/{refunded['id']}/refunds", {"amount": "0.001"}, key="refund")
    advance_refunds()
    made = make.paid(shop.test, amount="4000.00", title=UGLY, order_id="B" * 200)
    return str(made["id"]), str(payout["id"])


@pytest.mark.parametrize(
    ("look", "width", "dark"),
    [("wide", 1280, False), ("phone", 390, False), ("phone-dark", 390, True)],
)
def test_ugly_names_break_no_page(
    world: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    id, payout = ugly(world)
    page = open_page(f"/dashboard/payments/{id}/refund", width=width, dark=dark, person=world.alice)
    page.wait_for_url("**/refund")
    see_again(page, f"refund-{look}")
    page.get_by_label("Amount in", exact=True).select_option("locked")
    page.get_by_role("link", name="25%").click()
    expect(page.get_by_label("Amount optional")).to_have_value("1000.00")
    expect(page.get_by_label("Amount in", exact=True)).to_have_value("locked")
    page.get_by_role("button", name="Review refund").click()
    expect(page.get_by_role("heading", name="Confirm refund")).to_be_visible()
    see(page, f"refund-review-{look}")
    for path in ("payouts/new", "payouts", "settings/account-codes?chart=skr03"):
        turn_to(page, f"/dashboard/{path}")
        see(page, f"{path.partition('?')[0].replace('/', '-')}-{look}")
    for path in ("refunds", "swaps", "statement", f"payouts/{payout}"):
        turn_to(page, f"/dashboard/{path}")
        see_again(page, f"{path.partition('/')[0]}-{look}")


def see(page: Page, name: str) -> None:
    fine(page)
    shoot(page, f"money-{name}")


def see_again(page: Page, name: str) -> None:
    """Of a page that is judged with names that aren't ugly."""
    fine_again(page)
    shoot(page, f"money-{name}")


def test_a_coin_and_its_maximum_are_chosen_with_and_without_a_script(
    world: Cast, open_page: OpenPage
) -> None:
    make.swapped(world.bakery)
    make.store_coins(world.bakery.store, "USDC_SETH", 5_000_000)
    page = open_page("/dashboard/payouts/new", person=world.alice)
    page.get_by_label("Coin").select_option("USDC_SETH")
    expect(page.get_by_label("Amount in")).to_contain_text("USDC")
    address = make.fresh_address()
    page.get_by_label("Address on Ethereum Sepolia").fill(address)
    page.get_by_role("link", name="Maximum").click()
    expect(page.get_by_label("Amount", exact=True)).to_have_value("5")
    expect(page.get_by_label("Address on Ethereum Sepolia")).to_have_value(address)

    plain = open_page("/dashboard/payouts/new", script=False, person=world.alice)
    plain.get_by_label("Coin").select_option("USDC_SETH")
    plain.get_by_role("button", name="Change coin").click()
    plain.get_by_role("link", name="Maximum").click()
    expect(plain.get_by_label("Amount", exact=True)).to_have_value("5")
