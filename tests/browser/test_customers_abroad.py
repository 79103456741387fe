"""Customers on a phone, in Japan, Egypt and Germany: by wallet, by QR code and by hand, too little,
too late, and with a receipt.

Nothing here is found by English words: what they read is compared with the catalog of their
language.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import segno
from django.utils import translation
from django.utils.translation import gettext
from playwright.sync_api import Page, expect

from apps.core import mailbox
from tests import make
from tests.browser.conftest import OpenPage, barriers, barriers_again, overflow, shoot
from tests.browser.test_wallet import (
    _anvil,
    buried,
    chain,
    checkout,
    entry_of,
    shop,
    token,
    wallet,
    watched,
)
from tests.browser.wallets import Wallet
from tests.cast import Shop
from tests.chain.local import LocalChain
from tests.whole import usually

__all__ = ["_anvil", "chain", "shop", "token", "wallet"]
pytestmark = pytest.mark.chain
PEOPLE = {"ja": ("ja-JP", "ltr"), "ar": ("ar-EG", "rtl"), "de": ("de-DE", "ltr")}
WAIT = 30_000


# What each does in the suite; the whole suite has each do everything.
WAYS = {
    "test_by_wallet": "ja",
    "test_by_code": "de",
    "test_by_hand_too_little_and_then_the_rest": "ar",
    "test_too_late_and_then_by_a_new_quote_with_a_receipt": "de",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "language" in metafunc.fixturenames:
        own = WAYS[metafunc.function.__name__]
        languages = usually(short=[own], whole=list(PEOPLE))
        metafunc.parametrize("language", languages, indirect=True)


@pytest.fixture
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    with translation.override(request.param):
        yield request.param


def phone(language: str) -> dict[str, Any]:
    return {"width": 390, "height": 664, "locale": PEOPLE[language][0]}


def speaks(page: Page, language: str) -> None:
    """In their language and direction, readable by everybody, nothing beyond the edge of the
    phone. The suite judges each stage in one language, and one in the language that runs the other
    way."""
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator("html")).to_have_attribute("dir", PEOPLE[language][1])
    assert barriers(page) == []
    assert overflow(page) <= 0


def still_speaks(page: Page, language: str) -> None:
    """Check the language of a stage that is judged in another language."""
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator("html")).to_have_attribute("dir", PEOPLE[language][1])
    assert barriers_again(page) == []
    assert overflow(page) <= 0


def status(page: Page, wanted: str) -> None:
    expect(page.locator(f'#checkout[data-status="{wanted}"]')).to_have_count(1, timeout=WAIT)


def linked(page: Page) -> tuple[str, int]:
    """(address, amount) of the link that the wallet's button has without a wallet."""
    link = page.locator("#pay-with-wallet").get_attribute("href") or ""
    found = re.fullmatch(r"ethereum:(0x[0-9a-fA-F]{40})@11155111\?value=(\d+)", link)
    assert found is not None, link
    return found[1], int(found[2])


def test_by_wallet(language: str, shop: Shop, wallet: Wallet, open_page: OpenPage) -> None:
    watched()
    made = make.payment(shop.test, amount="12.50", title="1042")
    page = checkout(open_page, wallet, f"/pay/{made['reference']}?asset=SETH", **phone(language))
    expect(page.locator("#pay-with-wallet")).to_have_text(gettext("Pay with wallet"))
    still_speaks(page, language)
    shoot(page, f"abroad-{language}-pay")
    page.locator("#pay-with-wallet").click()
    expect(page.get_by_role("dialog", name=gettext("Pay with wallet"))).to_be_visible()
    expect(page.get_by_role("button", name="Test Wallet")).to_be_visible()
    speaks(page, language)
    page.get_by_role("button", name="Test Wallet").click()
    expect(page.locator("[data-wallet-status]")).to_have_text(
        gettext("Sent, waiting for the network. You don’t need to pay again.")
    )
    still_speaks(page, language)
    shoot(page, f"abroad-{language}-sent")
    entry, (sent,) = entry_of(made, "SETH"), wallet.sent
    assert (sent["to"], int(sent["value"], 16), sent["data"]) == (
        entry["address"],
        int(entry["crypto_amount_atomic"]),
        "0x",
    )
    buried(wallet.chain)
    status(page, "completed")
    expect(page.locator("#wallets")).not_to_be_visible()
    still_speaks(page, language)
    assert make.detail(shop.test, made["id"])["state_reason"] == "completed_exact"


# In the suite: the code in hosted/test_checkout.py, its page in test_checkout.py, and who pays to
# the address below.
@pytest.mark.whole
def test_by_code(language: str, shop: Shop, chain: LocalChain, open_page: OpenPage) -> None:
    watched()
    made = make.payment(shop.test, amount="12.50")
    page = open_page(f"/pay/{made['reference']}?asset=SETH", **phone(language))
    page.locator("label[for=show-code]").click()
    address, amount = linked(page)
    drawn = segno.make_qr(page.locator("#pay-with-wallet").get_attribute("href") or "", error="m")
    shape = re.findall(
        r' d="([^"]+)"', drawn.svg_inline(border=4, omitsize=True, svgclass=None, lineclass=None)
    )
    expect(page.locator(".qr")).to_be_visible()
    assert [page.locator(".qr path").get_attribute("d")] == shape, "the picture holds the link"
    still_speaks(page, language)
    shoot(page, f"abroad-{language}-code")
    chain.pay(address, amount)
    buried(chain)
    status(page, "completed")
    assert make.detail(shop.test, made["id"])["state_reason"] == "completed_exact"


def test_by_hand_too_little_and_then_the_rest(
    language: str, shop: Shop, chain: LocalChain, open_page: OpenPage
) -> None:
    watched()
    made = make.payment(shop.test, amount="12.50")
    page = open_page(f"/pay/{made['reference']}?asset=SETH", **phone(language))
    page.locator("label[for=show-code]").click()
    address = page.locator(".fours").inner_text()
    whole = linked(page)[1]
    assert address == entry_of(made, "SETH")["address"], "as it is copied by hand"
    chain.pay(address, whole // 2)
    buried(chain)
    expect(page.locator("#checkout.stage-underpaid")).to_have_count(1, timeout=WAIT)
    expect(page.get_by_role("heading", level=2, name=gettext("Partially paid"))).to_be_visible()
    still_speaks(page, language)
    shoot(page, f"abroad-{language}-underpaid")
    again, rest = linked(page)
    assert (again, rest) == (address, whole - whole // 2) or rest - (whole - whole // 2) < 10**10
    chain.pay(again, rest)
    buried(chain)
    status(page, "completed")


def test_too_late_and_then_by_a_new_quote_with_a_receipt(
    language: str, shop: Shop, open_page: OpenPage, settings: Any, tmp_path: Any
) -> None:
    settings.EMAIL_BACKEND = "apps.core.mailbox.Folder"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    made = make.payment(shop.test, amount="12.50", title="1042")
    make.advance(shop.test, 3601)
    page = open_page(f"/pay/{made['reference']}", **phone(language))
    status(page, "expired")
    still_speaks(page, language)
    shoot(page, f"abroad-{language}-expired")
    page.locator('form[action*="/quote"] button').click()
    page.wait_for_url(lambda url: made["reference"] not in url)
    status(page, "pending")
    page.locator('.test-panel button[value="exact"]').click()
    status(page, "completed")
    page.locator("#receipt-email").fill("ann@abroad.example")
    page.locator("#receipt button").click()
    expect(page.locator("#receipt [role=status]")).to_be_visible()
    still_speaks(page, language)
    shoot(page, f"abroad-{language}-receipt")
    make.mail_leaves()
    (email,) = (email for email in mailbox.stored_emails() if email.to == "ann@abroad.example")
    assert (
        gettext("Thank you. %(merchant)s has received your payment.")
        % {"merchant": shop.store.name}
        in email.text
    )


def test_a_language_that_is_chosen_stays(shop: Shop, open_page: OpenPage) -> None:
    made = make.payment(shop.test)
    page = open_page(f"/pay/{made['reference']}", **phone("de"))
    page.locator(".languages > summary").click()
    page.locator('.languages a[lang="ar"]').click()
    speaks(page, "ar")
    assert parse_qs(urlsplit(page.url).query)["lang"] == ["ar"]
    page.goto(page.url.partition("?")[0])
    still_speaks(page, "ar")
    for part in (".top", ".bill", ".coin-field", ".cta"):
        box = page.locator(part).bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 390, part
