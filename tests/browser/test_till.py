"""The point of sale on a counter, in a real browser: all in view, charged once whatever the
connection does, and the customer's side on their own phone or on a second screen."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from apps.links.models import Sale
from apps.payments.models import Payment
from apps.stores.models import Role, User
from tests.browser.conftest import PATIENCE_MS, OpenPage, overflow, put_on, shoot
from tests.browser.signing_in import cookies_of
from tests.browser.test_dashboard import fine
from tests.cast import Cast, Shop, join, person
from tests.links.sales import coffee, line, set_up, sold
from tests.make import advance, simulated

TILL = "/dashboard/point-of-sale"
PHONE = {"width": 390, "height": 660}
UGLY = 'مقهى <b>"Ünïcödé"</b> 🎉 ' + "W" * 60

OpenTill = Callable[..., Page]


@pytest.fixture
def device(server: str, chromium: Browser) -> Iterator[BrowserContext]:
    """A phone of its own: it may lose its connection, and keeps what the till leaves on it."""
    context = chromium.new_context(viewport=PHONE, has_touch=True, base_url=server)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def till(world: Cast, server: str, device: BrowserContext) -> OpenTill:
    """The till's page, kept on the device, of a store that asks for no tips."""

    def open_it(who: User | None = None, **settings: Any) -> Page:
        set_up(world.bakery.owner_access(), **settings)
        device.add_cookies(cookies_of(who or world.alice, server))
        page = device.new_page()
        page.goto(TILL)
        page.wait_for_selector("html[data-kept]", state="attached")
        return page

    return open_it


def key_in(page: Page, *keys: str) -> None:
    for key in keys:
        page.locator(f"[data-key='{key}']").click()


def press_charge(page: Page) -> None:
    page.locator("[data-charge]").click()


def made(shop: Shop) -> list[Payment]:
    return list(Payment.objects.filter(store=shop.store).order_by("created_at"))


def at_sale(page: Page) -> None:
    page.wait_for_url(f"**{TILL}/*-*")
    expect(page.get_by_role("img", name="QR code of the checkout")).to_be_visible()


# --- all of it in view ---


@pytest.mark.parametrize("size", [(390, 660), (360, 640), (768, 1024)], ids=str)
def test_amount_keypad_and_charge_are_in_view_at_once(
    world: Cast, till: OpenTill, size: tuple[int, int]
) -> None:
    coffee(world.bakery.owner_access())
    page = till(vat_bps=(1900, 700), names=("Bar", "Terrace"), tip_bps=(1000,))
    put_on(page, width=size[0], height=size[1])
    key_in(page, "1", "2", ".", "5", "0")
    end = 0.0
    first_keys = [f"[data-key='{key}']" for key in "1470"]  # of each row
    for part in ("#amount", ".till-options", *first_keys, "[data-charge]"):
        box = page.locator(part).bounding_box()
        assert box is not None and end <= box["y"], f"{part} is covered"
        assert box["y"] + box["height"] <= size[1] and box["x"] + box["width"] <= size[0], part
        end = box["y"] + box["height"]
    assert (
        page.evaluate("(m => m.scrollHeight - m.clientHeight)(document.querySelector('main'))") <= 0
    )
    assert page.evaluate("document.documentElement.scrollHeight") <= size[1]
    expect(page.get_by_role("button", name="Charge €12.50")).to_be_visible()
    expect(page.get_by_text("Test · no real money")).to_be_visible()
    shoot(page, f"till-{size[0]}")


@pytest.mark.parametrize("look", ["phone", "dark"])
def test_every_page_of_the_till_can_be_used(world: Cast, open_page: OpenPage, look: str) -> None:
    access = world.bakery.owner_access()
    set_up(access, vat_bps=(1900, 700), names=("Bar", "T" * 40), tip_bps=(500, 1000))
    items = [coffee(access, f"{number} {UGLY}", cents=10**9) for number in range(12)]
    tip = sold(access, line(10**9, 1900, text=UGLY), offered_bps=[1000], note=UGLY)
    code = sold(access, line(99_999_999_99, 700), till_name="T" * 40)
    paid = sold(access, line(1250, 1900), line(700, 700, 2))
    simulated(world.bakery.test, str(paid.payment_id), "overpaid")
    page = open_page(TILL, person=world.alice, width=390, height=660, dark=look == "dark")
    paths = ("", "/sales", "/items", f"/items/{items[0].pk}", "/settings")
    base = page.url
    for path in (*paths, *(f"/{sale.pk}" for sale in (tip, code, paid))):
        page.goto(f"{base}{path}")
        fine(page)
        shoot(page, f"till{path.replace('/', '-')[:20]}-{look}")
    page.goto(base)
    page.locator("main").get_by_text("Items", exact=True).click()
    fine(page)
    shoot(page, f"till-items-open-{look}")


def test_yen_are_keyed_in_without_a_decimal_mark(world: Cast, till: OpenTill) -> None:
    page = till(currency="JPY")
    expect(page.locator("[data-key='.']")).to_have_count(0)
    key_in(page, "1", "5", "00")
    expect(page.get_by_role("button", name="Charge ¥1,500")).to_be_visible()
    press_charge(page)
    at_sale(page)
    [payment] = made(world.bakery)
    assert (payment.settlement_amount_cents, payment.settlement_currency) == (150_000, "JPY")


def test_a_german_keys_in_a_comma(world: Cast, till: OpenTill) -> None:
    User.objects.filter(pk=world.alice.pk).update(region="de")
    page = till()
    key_in(page, "1", "2", ",", "5")
    assert page.get_by_label("Amount").input_value() == "12,5"
    expect(page.get_by_role("button", name="Charge 12,50 €")).to_be_visible()
    press_charge(page)
    at_sale(page)
    assert made(world.bakery)[0].settlement_amount_cents == 1250


def test_items_are_added_with_one_press_and_amounts_by_their_rate(
    world: Cast, till: OpenTill
) -> None:
    coffee(world.bakery.owner_access())
    page = till(vat_bps=(1900, 700))
    page.locator("main").get_by_text("Items", exact=True).click()
    more = page.get_by_role("button", name="Add one Flat white")
    more.click()
    more.click()
    page.get_by_text("Items (2)").click()
    page.get_by_label("VAT rate").select_option("700")
    key_in(page, "5")
    page.get_by_role("button", name="Add", exact=True).click()
    key_in(page, "1")
    page.get_by_label("VAT rate").select_option("1900")
    expect(page.get_by_text("2 items €8.40 + €5.00")).to_be_visible()
    page.get_by_role("button", name="Charge €14.40").click()
    at_sale(page)
    page.get_by_text("Items and VAT").click()
    expect(page.get_by_text("19% VAT in €9.40")).to_be_visible()
    expect(page.get_by_text("7% VAT in €5.00")).to_be_visible()


# --- whatever the connection does ---


def test_a_sale_keyed_in_without_a_connection_is_charged_when_it_is_back(
    world: Cast, till: OpenTill, device: BrowserContext
) -> None:
    page = till()
    device.set_offline(True)
    key_in(page, "1", "2", ".", "5", "0")
    press_charge(page)
    expect(page.get_by_text("No connection. The sale of €12.50 is kept")).to_be_visible()
    expect(page.get_by_role("button", name="Charge €12.50")).to_be_disabled()
    assert page.get_by_label("Amount").input_value() == "12.50" and not made(world.bakery)
    device.set_offline(False)
    at_sale(page)
    assert [payment.settlement_amount_cents for payment in made(world.bakery)] == [1250]


def lose_answers(page: Page, how_many: int = 1) -> None:
    """The server gets the sale, and the device never hears of it."""
    lost = []

    def lose(route: Route) -> None:
        if route.request.method == "POST" and len(lost) < how_many:
            lost.append(route.fetch(max_redirects=0).status)
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route(f"**{TILL}", lose)


def test_a_sale_whose_answer_was_lost_is_charged_once(world: Cast, till: OpenTill) -> None:
    page = till()
    lose_answers(page, 2)
    key_in(page, "7")
    press_charge(page)
    expect(page.get_by_text("isn’t shown as charged")).to_be_visible()
    at_sale(page)
    assert len(made(world.bakery)) == Sale.objects.filter(store=world.bakery.store).count() == 1


@pytest.mark.parametrize("how", ["reload", "crash"])
def test_a_sale_survives_its_page(
    world: Cast, till: OpenTill, device: BrowserContext, how: str
) -> None:
    page = till()
    lose_answers(page, 99)
    key_in(page, "7")
    press_charge(page)
    expect(page.get_by_text("isn’t shown as charged")).to_be_visible()
    page.unroute_all()
    device.set_offline(True)
    if how == "reload":
        page.reload()
    else:
        page.close()
        page = device.new_page()
        page.goto(TILL)
    expect(page.get_by_text("No connection. The sale of €7.00 is kept")).to_be_visible()
    assert page.get_by_label("Amount").input_value() == "7"
    device.set_offline(False)
    at_sale(page)
    assert len(made(world.bakery)) == 1


def test_a_double_tap_charges_once(world: Cast, till: OpenTill) -> None:
    page = till()
    key_in(page, "7")
    page.locator("[data-charge]").dblclick()
    at_sale(page)
    assert len(made(world.bakery)) == 1


def test_two_pages_of_one_device_charge_sales_of_their_own(world: Cast, till: OpenTill) -> None:
    page = till()
    other = page.context.new_page()
    other.goto(TILL)
    for each in (page, other):
        key_in(each, "5")
        press_charge(each)
        at_sale(each)
    assert len(made(world.bakery)) == 2


def test_an_amount_that_the_server_reads_is_no_part_of_a_sum(world: Cast, till: OpenTill) -> None:
    page = till()
    key_in(page, "5")
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator("#amount").fill("1,234.50")
    expect(page.locator("[data-charge]")).to_have_text("Charge")
    press_charge(page)
    at_sale(page)
    assert [payment.settlement_amount_cents for payment in made(world.bakery)] == [123950]


def test_the_back_button_charges_nothing_again(world: Cast, till: OpenTill) -> None:
    page = till()
    key_in(page, "7")
    press_charge(page)
    at_sale(page)
    sale = page.url
    page.go_back()
    expect(page.get_by_text("Last sale: €7.00")).to_be_visible()
    assert page.get_by_label("Amount").input_value() == ""
    press_charge(page)
    expect(page.get_by_role("alert")).to_contain_text("The amount is required.")
    page.get_by_role("link", name="€7.00").click()
    at_sale(page)
    assert page.url == sale and len(made(world.bakery)) == 1


def test_a_sale_that_was_given_up_without_a_connection_is_canceled_later(
    world: Cast, till: OpenTill, device: BrowserContext
) -> None:
    page = till()
    lose_answers(page, 1)
    device.set_offline(False)
    key_in(page, "7")
    press_charge(page)
    expect(page.get_by_text("isn’t shown as charged")).to_be_visible()
    device.set_offline(True)
    page.get_by_role("button", name="Don’t charge this sale").click()
    expect(page.get_by_text("The sale of €7.00 was given up")).to_be_visible()
    assert page.get_by_label("Amount").input_value() == ""
    device.set_offline(False)
    expect(page.get_by_text("The sale of €7.00 was given up")).to_be_hidden()
    [payment] = made(world.bakery)
    assert payment.status == "expired", "nobody can pay it any more"
    assert Sale.objects.get(payment=payment).canceled_at is not None


def test_a_sale_that_is_open_says_when_its_state_is_old(
    world: Cast, till: OpenTill, device: BrowserContext
) -> None:
    page = till()
    key_in(page, "7")
    press_charge(page)
    at_sale(page)
    device.set_offline(True)
    expect(page.get_by_text("No connection. This is the state of")).to_be_visible()
    page.reload()
    expect(page.get_by_text("What became of this sale is shown as soon as")).to_be_visible()
    expect(page.get_by_text("Paid", exact=True)).to_have_count(0)
    simulated(world.bakery.test, str(made(world.bakery)[0].pk))
    device.set_offline(False)
    expect(page.get_by_role("heading", name="Paid")).to_be_visible()


def test_a_sale_waits_for_who_was_signed_out_meanwhile(
    world: Cast, till: OpenTill, device: BrowserContext, server: str
) -> None:
    page = till()
    key_in(page, "7")
    device.clear_cookies()
    press_charge(page)
    expect(page.get_by_text("Sign in to go on. This sale is kept")).to_be_visible()
    assert not made(world.bakery)
    device.add_cookies(cookies_of(world.alice, server))
    page.goto(TILL)
    at_sale(page)
    assert len(made(world.bakery)) == 1


def test_a_refused_sale_says_why_and_can_be_mended(world: Cast, till: OpenTill) -> None:
    item = coffee(world.bakery.owner_access())
    page = till()
    page.locator("main").get_by_text("Items", exact=True).click()
    page.get_by_role("button", name="Add one Flat white").click()
    page.get_by_text("Items (1)").click()
    type(item).objects.filter(pk=item.pk).update(price_cents=450)
    press_charge(page)
    expect(page.get_by_role("alert")).to_contain_text("Prices have changed")
    assert not made(world.bakery)
    page.get_by_role("button", name="Charge €4.50").click()
    at_sale(page)


# --- the sale ---


def test_a_sale_is_followed_until_it_is_paid_and_the_next_takes_one_press(
    world: Cast, till: OpenTill
) -> None:
    page = till()
    key_in(page, "1", "2")
    page.get_by_text("Note", exact=True).click()
    page.get_by_label("Note").fill("Table 4")
    press_charge(page)
    at_sale(page)
    code = page.get_by_role("img", name="QR code of the checkout").bounding_box()
    assert code is not None and code["width"] >= 280 and code["y"] + code["height"] <= 660
    [payment] = made(world.bakery)
    simulated(world.bakery.test, str(payment.pk), "underpaid")
    expect(page.get_by_text("The code now asks for the remaining")).to_be_visible()
    simulated(world.bakery.test, str(payment.pk), "exact")
    expect(page.get_by_role("heading", name="Paid")).to_be_visible()
    expect(page.get_by_role("img", name="QR code of the receipt")).to_be_visible()
    page.get_by_role("link", name="New sale").last.click()
    expect(page.get_by_label("Amount")).to_be_empty()
    expect(page.get_by_text("Last sale:")).to_be_hidden()


def test_an_expired_sale_is_charged_again_at_the_current_price(world: Cast, till: OpenTill) -> None:
    page = till()
    key_in(page, "7")
    press_charge(page)
    at_sale(page)
    advance(world.bakery.test, 1000)
    expect(page.get_by_role("heading", name="Time is up")).to_be_visible()
    page.get_by_role("button", name="Charge again at the current price").click()
    at_sale(page)
    assert [payment.settlement_amount_cents for payment in made(world.bakery)] == [700, 700]


def test_the_customer_adds_a_tip_on_their_own_phone(
    world: Cast, till: OpenTill, open_page: OpenPage
) -> None:
    page = till(tip_bps=(500, 1000))
    key_in(page, "2", "0")
    press_charge(page)
    expect(page.get_by_text("Not charged yet")).to_be_visible()
    expect(page.get_by_role("img", name="QR code of the customer’s page")).to_be_visible()
    assert not made(world.bakery)
    sale = Sale.objects.get(store=world.bakery.store)
    guest = open_page(f"/pay/{sale.token}/sale", width=390, height=660)
    expect(guest.get_by_role("radio", name="No tip")).to_be_checked()
    fine(guest)
    guest.get_by_role("radio", name="Other amount").check(force=True)
    guest.get_by_label("Tip", exact=True).fill("1,50")
    guest.get_by_role("button", name="Continue to payment").click()
    expect(guest.get_by_role("heading", name="Pay with crypto")).to_be_visible()
    at_sale(page)
    expect(page.get_by_role("heading", name="€21.50")).to_be_visible()
    assert [payment.settlement_amount_cents for payment in made(world.bakery)] == [2150]


@pytest.mark.parametrize("look", ["phone", "dark-ar", "script-less"])
def test_a_second_screen_shows_the_customer_tip_code_and_receipt(
    world: Cast, open_page: OpenPage, look: str
) -> None:
    access = world.bakery.owner_access()
    sale = sold(access, line(1250, 1900), line(800, 700, text=UGLY), offered_bps=[1000])
    language = "ar" if look == "dark-ar" else "en"
    path = f"/pay/{sale.token}/display?lang={language}&till={sale.pk}"
    has_script = look != "script-less"
    page = open_page(path, width=390, height=660, dark=look == "dark-ar", script=has_script)
    if has_script:
        fine(page)
    shoot(page, f"display-tip-{look}")
    page.locator("label", has_text="2.05").locator("input").check(force=True)
    page.locator("main form button").click()
    expect(page.locator(".scan .qr")).to_be_visible()
    assert overflow(page) == 0
    shoot(page, f"display-code-{look}")
    [payment] = made(world.bakery)
    assert payment.settlement_amount_cents == 2255
    simulated(world.bakery.test, str(payment.pk))
    if not has_script:
        page.reload()
    expect(page.locator(".mark.good")).to_be_visible()
    if has_script:
        fine(page)
    shoot(page, f"display-paid-{look}")


def test_a_cashier_signs_in_to_the_till_and_finds_no_refund(
    world: Cast, till: OpenTill, device: BrowserContext
) -> None:
    cashier = person("cashier")
    join(world.bakery.store, cashier, Role.CASHIER)
    page = till(cashier)
    page.goto("/dashboard/")
    expect(page.locator("[data-charge]")).to_be_visible()
    key_in(page, "7")
    press_charge(page)
    at_sale(page)
    simulated(world.bakery.test, str(made(world.bakery)[0].pk))
    page.goto(f"{TILL}/sales")
    expect(page.get_by_text("€7.00").first).to_be_visible()
    expect(page.get_by_role("link", name="Refund")).to_have_count(0)
    page.locator(".till-menu > summary").click()
    expect(page.get_by_role("link", name="Dashboard")).to_have_count(0)
    assert page.goto("/dashboard/payments").status == 403  # type: ignore[union-attr]


def test_without_a_script_the_form_charges_and_the_page_looks_again(
    world: Cast, open_page: OpenPage
) -> None:
    set_up(world.bakery.owner_access())
    page = open_page(TILL, person=world.alice, script=False, width=390, height=660)
    page.get_by_label("Amount").fill("12,50")
    shoot(page, "till-script-less")
    page.get_by_role("button", name="Charge").click()
    expect(page.get_by_role("img", name="QR code of the checkout")).to_be_visible()
    assert 'http-equiv="refresh"' in page.content()
    assert [payment.settlement_amount_cents for payment in made(world.bakery)] == [1250]


def test_the_till_is_operated_with_a_keyboard_alone(world: Cast, till: OpenTill) -> None:
    page = till()
    page.get_by_label("Amount").focus()
    page.keyboard.type("7.50")
    page.keyboard.press("Enter")
    at_sale(page)
    assert made(world.bakery)[0].settlement_amount_cents == 750


def test_the_till_is_installed_as_an_app(world: Cast, till: OpenTill, server: str) -> None:
    page = till()
    address = page.locator("link[rel=manifest]").get_attribute("href")
    manifest = page.request.get(str(address)).json()
    assert manifest["start_url"] == TILL and manifest["display"] == "standalone"
    big = [icon for icon in manifest["icons"] if icon["sizes"] == "512x512"]
    base = str(address).rpartition("/")[0]
    assert page.request.get(f"{base}/{big[0]['src']}").headers["content-type"] == "image/png"
    assert page.evaluate("navigator.serviceWorker.getRegistration().then(r => r.scope)") == (
        f"{server}{TILL}"
    )
