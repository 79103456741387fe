"""A developer's first morning: joins, makes a test key, runs the call that the page shows, and gets
its event at a receiver."""

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from playwright.sync_api import expect

from apps.access import request_log
from apps.payments.models import Payment
from apps.webhooks.catalogue import TEST_ONLY
from apps.webhooks.delivery import dispatcher
from apps.webhooks.delivery.sender import WebhookSender
from apps.webhooks.models import Endpoint
from tests.browser.conftest import OpenPage
from tests.browser.stories import Teller, begin
from tests.cast import Cast
from tests.webhooks.receivers import Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    one = Receiver()
    yield one
    one.close()


def run(command: str) -> dict[str, Any]:
    """The request that this line of curl makes."""
    words = shlex.split(command.replace("\\\n", " "))
    options = dict(zip(words[2::2], words[3::2], strict=True))
    name, _, value = options["-H"].partition(": ")
    user, _, password = options["-u"].partition(":")
    answer = requests.post(
        words[1], data=options["-d"], headers={name: value}, auth=(user, password), timeout=20
    )
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def deliver() -> None:
    with WebhookSender() as sender:
        dispatcher.drain(sender)


def test_a_developer_calls_the_api_and_hears_of_it(
    world: Cast, open_page: OpenPage, server: str, receiver: Receiver, settings: Any
) -> None:
    settings.PUBLIC_URL = server
    settings.WEBHOOK_ALLOW_HOSTS = ["127.0.0.1"]
    bob = begin(open_page, "developer", world.bob, "webhooks/new", dark=True)
    listen(bob, receiver)
    made = call_the_api(bob)
    deliver()
    bob.go(f"webhooks/{Endpoint.objects.get(url=receiver.url).pk}")
    hear_of_it(bob, receiver, made)
    find_the_call(bob, made)


def listen(bob: Teller, receiver: Receiver) -> None:
    bob.page.get_by_label("URL").fill(receiver.url)
    everything = bob.page.get_by_label("Select all")
    events = bob.page.locator("input[name=subscribed_events]")
    some = events.evaluate_all("boxes => boxes.map(box => box.checked)")
    everything.check()
    left = bob.page.locator("input[name=subscribed_events]:not(:checked)")
    assert left.evaluate_all("boxes => boxes.map(box => box.value)") == list(TEST_ONLY)
    everything.uncheck()
    events.evaluate_all("(boxes, some) => boxes.forEach((box, i) => box.checked = some[i])", some)
    bob.see_again("Add test endpoint", "endpoint-new")
    bob.press("Add endpoint")
    bob.see("Endpoint created", "endpoint-secret")
    assert (bob.page.locator("#secret").text_content() or "").startswith("whsec_")


def call_the_api(bob: Teller) -> dict[str, Any]:
    """The key is made, and the line beneath it works word for word."""
    bob.go("api-keys/new")
    bob.page.get_by_label("Name").fill("Laptop")
    expect(bob.page.get_by_role("radio", name="Full access")).to_be_checked()
    expect(bob.page.get_by_role("checkbox", name="payments:write")).to_be_hidden()
    bob.see_again("Create test key", "key-new")
    bob.press("Create key")
    bob.see("Verify it’s you", "key-confirm")
    bob.give_code()
    bob.press("Confirm")
    bob.see("Your new test key", "key")
    command = bob.page.locator("#curl").text_content() or ""
    assert (bob.page.locator("#secret").text_content() or "missing") in command
    return run(command)


def hear_of_it(bob: Teller, receiver: Receiver, made: dict[str, Any]) -> None:
    page = bob.page
    heard = next(
        request
        for request in receiver.requests
        if json.loads(request["raw"])["type"] == "payment_intent.created"
    )
    assert json.loads(heard["raw"])["data"]["object"]["id"] == made["reference"]
    bob.reads("payment_intent.created")
    bob.reads(re.compile("HTTP 200"))
    bob.see(receiver.url, "endpoint")

    first = len(receiver.requests)
    use_tool(bob, "Send a test event")
    bob.press("Send test")
    deliver()
    page.reload()
    expect(
        page.locator("tr").filter(has=page.get_by_text("Test", exact=True)).first
    ).to_contain_text("HTTP 200")
    assert len(receiver.requests) == first + 1
    use_tool(bob, "Resend events")
    bob.press("Resend events")  # the events of the last hour
    deliver()
    repeated = [
        request
        for request in receiver.requests
        if request["headers"]["webhook-id"] == heard["headers"]["webhook-id"]
    ]
    assert len(repeated) == 2


def use_tool(bob: Teller, name: str) -> None:
    bob.page.locator(".end-menu > summary").click()
    bob.page.locator(".end-menu").get_by_role("link", name=name).click()


def find_the_call(bob: Teller, made: dict[str, Any]) -> None:
    request_log.flush()
    bob.go("requests")
    bob.see_again("Request log", "calls")
    bob.page.get_by_role("link", name="POST /payments").first.click()
    expect(bob.page.get_by_role("definition").first).to_contain_text("201")
    bob.reads("Laptop")
    assert Payment.objects.get(pk=made["id"]).mode == "test"
