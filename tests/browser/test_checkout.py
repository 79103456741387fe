"""A customer pays, in a real browser: every stage of the page, on a desk and on a phone, light and
dark, with and without scripts."""

import contextlib
import re
from typing import Any

import pytest
from playwright.sync_api import Error, FrameLocator, Page, Response, Route, expect

from apps.assets.models import AcceptedAsset
from apps.payments.models import Renewal
from tests import make
from tests.browser import looks
from tests.browser.conftest import (
    OpenPage,
    barriers,
    barriers_again,
    overflow,
    put_on,
    shoot,
    turn_to,
)
from tests.cast import Cast, Shop

ITEMS = [
    {"description": "Sourdough loaf", "quantity": 2, "unit_amount_cents": 650},
    {"description": "Poppy seed roll", "quantity": 6, "unit_amount_cents": 95},
]
WITH_AMOUNT = "QR code: opens a wallet with network, address and amount"
ADDRESS_ONLY = "QR code: the address only"
RETURN = {"success_url": "https://shop.example/thanks", "failed_url": "https://shop.example/basket"}


def order(shop: Shop, mode: str = "test", **fields: Any) -> dict[str, Any]:
    given = {
        "amount": "18.70",
        "title": "Saturday basket",
        "description": "Pick up after ten",
        "line_items": ITEMS,
        **RETURN,
        **fields,
    }
    return make.payment(getattr(shop, mode), **given)


@pytest.fixture
def shop(world: Cast) -> Shop:
    world.bakery.store.support_email = "hello@bakery.example"
    world.bakery.store.save()
    return world.bakery


def other_coin(made: dict[str, Any]) -> dict[str, Any]:
    """The address of a coin that isn't the one the page begins with."""
    (found,) = (
        payment_address
        for payment_address in made["payment_addresses"]
        if payment_address["supported_asset"]["asset_id"] == "ETH"
    )
    return dict(found)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


STAGES = {
    "pay": ([], {}, "Pay with crypto"),
    "underpaid": ([("underpaid", {})], {}, "Partially paid"),
    "confirming": ([("unconfirmed", {"confirmations": 3})], {}, "Confirming your payment"),
    "seen": ([("unconfirmed", {"confirmations": 0})], {}, "Payment detected"),
    "completed": ([("exact", {})], {}, "Paid"),
    "overpaid": ([("overpaid", {})], {}, "Paid"),
    "failed": ([("overpaid", {})], {"accept_overpayments": False}, "The payment was not accepted"),
}


LOOKS: dict[str, dict[str, Any]] = {
    "desk": {},
    "phone": {"width": 390, "height": 844},
    "dark": {"dark": True},
}


def path_at(shop: Shop, stage: str) -> str:
    """Of a payment that has come so far."""
    deposits, settings, _ = STAGES[stage]
    for name, value in settings.items():
        setattr(shop.store, name, value)
    shop.store.save()
    made = order(shop, expires_in=86_400)
    for scenario, more in deposits:
        make.simulated(shop.test, made["id"], scenario, **more)
    return f"/pay/{made['reference']}"


LONG_NAME = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk"
LONG_EMAIL = f"{'very.' * 8}long@{'sub.' * 6}example.com"


def end_of_label(page: Page) -> float:
    """Where the words above the amount end, from the left."""
    end: float = page.evaluate(
        "() => { const range = document.createRange();"
        " range.selectNodeContents(document.querySelector('.bill h1 > .label'));"
        " return range.getBoundingClientRect().right }"
    )
    return end


def test_every_stage_is_readable_by_everybody_with_names_of_any_length(
    shop: Shop, open_page: OpenPage
) -> None:
    shop.store.name = LONG_NAME
    shop.store.support_email = LONG_EMAIL
    paths = {stage: path_at(shop, stage) for stage in STAGES}
    page = open_page(paths["pay"], width=390)
    for stage, path in paths.items():
        turn_to(page, path)
        # What the page begins with is seen in every look; the other stages share its frame.
        for name, look in (LOOKS if stage == "pay" else looks.seen(LOOKS)).items():
            put_on(page, **look)
            expect(page.get_by_role("heading", level=2, name=STAGES[stage][2])).to_be_visible()
            shoot(page, f"checkout-{stage}-{name}")
            assert barriers(page) == [], (stage, name)
            assert overflow(page) <= 0, (stage, name)
    put_on(page, **LOOKS["phone"])
    turn_to(page, f"{paths['underpaid']}?lang=de")
    time_left = page.locator(".time-left").bounding_box()
    assert time_left is not None
    assert end_of_label(page) <= time_left["x"], "a long label stands beside the time that is left"


def refresh(page: Page) -> None:
    """Look now at what has become of the payment, as the page does every few seconds."""
    with page.expect_response(lambda answer: answer.request.headers.get("hx-request") == "true"):
        page.evaluate("htmx.trigger('#checkout', 'refresh')")


def test_a_customer_pays_and_the_page_follows_without_a_reload(
    shop: Shop, open_page: OpenPage
) -> None:
    """Before and after it, the panel of test mode plays."""
    made = order(shop)
    page = open_page(f"/pay/{made['reference']}")
    press(page, "Failed")
    transactions = page.get_by_role("list", name="Transactions")
    expect(transactions.get_by_text("Failed", exact=True)).to_be_visible()
    page.evaluate("window.same = true")
    make.simulated(shop.test, made["id"], "underpaid")
    expect(page.get_by_role("heading", name="Partially paid")).to_be_visible()
    make.simulated(shop.test, made["id"], "unconfirmed", reference="rest", confirmations=2)
    expect(page.get_by_role("heading", name="Confirming your payment")).to_be_visible()
    expect(page.locator("#announcement")).to_have_text(
        "Your payment has been seen and is being confirmed"
    )
    assert page.evaluate("window.same")
    press(page, "Confirm")
    expect(page.get_by_role("heading", name="Paid")).to_be_visible()
    expect(page.get_by_role("link", name="Return to Alice's Bakery")).to_have_attribute(
        "rel", "noopener noreferrer"
    )


SELECT = """([selector, end]) => {
    const place = document.createRange();
    const text = document.querySelector(selector);
    place.selectNodeContents(text);
    if (end) place.setEnd(text.firstChild, end);
    document.getSelection().removeAllRanges();
    document.getSelection().addRange(place);
}"""


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_an_amount_that_is_selected_by_hand_is_copied_as_wallets_take_it(
    language: str, shop: Shop, open_page: OpenPage
) -> None:
    made = make.payment(shop.test, amount="12.34")
    amount = next(
        entry["crypto_amount"]
        for entry in made["payment_addresses"]
        if entry["supported_asset"]["asset_id"] == "SETH"
    )
    page = open_page(f"/pay/{made['reference']}?asset=SETH&lang={language}")
    shown = page.locator("#amount-text").inner_text()
    assert shown == (amount if language == "en" else amount.replace(".", ","))
    for selector, end, copied in (
        ("#amount-text", 0, amount),
        ("#amount-text", 5, amount[:5]),
        (".amount-box bdi", 0, f"{amount} ETH"),
        (".in-coins", 0, f"{amount} ETH"),
        ("#amount-label", 0, page.locator("#amount-label").inner_text()),
    ):
        page.evaluate(SELECT, [selector, end])
        page.keyboard.press("Control+c")
        assert page.evaluate("navigator.clipboard.readText()").strip() == copied, selector


def test_a_coin_is_chosen_and_its_address_copied(shop: Shop, open_page: OpenPage) -> None:
    """While the page follows, the focus stays where it was, and a look that was under way doesn't
    take the coin back."""
    made = order(shop, "live")
    page = open_page(f"/pay/{made['reference']}")
    expect(page.locator(".test-banner, .test-panel")).to_have_count(0)
    shoot(page, "checkout-live-desk")
    assert barriers_again(page) == []
    page.locator("#coins > summary").click()
    page.locator(".coin-list a").nth(1).focus()
    refresh(page)
    page.wait_for_function("document.activeElement.matches('#coins[open] .coin-list a')")
    under_way: list[Route] = []
    page.route(
        re.compile(r"/pay/"),
        lambda route: route.continue_() if under_way else under_way.append(route),
    )
    page.evaluate("htmx.trigger('#checkout', 'refresh')")
    while not under_way:
        page.wait_for_timeout(20)
    other = other_coin(made)
    page.locator("#asset-ETH").click()
    address = page.locator(".say .copy-box bdi").last
    expect(address).to_have_text(other["address"])
    with contextlib.suppress(Error):  # the page may have given it up
        under_way[0].continue_()
    page.wait_for_timeout(500)
    expect(address).to_have_text(other["address"])

    assert f"asset={other['supported_asset']['asset_id']}" in page.url
    page.get_by_role("button", name="Copy the address").click()
    expect(page.get_by_text("Address copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == other["address"]
    expect(page.get_by_role("img", name=WITH_AMOUNT)).to_be_visible()
    scan, say = (page.locator(item).bounding_box() for item in (".scan .qr", ".say"))
    assert (
        scan and say and scan["x"] + scan["width"] < say["x"] and say["width"] > 220
    )  # beside each other, with room to read
    page.get_by_role("link", name="Address only").click()
    expect(page.get_by_role("img", name=ADDRESS_ONLY)).to_be_visible()


def test_the_page_works_without_scripts(shop: Shop, open_page: OpenPage) -> None:
    made = order(shop, "live")
    page = open_page(f"/pay/{made['reference']}", script=False, width=390, height=844)
    page.locator("#coins > summary").click()
    page.locator("#asset-ETH").click()
    expect(page.locator(".say .copy-box bdi").last).to_have_text(other_coin(made)["address"])
    expect(page.get_by_role("button", name=re.compile("Copy"))).to_have_count(0)
    expect(page.get_by_role("link", name="Pay with wallet")).to_have_attribute(
        "href", re.compile(r"^ethereum:0x[0-9a-fA-F]{40}@1\?value=")
    )
    expect(page.get_by_role("img", name=WITH_AMOUNT)).to_be_visible()
    expect(page.locator(".fours")).to_be_visible()
    shoot(page, "checkout-phone-without-script")
    page.get_by_role("link", name="Address only").click()
    expect(page.get_by_role("img", name=ADDRESS_ONLY)).to_be_visible()


def test_a_store_shows_its_own_name_and_colours(shop: Shop, open_page: OpenPage) -> None:
    for name, value in {
        "brand_name": "Brot & Büchse",
        "primary_color": "#7b2d8b",
        "secondary_color": "#f2c14e",
    }.items():
        setattr(shop.store, name, value)
    shop.store.remove_service_branding = True
    shop.store.save()
    page = open_page(f"/pay/{order(shop)['reference']}", width=390, height=844)
    expect(page.locator(".merchant")).to_have_text("Brot & Büchse")
    expect(page.get_by_text("Payments by")).to_have_count(0)
    assert (
        page.locator(".button.primary").evaluate("one => getComputedStyle(one).backgroundColor")
        == "rgb(123, 45, 139)"
    )
    shoot(page, "checkout-branded-phone")
    assert barriers(page) == []


def in_a_shop(page: Page, server: str, reference: str) -> FrameLocator:
    """The checkout in the frame of a page of another site."""
    shop = server.replace("127.0.0.1", "localhost") + f"/shop/{reference}"
    page.route(
        shop, lambda route: route.fulfill(content_type="text/html", body=SHOP % (server, reference))
    )
    page.goto(shop)
    return page.frame_locator("iframe")


def heard(page: Page) -> list[str]:
    """Events that the shop's page was sent, its frame's height aside."""
    told: list[str] = page.evaluate("heard.map((one) => one.event)")
    return [event for event in told if event != "resize"]


def test_a_page_that_frames_the_checkout_hears_what_happens(
    shop: Shop, open_page: OpenPage, server: str
) -> None:
    """Too late at first: the new quote comes inside."""
    made = order(shop)
    make.advance(shop.test, 3601)
    page = open_page("/healthz")
    frame = in_a_shop(page, server, made["reference"])
    expect(page.locator("#heard")).to_contain_text("expired")
    before = len(heard(page))
    frame.get_by_role("button", name="Get a new quote").click()
    expect(frame.get_by_role("heading", name="Pay with crypto")).to_be_visible()
    expect(frame.locator(".checkout-foot")).to_have_count(0)
    shoot(page, "checkout-embedded")
    page.wait_for_function(
        "heard.filter((one) => one.event === 'status').at(-1).status === 'pending'"
    )
    make.simulated(shop.test, str(Renewal.objects.get(earlier_id=made["id"]).later_id), "exact")
    expect(page.locator("#heard")).to_contain_text("completed")
    assert heard(page)[before:] == ["ready", "status", "status", "completed"]
    told = page.evaluate("heard")
    assert all(item["source"] == "service:checkout" for item in told)
    assert (
        next(item for item in told if item["event"] == "completed")["success_url"]
        == RETURN["success_url"]
    )
    height = "heard.filter((one) => one.event === 'resize').at(-1).height"
    page.wait_for_function(f"document.querySelector('iframe').offsetHeight === {height}")

    frame = in_a_shop(page, server, "ABCDEFGHIJKLMNOP")
    expect(frame.get_by_role("heading", name="Payment not found")).to_be_visible()
    expect(page.locator("#heard")).to_contain_text("failed")
    assert heard(page) == ["ready", "failed"], "what isn't there says so at once"
    shoot(page, "checkout-embedded-missing")


SHOP = """<!doctype html><html lang=en><title>A shop</title><h1>A shop</h1><div id=pay></div>
<pre id=heard></pre>
<script src="%s/embed.js"></script><script>
var heard = [];
for (const name of ["ready", "resize", "status", "completed", "failed", "expired"])
  document.addEventListener("tillgate:" + name, (e) => {
    heard.push(e.detail);
    document.getElementById("heard").append(name + " ");
  });
Tillgate.mount("#pay", {reference: "%s"});
</script></html>"""


def test_a_browser_without_light_dark_shows_ground_text_and_buttons(
    shop: Shop, open_page: OpenPage, server: str
) -> None:
    made = order(shop, "live")
    page = open_page("/healthz", dark=True, width=390, height=844)

    def from_before(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("light-dark(", "unheard-of("))

    page.route("**/*.css", from_before)
    page.goto(f"{server}/pay/{made['reference']}")
    shoot(page, "checkout-old-browser")
    colors = page.evaluate(
        """() => { const style = getComputedStyle(document.documentElement);
            return [style.backgroundColor, getComputedStyle(document.body).color] }"""
    )
    assert colors == ["rgb(244, 246, 243)", "rgb(20, 32, 27)"]


KILOBYTES_MAX = 97
WAYS_WEIGHED = ("ETH", "ETH_USDC", "ETH_USDT", "SETH")
REQUESTS_MAX = 13  # a question for news among them
SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("mode", ["live", "test"])
def test_the_page_is_light_and_asks_nobody_else(
    mode: str, shop: Shop, open_page: OpenPage, server: str
) -> None:
    """Uncompressed, with an empty cache; the wallet's part only comes when it is asked for."""
    # Whatever another test has turned on.
    AcceptedAsset.objects.filter(store=shop.store).exclude(asset_id__in=WAYS_WEIGHED).delete()
    made = order(shop, mode)
    page = open_page("/healthz", width=390, height=664)
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    page.add_init_script(SHIFTS)
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(f"{server}/pay/{made['reference']}")
    page.wait_for_load_state("networkidle")
    page.evaluate("htmx.trigger('#checkout', 'refresh')")
    sizes = {
        item.url.removeprefix(server): len(item.body())
        for item in answers
        if item.request.headers.get("hx-request") != "true"
    }
    assert all(url.startswith("/") for url in sizes), sizes
    assert len(sizes) <= REQUESTS_MAX, sizes
    assert sum(sizes.values()) <= KILOBYTES_MAX * 1024, (sum(sizes.values()), sizes)
    assert not any("wallet" in url for url in sizes)
    page.wait_for_timeout(300)
    assert page.evaluate("window.shifted") == 0


def test_all_that_it_takes_to_pay_is_in_the_first_look_of_a_phone(
    shop: Shop, open_page: OpenPage, server: str
) -> None:
    page = open_page("/healthz", width=390, height=660)
    for mode in ("test", "live"):
        page.goto(f"{server}/pay/{order(shop, mode)['reference']}")
        action = page.locator(".cta").bounding_box()
        assert action and action["y"] + action["height"] <= 660
        for part in (".bill-amount", ".in-coins", ".time-left", ".coin-field", ".quick"):
            box = page.locator(part).bounding_box()
            assert box and box["y"] >= 0 and box["y"] + box["height"] <= action["y"], part
        shoot(page, f"checkout-first-look-{mode}")
    page.get_by_text("Show QR code").click()
    expect(page.get_by_role("img", name=ADDRESS_ONLY)).to_be_visible()
    refresh(page)
    expect(
        page.get_by_role("img", name=ADDRESS_ONLY)
    ).to_be_visible()  # it stays while the page follows
    assert barriers(page) == []
