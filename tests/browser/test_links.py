"""A merchant without an integration, in a real browser: a link that two customers pay at."""

import pytest
from playwright.sync_api import Page, expect

from apps.links.models import PaymentLink
from apps.payments.models import Payment
from tests.browser.conftest import OpenPage, shoot, turn_to
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Cast
from tests.links.makers import bought, donation, made_link, send
from tests.make import simulated

PHONE = {"width": 390, "height": 800}
UGLY = 'مقهى <b>"Ünïcödé"</b> 🎉 ' + "W" * 100


def signed_in(world: Cast, open_page: OpenPage, path: str) -> Page:
    page = open_page(f"/dashboard/{path}", person=world.alice)
    page.wait_for_url(f"**/{path}")
    return page


def test_a_merchant_makes_a_link_and_two_customers_pay_until_it_is_sold_out(
    world: Cast, open_page: OpenPage
) -> None:
    page = signed_in(world, open_page, "payment-links")
    fine_again(page)  # an empty list is judged in test_dashboard.py
    shoot(page, "links-empty")
    page.get_by_role("main").get_by_role("link", name="Create payment link").first.click()
    page.get_by_label("Title").fill("Stoneware mug")
    page.get_by_label("Description").fill("Thrown by hand, 300 ml")
    page.get_by_label("Amount", exact=True).fill("24.90")
    page.get_by_label("Quantity").fill("2")
    page.get_by_label("Customer’s email").select_option("required")
    expect(page.get_by_label("Suggested amounts")).to_be_hidden()
    fine(page)
    shoot(page, "links-create")
    page.get_by_role("button", name="Create payment link").click()
    expect(page.get_by_text("Payment link created.")).to_be_visible()
    fine_again(page)
    shoot(page, "links-created")
    address = page.get_by_label("Payment link URL").inner_text()

    link = PaymentLink.objects.get(token=address.rsplit("/", 1)[1])
    customer = open_page(f"/pay/{link.token}", **PHONE)
    fine_again(customer)
    shoot(customer, "link-fixed-phone")
    customer.get_by_label("Email").fill("guest1@example.com")
    customer.get_by_role("button", name="Pay €24.90").click()
    expect(customer.get_by_role("heading", name="Pay with crypto")).to_be_visible()
    sold = Payment.objects.get(reference=customer.url.partition("/pay/")[2])
    simulated(world.bakery.test, str(sold.pk))
    bought(world.bakery, link, email="guest2@example.com")

    customer.goto(customer.url.partition("/pay/")[0] + f"/pay/{link.token}")
    expect(customer.get_by_role("heading", name="Sold out")).to_be_visible()
    fine(customer)
    shoot(customer, "link-sold-out-phone")

    page.reload()
    expect(page.get_by_text("Sold out")).to_be_visible()
    expect(page.get_by_role("link", name="guest1@example.com")).to_be_visible()
    fine_again(page)
    shoot(page, "links-sold-out")
    page.get_by_role("link", name="Get pay button").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_text("HTML copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith('<a href="http') and copied.endswith("</svg></a>")
    fine_again(page)
    shoot(page, "links-button")


@pytest.mark.whole  # in the suite without a browser in links/test_buying.py
def test_a_customer_without_scripts_chooses_an_amount(world: Cast, open_page: OpenPage) -> None:
    page = open_page(f"/pay/{donation(world.bakery).token}", script=False, **PHONE)
    shoot(page, "link-open-phone")
    page.get_by_role("radio", name="Other amount").check()
    page.get_by_role("textbox", name="Other amount").fill("1")
    page.get_by_role("button", name="Continue to payment").click()
    expect(page.get_by_text("The amount must be at least 2.00.")).to_be_visible()
    shoot(page, "link-refused-phone")
    page.get_by_role("textbox", name="Other amount").fill("7.50")
    page.get_by_role("button", name="Continue to payment").click()
    expect(page.get_by_text("€7.50").first).to_be_visible()


@pytest.mark.parametrize("look", ["wide", "phone", "dark", "huge"])
def test_pages_of_links_can_be_used_everywhere(world: Cast, open_page: OpenPage, look: str) -> None:
    shop = world.bakery
    ugly = made_link(
        shop,
        title=UGLY,
        description="x" * 300,
        stock=5,
        success_url="https://shop.example/" + "y" * 200,
    )
    bought(shop, ugly, "unconfirmed")
    opened = donation(shop, email="optional", name="required")
    bought(shop, opened, choice="500", name="ليلى " + "N" * 120, email="a" * 60 + "@example.com")
    page = signed_in(world, open_page, "payment-links")
    size = {"phone": PHONE, "huge": {"width": 1920, "height": 1080}}.get(
        look, {"width": 1280, "height": 900}
    )
    page.set_viewport_size(size)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="dark" if look == "dark" else "light")
    paths = {
        "links": "payment-links",
        "links-ugly": f"payment-links/{ugly.pk}",
        "links-open": f"payment-links/{opened.pk}",
        "links-edit": f"payment-links/{opened.pk}/edit",
        "links-button-open": f"payment-links/{opened.pk}/button?language=ar&size=large&color=white",
        "links-archive": f"payment-links/{ugly.pk}/archive",
    }
    for name, path in paths.items():
        turn_to(page, f"/dashboard/{path}")
        judge = fine_again if name == "links-ugly" else fine  # the next is like it
        judge(page)
        shoot(page, f"{name}-{look}")
    page.goto(page.url.partition("/dashboard")[0] + f"/pay/{opened.token}")
    for name, link in {"link-open": opened, "link-ugly": ugly}.items():
        turn_to(page, f"/pay/{link.token}")
        fine(page)
        shoot(page, f"{name}-{look}")


@pytest.mark.whole  # in the suite without a browser in links/test_buying.py
def test_a_link_whose_last_piece_is_being_paid_for_says_so(
    world: Cast, open_page: OpenPage
) -> None:
    link = made_link(world.bakery, stock=1)
    page = open_page(f"/pay/{link.token}", **PHONE)
    send(link)
    page.get_by_role("button", name="Pay €12.00").click()
    expect(page.get_by_text("try again in half an hour")).to_be_visible()
    fine(page)
