"""BTCPay Server's webhooks: registered, signed with BTCPay-Sig, delivered and looked up."""

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

from tests.compat.conftest import Greenfield
from tests.webhooks.receivers import Receiver

HOOKS = "/stores/{}/webhooks"


def types(receiver: Receiver) -> list[str]:
    return [event["type"] for event in receiver.events()]


def test_a_sale_is_told_in_btcpays_events_with_its_signature(
    greenfield: Greenfield, receiver: Receiver, deliver: Callable[[], None]
) -> None:
    hook = greenfield.post(HOOKS, {"url": receiver.url}).json()
    assert hook["authorizedEvents"] == {"everything": True, "specificEvents": []}
    made = greenfield.invoice(metadata={"orderId": "7", "posData": {"seat": 3}})
    deliver()
    greenfield.pay(made, confirmations=0)
    deliver()
    greenfield.pay(greenfield.invoice())
    deliver()
    told = types(receiver)
    assert told[0] == "InvoiceCreated"
    assert {"InvoiceReceivedPayment", "InvoiceProcessing"} <= set(told)
    assert {"InvoicePaymentSettled", "InvoiceSettled"} <= set(told)
    for request in receiver.requests:
        digest = hmac.new(hook["secret"].encode(), request["raw"], hashlib.sha256).hexdigest()
        assert request["headers"]["btcpay-sig"] == f"sha256={digest}"
        assert "service-signature" not in request["headers"]
    first = receiver.events()[0]
    assert (first["invoiceId"], first["storeId"]) == (made["id"], made["storeId"])
    assert first["metadata"] == {"orderId": "7", "posData": {"seat": 3}}
    assert (first["webhookId"], first["isRedelivery"]) == (hook["id"], False)
    payment = next(event for event in receiver.events() if "payment" in event)
    assert payment["payment"]["value"] and payment["payment"]["destination"]


def test_a_partly_paid_invoice_is_never_told_as_processing(
    greenfield: Greenfield, receiver: Receiver, deliver: Callable[[], None]
) -> None:
    events = {"everything": False, "specificEvents": ["InvoiceProcessing", "InvoiceSettled"]}
    greenfield.post(HOOKS, {"url": receiver.url, "authorizedEvents": events})
    made = greenfield.invoice()
    greenfield.pay(made, scenario="underpaid")
    deliver()
    assert types(receiver) == ["InvoiceReceivedPayment"]
    greenfield.pay(made)
    deliver()
    assert types(receiver)[-1] == "InvoiceSettled"


def test_a_shop_may_bring_its_own_secret_and_sees_it_in_no_later_answer(
    greenfield: Greenfield, receiver: Receiver, deliver: Callable[[], None]
) -> None:
    secret = "of-the-shop-0123456789"
    hook = greenfield.post(HOOKS, {"url": receiver.url, "secret": secret}).json()
    assert hook["secret"] == secret
    path = f"{HOOKS}/{hook['id']}"
    assert "secret" not in greenfield.get(path).json()
    (listed,) = greenfield.shop.test.get("/webhook_endpoints").json()
    assert "of-the-shop" not in json.dumps(listed)
    greenfield.invoice()
    deliver()
    raw = receiver.requests[0]["raw"]
    digest = hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
    assert receiver.requests[0]["headers"]["btcpay-sig"] == f"sha256={digest}"


def test_webhooks_are_changed_turned_off_and_deleted(
    greenfield: Greenfield, receiver: Receiver
) -> None:
    hook = greenfield.post(HOOKS, {"url": receiver.url}).json()
    path = f"{HOOKS}/{hook['id']}"
    body: dict[str, Any] = {
        "url": receiver.url + "2",
        "enabled": False,
        "authorizedEvents": {"everything": False, "specificEvents": ["InvoiceExpired"]},
    }
    changed = greenfield("put", path, body).json()
    assert (changed["enabled"], changed["url"]) == (False, receiver.url + "2")
    assert changed["authorizedEvents"]["specificEvents"] == ["InvoiceExpired"]
    assert greenfield.get(HOOKS).json() == [changed]
    assert greenfield("delete", path).status_code == 200
    gone = greenfield.get(path)
    assert (gone.status_code, gone.json()["code"]) == (404, "webhook-not-found")


def test_bad_webhooks_are_refused_by_their_path(greenfield: Greenfield) -> None:
    for body, path in (
        ({}, "url"),
        ({"url": "ftp://a"}, "url"),
        ({"url": "http://10.0.0.1/"}, "url"),
        ({"url": "https://example.com", "secret": "short"}, "secret"),
        (
            {
                "url": "http://127.0.0.1:9/",
                "authorizedEvents": {"everything": False, "specificEvents": []},
            },
            "authorizedEvents.specificEvents",
        ),
    ):
        answer = greenfield.post(HOOKS, body)
        assert (answer.status_code, answer.json()[0]["path"]) == (422, path), body


def test_deliveries_are_looked_up_and_sent_again(
    greenfield: Greenfield, receiver: Receiver, deliver: Callable[[], None]
) -> None:
    receiver.answer = 500
    hook = greenfield.post(HOOKS, {"url": receiver.url}).json()
    greenfield.invoice()
    deliver()
    path = f"{HOOKS}/{hook['id']}/deliveries"
    (row,) = greenfield.get(f"{path}?count=5").json()
    assert (row["status"], row["httpCode"]) == ("HttpError", 500)
    assert greenfield.get(f"{path}/{row['id']}").json() == row
    body = greenfield.get(f"{path}/{row['id']}/request").json()
    assert body == receiver.events()[0]
    receiver.answer = 200
    assert greenfield.post(f"{path}/{row['id']}/redeliver").json() == row["id"]
    deliver()
    (row,) = greenfield.get(path).json()
    assert row["status"] == "HttpSuccess"
    assert greenfield.get(f"{path}/nothing").json()["code"] == "webhookdelivery-not-found"
