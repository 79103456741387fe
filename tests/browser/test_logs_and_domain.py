"""The request log, the audit log and the checkout's domain in a real browser: wide, on a phone and
in the dark."""

import pytest
from playwright.sync_api import expect

from apps.access import request_log
from apps.stores.domains import set_domain
from apps.stores.emailing import customer_mail
from apps.stores.models.mail import TestLetter
from tests.browser.conftest import OpenPage, shoot, turn_to
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Api, Cast
from tests.make import advance, payment


@pytest.mark.parametrize("look", ["wide", "phone", "dark"])
def test_a_merchant_looks_calls_and_changes_up(world: Cast, open_page: OpenPage, look: str) -> None:
    api = world.bakery.test
    payment(api)
    api.post("/payments", {"payment_intent": {"amount": "0", "currency": "EUR"}})
    for amount in ("10.00", "11.00"):
        api.post(
            "/payments",
            {"payment_intent": {"amount": amount, "currency": "EUR"}},
            key="order-1234567890-with-a-long-key",
        )
    request_log.flush()
    set_domain(world.bakery.store, "pay.bakery.example")
    page = open_page("/dashboard/requests", dark=look == "dark", person=world.alice)
    page.wait_for_url("**/requests")
    if look == "phone":
        page.set_viewport_size({"width": 390, "height": 844})
    fine(page)
    shoot(page, f"dashboard-requests-{look}")
    expect(page.get_by_text("Different body")).to_be_visible()
    page.get_by_label("Status").select_option("4")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("amount must be greater than zero")).to_be_visible()
    page.get_by_role("link", name="POST /payments").first.click()
    expect(page.get_by_text("amount must be greater than zero", exact=True)).to_be_visible()
    fine(page)
    shoot(page, f"dashboard-request-{look}")
    made = payment(Api(world.bakery.secrets["test_publishable"]), title="Mug")
    for path, name in (
        (f"payments/{made['id']}", "payment-created-with"),
        ("settings", "checkout-settings"),
        (f"test-emails/{_shown_email(world)}", "test-email"),
        ("test-emails", "test-emails"),
        ("audit-log", "audit"),
        ("settings/domain", "domain"),
        ("settings/domain/change", "domain-change"),
    ):
        turn_to(page, f"/dashboard/{path}")
        fine(page)
        shoot(page, f"dashboard-{name}-{look}")


def _shown_email(world: Cast) -> str:
    access = world.bakery.access()
    for number in range(2):
        customer_mail.send(
            access.store,
            access.mode,
            key=f"shown:{access.store.pk}:{number}",
            to="ann.with.quite.a.long.address@customers.example.com",
            template="portal_link",
            context={
                "name": "Ann",
                "email": "ann@example.com",
                "portal_url": "https://pay.example.com/portal/abcdefghijklmnopqrstuvwxyz0123456789",
                "is_test": True,
            },
        )
    return str(TestLetter.objects.filter(store=access.store).latest("created_at").pk)


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_times_of_a_clock_that_was_moved_and_of_the_real_one_say_which_they_are(
    world: Cast, open_page: OpenPage, width: int, dark: bool
) -> None:
    """Beside each other they are a day apart."""
    api = world.bakery.test
    hook = {"url": "https://1.1.1.1/hook", "subscribed_events": ["payment_intent.created"]}
    endpoint = api.post("/webhook_endpoints", {"webhook_endpoint": hook}).json()
    advance(api, 25 * 3600)
    made = payment(api, amount="12.34")
    request_log.flush()
    page = open_page("/dashboard/requests", width=width, dark=dark, person=world.alice)
    of_request = page.get_by_role("row").filter(has_text="POST /payments").first
    expect(of_request).to_contain_text("Real time")
    fine(page)
    turn_to(page, "/dashboard/events")
    of_event = page.get_by_role("row").filter(has_text="payment_intent.created").first
    expect(of_event).to_contain_text("Test clock")
    expect(of_event).to_contain_text("Real time")
    expect(of_event).to_contain_text("€12.34")
    expect(of_event.get_by_role("link", name=made["reference"])).to_be_visible()
    fine(page)
    turn_to(page, f"/dashboard/webhooks/{endpoint['id']}")
    of_delivery = page.get_by_role("row").filter(has_text="payment_intent.created").first
    expect(of_delivery).to_contain_text("Test clock")
    expect(page.locator("#test-clock")).to_be_visible()
    fine_again(page)
    shoot(page, f"dashboard-two-clocks-{width}")
