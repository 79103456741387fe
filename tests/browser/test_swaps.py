"""The rooms of swaps in a real browser: wide, on a phone and in the dark."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from apps.access.factors import second_factor
from apps.assets.models import Asset
from apps.swaps.services.progress import advance_swaps
from tests import make
from tests.browser.conftest import OpenPage, shoot, turn_to
from tests.browser.test_dashboard import fine
from tests.cast import Cast
from tests.dashboard.browse import next_code


@pytest.fixture
def dollars(world: Cast) -> Iterator[Cast]:
    """A store that has sold test coins for dollars, and could sell more; afterwards there are no
    dollars again."""
    before = Asset.objects.get(pk="USDC_SETH")
    make.swapped(world.bakery)
    advance_swaps()
    make.swapped(world.bakery, key="second")
    yield world
    Asset.objects.filter(pk="USDC_SETH").update(
        contract_address=before.contract_address, is_active=before.is_active
    )


@pytest.mark.whole  # in dashboard/test_swaps.py and test_every_page.py of the suite
@pytest.mark.parametrize(
    ("look", "width", "dark"), [("desktop", 1280, False), ("phone-dark", 390, True)]
)
def test_a_merchant_swaps_and_sees_what_it_brought(
    dollars: Cast, open_page: OpenPage, look: str, width: int, dark: bool
) -> None:
    second_factor.switch_on(dollars.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    page = open_page("/dashboard/swaps/new", width=width, dark=dark, person=dollars.alice)
    expect(page.get_by_role("heading", name="Swap test balance")).to_be_visible()
    fine(page)
    shoot(page, f"dashboard-swap-new-{look}")
    page.get_by_label("Amount to sell").fill("0.25")
    page.get_by_label("Buy").select_option("USDC_SETH")
    page.get_by_role("button", name="Get quote").click()
    expect(page.get_by_role("heading", name="Confirm swap")).to_be_visible()
    fine(page)
    shoot(page, f"dashboard-swap-review-{look}")
    page.get_by_label("Code from your authenticator app").fill(next_code(dollars.alice))
    page.get_by_role("button", name="Swap", exact=True).click()
    expect(page.get_by_text("Swap created.")).to_be_visible()
    advance_swaps()
    page.reload()
    expect(page.get_by_text("Completed").first).to_be_visible()
    fine(page)
    shoot(page, f"dashboard-swap-{look}")
    for name, path in (("list", "swaps"), ("automatic", "settings/auto-swap")):
        turn_to(page, f"/dashboard/{path}")
        fine(page)
        shoot(page, f"dashboard-swaps-{name}-{look}")
