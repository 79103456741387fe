"""A customer pays by card in a real browser, with coins on the local chain to the end."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.chain.models import Block, Head
from apps.chain.watching.watcher import Watcher
from apps.onramp.models import FundingSession
from apps.onramp.services.card_page import deliver_due
from apps.payments.services.settle import settle_deposits
from apps.stores.services import change_store
from tests import make
from tests.browser.conftest import OpenPage, barriers, overflow, put_on, shoot
from tests.browser.looks import seen
from tests.cast import Cast, Shop
from tests.chain.local import LocalChain, program
from tests.onramp.cards import opened

LOOKS: dict[str, dict[str, Any]] = {
    "desk": {},
    "phone": {"width": 390, "height": 844},
    "dark": {"dark": True},
}


@pytest.fixture
def shop(world: Cast) -> Shop:
    change_store(world.bakery.store, country="DE", card_funding_live=True, card_funding_test=True)
    return world.bakery


def card_page(page: Page) -> None:
    """The session's address is the product's own, which the test serves elsewhere."""
    page.get_by_role("button", name="Continue to payment").click()
    page.wait_for_url("**/sandbox/card/**")


@pytest.mark.whole  # in the suite without a browser in hosted/test_cards.py
def test_without_scripts_a_card_that_was_not_charged_can_be_tried_again(
    shop: Shop, open_page: OpenPage
) -> None:
    made = make.payment(shop.live, amount="50.00")
    page = open_page(f"/pay/{made['reference']}?pay=card", script=False, width=390, height=844)
    for button, words in (
        ("Decline", "The last card payment failed"),
        ("Keep pending", "is open"),
    ):
        card_page(page)
        page.get_by_role("button", name=button).click()
        expect(page.get_by_text(words)).to_be_visible()
    page.get_by_role("link", name=re.compile("Crypto")).click()
    expect(page.get_by_role("heading", level=2, name="Pay with crypto")).to_be_visible()


@pytest.mark.whole  # in the suite without a browser in hosted/test_cards.py
def test_somebody_from_nowhere_says_where_they_are(shop: Shop, open_page: OpenPage) -> None:
    change_store(shop.store, country="")
    made = make.payment(shop.test, amount="50.00")
    page = open_page(f"/pay/{made['reference']}?pay=card", width=390, height=844)
    page.get_by_label("Country").select_option("BR")
    page.get_by_role("button", name="Show prices").click()
    expect(page.get_by_text("Card payments of this amount aren’t available there.")).to_be_visible()
    page.get_by_text("Paying from Brazil").click()
    page.get_by_label("Country").select_option("GB")
    page.get_by_role("button", name="Show prices").click()
    expect(page.get_by_text("Faster Payments").first).to_be_visible()


@pytest.fixture
def chain(settings: Any) -> Iterator[LocalChain]:
    """A local Sepolia on which the embedded network delivers, as the demo's does in live mode."""
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    local = LocalChain(anvil)
    settings.CHAIN_URLS = {"sepolia": [local.url]}
    settings.CHAIN_START_BLOCKS = {"sepolia": 0}
    entry = {"BACKEND": "apps.onramp.providers.sandbox.CardSandbox", "OPTIONS": {"delivers": True}}
    settings.PROVIDERS = {
        **settings.PROVIDERS,
        "onramp": {**settings.PROVIDERS["onramp"], "test": [entry]},
    }
    yield local
    local.close()
    for model in (Block, Head):
        model.objects.filter(chain="sepolia").delete()


@pytest.mark.chain
def test_a_card_pays_to_the_end_with_coins_on_the_chain(
    shop: Shop, chain: LocalChain, open_page: OpenPage
) -> None:
    """In rooms that are readable by everybody."""
    made = make.payment(shop.test, amount="50.00", title="Cake", customer_pays_fee=True)
    page = open_page(f"/pay/{made['reference']}")
    page.get_by_role("link", name="Card or bank").click()
    expect(page.get_by_role("heading", level=2, name="Pay by card or bank")).to_be_visible()
    expect(page.get_by_role("radio").first).to_be_checked()
    for name, look in seen(LOOKS).items():
        put_on(page, **look)
        shoot(page, f"checkout-card-{name}")
        assert barriers(page) == [], name
        assert overflow(page) <= 0, name
    page.get_by_label("Email").fill("ann@example.com")
    card_page(page)
    shoot(page, "card-page")
    assert barriers(page) == []
    page.get_by_role("button", name="Charge the card").click()
    expect(page.get_by_role("heading", level=2, name="Paid, waiting for crypto")).to_be_visible()
    deliver_due()
    (session,) = FundingSession.objects.filter(payment_id=made["id"])
    chain.wait(session.delivery_tx_hash)
    chain.mine(3)
    watcher = Watcher("sepolia")
    while watcher.step():
        pass
    watcher.close()
    settle_deposits()
    expect(page.get_by_role("heading", level=2, name="Paid (test)", exact=True)).to_be_visible(
        timeout=60_000
    )
    done = make.detail(shop.test, made["id"])
    assert (done["state_reason"], done["transaction"]["amount_atomic"]) == (
        "completed_exact",
        str(session.expected_atomic),
    )
    deliver_due()
    assert (
        chain.call("eth_getTransactionCount", done["transaction"]["from_address"], "latest")
        == "0x1"
    ), "sent once"


def test_the_dashboard_says_which_payment_needs_somebody(
    shop: Shop, open_page: OpenPage, world: Cast
) -> None:
    change_store(shop.store, accept_overpayments=False)
    made = make.payment(shop.test, amount="50.00")
    opened(made)
    make.simulated(shop.test, made["id"], "overpaid")
    assert make.detail(shop.test, made["id"])["needs_attention"] == "card_refund"
    page = open_page(f"/dashboard/payments/{made['id']}", person=world.alice)
    expect(page.get_by_text("Action required.")).to_be_visible()
    expect(page.get_by_role("heading", name="Card payments")).to_be_visible()
    shoot(page, "dashboard-payment-card-desk")
    assert barriers(page) == []
