"""The list of what needs attention in a real browser: on Home and its own page, wide, on a phone
and in the dark; one button, and it is gone."""

import re

from playwright.sync_api import expect

from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.core import clock
from apps.stores.services import change_store
from apps.webhooks.models import Endpoint
from tests import make
from tests.billing import records as billing
from tests.browser.conftest import OpenPage, shoot
from tests.browser.looks import views
from tests.browser.test_dashboard import fine
from tests.cast import Cast
from tests.dashboard.attention.makers import endpoint_in_error, late

UGLY = "Ωmega مرحبا " + "Donaudampfschifffahrtsgesellschaftskapitän" * 3


def troubled(world: Cast) -> None:
    api = world.bakery.test
    late(world)
    make.simulated(api, make.payment(api, title=UGLY[:150], amount="1234567.89")["id"], "overpaid")
    endpoint = endpoint_in_error(world)
    Endpoint.objects.filter(pk=endpoint.pk).update(
        url=f"https://1.1.1.1/{'hook' * 60}", disabled_at=clock.real_now()
    )
    sent = billing.opened(api)
    made = billing.start_payment(sent["public_token"]).json()["payment"]
    billing.act(api, sent["id"], "mark_uncollectible")
    make.simulated(api, made["payment_intent_id"])
    update_paid_amounts()
    change_store(world.bakery.store, payout_review_threshold_cents=0)
    make.payout(api, 10**15)


def test_all_clear_wide_and_on_a_phone(world: Cast, open_page: OpenPage) -> None:
    for width, _ in views((390, False), (1280, False)):
        page = open_page("/dashboard/attention", width=width, person=world.alice)
        expect(page.get_by_role("heading", name="All clear")).to_be_visible()
        fine(page)
        shoot(page, f"attention-clear-{width}")


def test_a_late_deposit_is_accepted_or_refunded_from_its_row(
    world: Cast, open_page: OpenPage
) -> None:
    late(world)
    page = open_page("/dashboard/attention", width=390, person=world.alice)
    row = page.locator(".notices > li")
    expect(row).to_have_count(1)
    expect(row.get_by_role("button", name=re.compile("^Accept"))).to_be_visible()
    row.get_by_role("link", name=re.compile("^Refund")).click()
    expect(page).to_have_url(re.compile(r"/refund\?"))


def test_what_needs_somebody_is_told_everywhere_and_resolved_with_one_press(
    world: Cast, open_page: OpenPage
) -> None:
    troubled(world)
    for width, dark in views((390, False), (390, True), (1280, False), (1920, True)):
        page = open_page("/dashboard/", width=width, dark=dark, person=world.alice)
        expect(page.get_by_role("heading", name=re.compile("^Needs attention"))).to_be_visible()
        fine(page)
        shoot(page, f"attention-home-{width}-{'dark' if dark else 'light'}")
        page.goto(page.url + "attention")
        expect(page.get_by_text("Webhook endpoint was disabled after failures")).to_be_visible()
        fine(page)
        shoot(page, f"attention-{width}-{'dark' if dark else 'light'}")
    page.get_by_role("button", name=re.compile("^Enable")).click()
    expect(page.get_by_text("Endpoint enabled. It receives new events.")).to_be_visible()
    expect(page.get_by_text("Webhook endpoint was disabled after failures")).to_have_count(0)
    page.get_by_role("link", name=re.compile("^Refund difference")).click()
    expect(page).to_have_url(re.compile("/refund"))
