"""Invoices and subscriptions whose payments confirm, or come twice."""

import json
from typing import Any

from tests.situations.register import situation
from tests.situations.world import Shop, Story, World, until

MINUTE_SECONDS = 60


def started(shop: Shop, token: str, title: str) -> Story:
    """The payment that a press on the invoice's page begins."""
    answer = shop.api("POST", f"/billing/invoice/{token}/payment_intent", {})
    return Story.of(shop, answer["payment"]["payment_intent_id"], title)


def now(shop: Shop) -> str:
    return str(shop.api("GET", "/test_clock")["now"])


def forward(shop: Shop, seconds: int) -> None:
    shop.api("POST", "/test_clock/advance", {"seconds": seconds})
    until(
        lambda: shop.api("GET", "/test_clock")["status"],
        lambda status: status == "ready",
        "the test clock has moved",
    )


def until_due(shop: Shop, due_at: str) -> int:
    return round(moment(due_at) - moment(now(shop)))


def moment(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def subscribed(shop: Shop) -> dict[str, Any]:
    api = shop.api
    product = api("POST", "/billing/products", {"product": {"name": "Beans"}})
    price = {"unit_amount_cents": 1000, "currency": "EUR", "interval": "monthly"}
    priced = api("POST", f"/billing/products/{product['id']}/prices", {"price": price})
    person = {"email": "ann@customer.example", "name": "Ann"}
    customer = api("POST", "/billing/customers", {"customer": person})
    wanted = {"customer_id": customer["id"], "price_id": priced["id"], "grace_cycles": 0}
    made = api("POST", "/billing/subscriptions", {"subscription": wanted})
    return dict(made)


@situation("an invoice or subscription is due while its payment confirms")
def confirming_when_due(world: World) -> Story:
    shop = world.test_shop("Due")
    subscription = subscribed(shop)
    path = f"/billing/subscriptions/{subscription['id']}"
    [bill] = shop.api("GET", f"/billing/invoices?subscription_id={subscription['id']}")["data"]
    with world.test_network() as network:
        forward(shop, until_due(shop, bill["due_at"]) - MINUTE_SECONDS)
        story = started(shop, bill["public_token"], "Due")
        story.pay()
        network.call("evm_setIntervalMining", 0)
        try:
            story.until("pending_confirmations", seconds=30)
            forward(shop, 2 * MINUTE_SECONDS)
            state = shop.api("GET", path)["status"]
            seen = story.detail()
            story.check(
                state == "active",
                f"the subscription is {state}, its payment {seen['state_reason']}",
            )
            story.look()
            story.customer.append(shop.visit(f"/invoice/{bill['public_token']}"))
            story.merchant.append(shop.merchant.read(f"subscriptions/{subscription['id']}"))
            story.merchant.append(shop.merchant.read(f"invoices/{bill['id']}"))
        finally:
            network.call("evm_setIntervalMining", 2)
        story.until("completed")
    paid = until(
        lambda: shop.api("GET", f"/billing/invoices/{bill['id']}"),
        lambda invoice: invoice["status"] == "paid",
        "the invoice is paid",
    )
    after = shop.api("GET", path)
    story.check(after["status"] == "active", f"the subscription is {after['status']}")
    story.program += [json.dumps(paid), json.dumps(after), json.dumps(all_events(shop))]
    told = {event["type"] for event in all_events(shop)}
    story.check("subscription.past_due" not in told, "it was told as past due")
    story.check("subscription.canceled" not in told, "it was told as canceled")
    return story


def all_events(shop: Shop) -> list[Any]:
    return list(shop.api("GET", "/events?per_page=100")["data"])


@situation("several payments for one invoice")
def paid_twice(world: World) -> Story:
    shop = world.test_shop("Twice")
    person = {"email": "bob@customer.example", "name": "Bob"}
    customer = shop.api("POST", "/billing/customers", {"customer": person})
    line = {"description": "Bread", "quantity": 1, "unit_amount_cents": 1000}
    wanted = {"customer_id": customer["id"], "currency": "EUR", "line_items": [line]}
    draft = shop.api("POST", "/billing/invoices", {"invoice": wanted})
    path = f"/billing/invoices/{draft['id']}"
    bill = shop.api("POST", f"{path}/finalize", {})
    with world.test_network():
        story = started(shop, bill["public_token"], "Twice")
        forward(shop, until_due(shop, story.made["expires_at"]) + MINUTE_SECONDS)
        story.until("expired")
        story.pay()
        second = started(shop, bill["public_token"], "Twice")
        second.pay()
        second.until("completed")
        found = until(lambda: story.detail()["late_deposits"], bool, "the first one came late")
        until(lambda: story.detail()["late_deposits"][0]["status"], "confirmed".__eq__, "confirmed")
    shop.merchant.post(f"payments/{story.id}/late-deposits/{found[0]['id']}", accept="1")
    after = until(
        lambda: shop.api("GET", path), lambda invoice: bool(invoice["needs_attention"]), "overpaid"
    )
    story.customer.append(shop.visit(second.page))
    story.customer.append(shop.visit(f"/invoice/{bill['public_token']}"))
    story.merchant.append(shop.merchant.read(f"invoices/{bill['id']}"))
    story.merchant.append(shop.merchant.read("attention"))
    story.program.append(json.dumps(after))
    return story
