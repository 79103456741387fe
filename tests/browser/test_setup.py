"""The setup list, the form of a key and a webhook endpoint in a real browser: a phone shows the
next step alone, and no command to paste."""

import re

from playwright.sync_api import expect

from apps.access.services import create_api_key
from apps.stores.models import Store
from apps.webhooks.models import Endpoint
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests.browser.conftest import OpenPage, put_on
from tests.browser.test_dashboard import fine, fine_again
from tests.cast import Cast
from tests.make import paid, payment


def test_a_phone_shows_the_next_step_alone(world: Cast, open_page: OpenPage) -> None:
    page = open_page("/dashboard/", width=390, height=800, person=world.alice)
    question = page.get_by_role("region", name="How will you sell?")
    expect(question).to_be_visible()
    fine(page)
    question.get_by_role("button", name=re.compile("^Website")).click()
    expect(question).to_have_count(0)
    paid(world.bakery.test)
    create_api_key(world.bakery.store, "test", name="Shop")
    Store.objects.filter(pk=world.bakery.store.pk).update(skipped_steps=["endpoint"])
    page.goto(page.url)
    steps = page.locator(".steps > li")
    expect(steps.filter(visible=True)).to_have_count(1)
    expect(page.locator(".curl")).to_be_hidden()
    page.get_by_role("link", name=re.compile("^Show all")).click()
    expect(steps.nth(4)).to_be_visible()
    expect(steps.filter(visible=True)).to_have_count(steps.count())
    expect(page.locator(".curl")).to_be_hidden()
    fine_again(page)
    put_on(page, width=1280, dark=True)
    expect(steps.filter(visible=True)).to_have_count(steps.count())
    page.get_by_role("button", name="Skip: Verify your business").click()
    expect(page.get_by_role("link", name="2 skipped")).to_be_visible()
    fine(page)


def test_a_test_key_is_made_without_choosing_scopes(world: Cast, open_page: OpenPage) -> None:
    page = open_page("/dashboard/api-keys/new", width=390, height=800, person=world.bob)
    boxes = page.get_by_role("checkbox")
    expect(boxes.first).to_be_hidden()
    page.get_by_role("radio", name=re.compile("^Only some scopes")).check()
    expect(page.get_by_role("group", name="Payments").get_by_role("checkbox")).to_have_count(2)
    fine(page)
    page.get_by_role("radio", name=re.compile("^Publishable")).check()
    expect(boxes.first).to_be_hidden()
    page.get_by_role("radio", name=re.compile("^Secret")).check()
    page.get_by_role("radio", name=re.compile("^Full access")).check()
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Create key").click()
    expect(page.get_by_role("heading", name="Your new test key")).to_be_visible()


def test_an_endpoint_is_edited_on_its_page(world: Cast, open_page: OpenPage) -> None:
    asked = EndpointRequest(
        url="https://1.1.1.1/hook", subscribed_events=["payment_intent.created"]
    )
    endpoint = register_endpoint(world.bakery.access(), asked).endpoint
    for _ in range(3):
        payment(world.bakery.test)
    path = f"/dashboard/webhooks/{endpoint.pk}"
    page = open_page(path, width=390, height=800, dark=True, person=world.bob)
    expect(page.get_by_role("link", name="payment_intent.created")).to_have_count(3)
    page.get_by_text("Tools", exact=True).click()
    fine(page)
    page.get_by_role("link", name="Resend events").click()
    expect(page.get_by_role("button", name="Resend events")).to_be_visible()
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("URL").fill("https://1.1.1.1/other")
    fine(page)
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_role("heading", name="https://1.1.1.1/other")).to_be_visible()
    assert Endpoint.objects.get(pk=endpoint.pk).secret_preview == endpoint.secret_preview
