"""Litecoin that waits for a block, as the customer, the merchant and the counter see it: without
anybody loading a page again."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from apps.access.access import Access
from apps.assets.models import Asset
from apps.links.services.sales import payment_of
from tests import make
from tests.bitcoin.conftest import litecoin
from tests.bitcoin.node import Litecoin
from tests.bitcoin.test_paying import Reading, entry, reading_of
from tests.browser.conftest import OpenPage, barriers, overflow, shoot
from tests.cast import Cast
from tests.links.sales import set_up, sold

__all__ = ["litecoin"]
pytestmark = pytest.mark.litecoin
VIEWS = [(1280, False), (390, True)]


@pytest.fixture
def reading(litecoin: Litecoin, world: Cast, settings: Any) -> Iterator[Reading]:
    with reading_of(litecoin, world.bakery, settings) as reader:
        yield reader
    Asset.objects.filter(pk="TLTC").update(is_active=False)


# The page's own looks, every few seconds, never come.
NO_LOOKS = """
const later = window.setTimeout.bind(window);
window.setTimeout = (run, wait, ...rest) => (wait >= 2500 ? 0 : later(run, wait, ...rest));
"""


@pytest.mark.parametrize("is_new", [True, False])
def test_the_checkout_shows_it_with_its_next_question(
    litecoin: Litecoin, reading: Reading, open_page: OpenPage, *, is_new: bool
) -> None:
    """With its first one if the coins came between the page and that."""
    payment = make.payment(reading.shop.test)
    page = open_page("/healthz")
    page.add_init_script(NO_LOOKS)
    if is_new:
        page.route("**/pulse*", lambda route: route.fulfill(status=429))
    with page.expect_response("**/pulse*"):
        page.goto(page.url.replace("/healthz", f"/pay/{payment['reference']}?asset=TLTC"))
    litecoin.pay(entry(payment)["address"], entry(payment)["crypto_amount"])
    reading.read()
    page.unroute_all()
    expect(page.get_by_text("We see your payment.")).to_be_visible()
    shoot(page, "seen-checkout")


@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_the_merchant_and_the_counter_see_it(
    litecoin: Litecoin, reading: Reading, open_page: OpenPage, width: int, *, dark: bool
) -> None:
    access = Access.for_session(reading.shop.owner, reading.shop.store, "test")
    set_up(access)
    sale = sold(access)
    payment = payment_of(sale)
    assert payment is not None
    way = entry(make.detail(reading.shop.test, str(payment.pk)))
    litecoin.pay(way["address"], way["crypto_amount"])
    reading.read()
    look = {"width": width, "dark": dark, "person": reading.shop.owner}
    for path, sentence in (
        (f"/dashboard/payments/{payment.pk}", "is on its way."),
        (f"/dashboard/point-of-sale/{sale.pk}", "Payment seen, not confirmed yet"),
        (f"/pay/{sale.token}/display", "We see your payment."),
    ):
        page = open_page(path, **look)
        expect(page.get_by_text(sentence).first).to_be_visible()
        assert barriers(page) == [] and overflow(page) <= 0
        shoot(page, f"seen-{path.split('/')[2][:8]}-{width}")
