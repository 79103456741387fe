"""Stories of an order, in the same words for every shop."""

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import requests
from playwright.sync_api import Browser

from tests.shops.parts import Order, Service, Shop
from tests.stack import WAIT_SECONDS, wait_for

Story = Callable[[Shop, Service, Browser], None]
STORIES: dict[str, Story] = {}
LATER_SECONDS = 5


def story(tell: Story) -> Story:
    STORIES[tell.__name__] = tell
    return tell


def becomes(shop: Shop, order: Order, state: str) -> None:
    wait_for(lambda: shop.state(order), lambda found: found == state)


def stays(shop: Shop, order: Order, state: str) -> None:
    """Deliveries come within a second or two; once a later one has come, so have these."""
    time.sleep(LATER_SECONDS)
    assert shop.state(order) == state


@story
def paid_in_the_browser(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    assert shop.state(order) in ("unpaid", "waiting")
    order.page.get_by_role("button", name="Exact amount").click()
    becomes(shop, order, "paid")
    order.page.get_by_text("Thank you").first.wait_for()
    back = order.page.goto(order.payment["success_url"])
    assert back is not None and back.ok
    assert order.page.url.startswith(shop.url)
    order.page.close()


@story
def underpaid_then_completed(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    order.page.get_by_role("button", name="Half the amount").click()
    service.api.until(order.id, "processing")
    stays(shop, order, shop.waiting)
    service.pay(order.id, reference="rest")
    becomes(shop, order, "paid")
    order.page.close()


@story
def expired(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    service.expire(order.id)
    becomes(shop, order, shop.unpaid)
    order.page.close()


@story
def new_quote(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    service.expire(order.id)
    becomes(shop, order, shop.unpaid)
    order.page.goto(order.payment["hosted_url"])
    order.page.get_by_role("button", name="Get a new quote").click()
    order.page.get_by_role("button", name="Exact amount").click()
    becomes(shop, order, "paid")
    order.page.close()


@story
def paid_late(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    service.expire(order.id)
    service.pay(order.id, late=True)
    stays(shop, order, shop.unpaid)
    (late,) = service.payment(order.id)["late_deposits"]
    service.api("POST", f"/payments/{order.id}/accept_transaction", {"tx_hash": late["tx_hash"]})
    becomes(shop, order, "paid")
    order.page.close()


@story
def refunded_in_the_shop(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    service.pay(order.id)
    becomes(shop, order, "paid")
    amount = order.payment["settlement_amount"]
    shop.refund(order, amount)
    service.api.until(order.id, "refunded")
    assert service.payment(order.id)["refund_state"] == "full"
    becomes(shop, order, "refunded")
    assert shop.refunded(order) == amount
    order.page.close()


@story
def refunded_in_part_in_the_shop(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    service.pay(order.id)
    becomes(shop, order, "paid")
    shop.refund(order, "5.00")
    service.api.until(order.id, "refunded")
    assert service.payment(order.id)["refund_state"] == "partial"
    wait_for(lambda: shop.refunded(order), lambda found: found == "5.00")
    order.page.close()


@story
def refund_that_fails_later(shop: Shop, service: Service, browser: Browser) -> None:
    """The shop had booked it; nothing is refunded, and the payment is as it was before."""
    order = shop.order(browser)
    service.pay(order.id)
    becomes(shop, order, "paid")
    failing = service.failing_refund(order.id)
    shop.refund(order, order.payment["settlement_amount"])
    assert failing.process.wait(WAIT_SECONDS) == 0
    (sent,) = service.api("GET", f"/payments/{order.id}/refunds")
    assert sent["status"] == "failed"
    becomes(shop, order, getattr(shop, "kept", "paid"))
    assert Decimal(shop.refunded(order)) == 0
    order.page.close()


@story
def refunded_in_tillgate(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    service.pay(order.id)
    becomes(shop, order, "paid")
    service.api("POST", f"/payments/{order.id}/refunds", key=f"shops {order.id}")
    service.api.until(order.id, "refunded")
    amount = order.payment["settlement_amount"]
    wait_for(lambda: shop.refunded(order), lambda found: found == amount)
    order.page.close()


@story
def canceled_in_the_shop(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    shop.cancel(order)
    service.api.until(order.id, "expired")
    assert shop.state(order) == "canceled"
    order.page.close()


@story
def money_has_come_when_it_is_canceled(shop: Shop, service: Service, browser: Browser) -> None:
    """The order is canceled, and its payment stays, so that nothing is lost."""
    order = shop.order(browser)
    service.pay(order.id, "underpaid")
    becomes(shop, order, shop.waiting)
    shop.cancel(order)
    assert service.payment(order.id)["status"] == "processing"
    order.page.close()


@story
def webhook_lost_and_caught_up(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    endpoint = service.endpoint(shop.webhook)
    service.api("PATCH", f"/webhook_endpoints/{endpoint}/disable")
    service.pay(order.id)
    service.api.until(order.id, "completed")
    time.sleep(LATER_SECONDS)
    assert shop.state(order) in ("unpaid", "waiting")
    shop.catch_up()
    becomes(shop, order, "paid")
    service.api("PATCH", f"/webhook_endpoints/{endpoint}/enable")
    order.page.close()


@story
def restarted_halfway(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    shop.kill()
    service.pay(order.id)
    service.api.until(order.id, "completed")
    shop.start()
    shop.catch_up()
    becomes(shop, order, "paid")
    order.page.close()


@story
def amount_of_a_hostile_client(shop: Shop, service: Service, browser: Browser) -> None:
    """A payment that names the order, with another amount, pays nothing of it."""
    order = shop.order(browser)
    named = {name: order.payment[name] for name in ("order_id", "metadata")}
    cheap = service.api.payment(**{**named, "amount": "0.50"})
    service.pay(cheap["id"])
    service.api.until(cheap["id"], "completed")
    time.sleep(LATER_SECONDS)
    assert shop.state(order) in ("unpaid", "waiting")
    service.pay(order.id)
    becomes(shop, order, "paid")
    order.page.close()


@story
def payment_added_by_the_customer(shop: Shop, service: Service, browser: Browser) -> None:
    """A customer's program says that the order was paid, with a payment that isn't, or is cheap."""
    order = shop.order(browser)
    named = {name: order.payment[name] for name in ("order_id", "metadata")}
    cheap = service.api.payment(**{**named, "amount": "0.50"})
    service.pay(cheap["id"])
    for payment in (order.id, cheap["id"]):
        shop.claim(order, payment)
        assert shop.state(order) in ("unpaid", "waiting")
    service.pay(order.id)
    becomes(shop, order, "paid")
    order.page.close()


@story
def forged_webhook(shop: Shop, service: Service, browser: Browser) -> None:
    order = shop.order(browser)
    told = {
        "id": "e-forged",
        "type": "payment_intent.completed",
        "created": int(time.time()),
        "livemode": False,
        "api_version": "2026-11-01",
        "data": {
            "object": {
                "id": order.payment["reference"],
                "payment_intent_id": order.id,
                "status": "completed",
                "settlement_amount": order.payment["settlement_amount"],
                "order_id": order.payment["order_id"],
                "metadata": order.payment["metadata"],
            }
        },
    }
    body = json.dumps(told).encode()
    now = int(time.time())
    for header in (None, "", "v1", f"t={now},v1=00", _signed(body, now, "whsec_" + "00" * 32)):
        assert _deliver(shop.webhook, body, header) == 400, header
    assert _deliver(shop.webhook, b"", _signed(b"", now, "")) == 400
    time.sleep(1)
    assert shop.state(order) in ("unpaid", "waiting")
    order.page.close()


@story
def test_key_in_a_live_shop(shop: Shop, service: Service, browser: Browser) -> None:
    """Nobody buys with play money."""
    assert not shop.offers_outside_test_mode(browser)


def _signed(body: bytes, moment: int, secret: str) -> str:
    told = f"{moment}.".encode() + body
    return f"t={moment},v1={hmac.new(secret.encode(), told, hashlib.sha256).hexdigest()}"


def _deliver(url: str, body: bytes, header: str | None) -> int:
    headers: dict[str, Any] = {"Content-Type": "application/json"}
    if header is not None:
        headers["Service-Signature"] = header
    return requests.post(url, data=body, headers=headers, timeout=60).status_code
