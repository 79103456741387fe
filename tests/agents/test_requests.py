"""A payer's x402 message is read field by field: what isn't of its documented type is null, and
nothing else is lost."""

from typing import Any

import msgspec
import pytest

from apps.agents.requests.x402 import OfferRequest, SignedPaymentRequest
from apps.core.messages.fields import Invalid

AUTHORIZATION = {
    "from": "0xa",
    "to": "0xb",
    "value": "1",
    "validAfter": "0",
    "validBefore": "9",
    "nonce": "0xc",
}
REQUIREMENTS = {
    "scheme": "exact",
    "network": "eip155:1",
    "amount": "1",
    "asset": "0xd",
    "payTo": "0xb",
    "maxTimeoutSeconds": 60,
}
BODY: dict[str, Any] = {
    "x402Version": 2,
    "paymentPayload": {
        "x402Version": 2,
        "resource": {"url": "https://shop.example"},
        "accepted": REQUIREMENTS,
        "payload": {"signature": "0xe", "authorization": AUTHORIZATION},
    },
    "paymentRequirements": {**REQUIREMENTS, "extra": {"name": "USD Coin"}},
}


def test_a_body_of_the_protocol_is_read_as_it_is() -> None:
    told = msgspec.to_builtins(SignedPaymentRequest.read(BODY))
    assert told["paymentPayload"]["payload"]["authorization"] == AUTHORIZATION
    assert told["paymentRequirements"]["payTo"] == "0xb"
    assert told["paymentRequirements"]["extra"] == {
        "assetTransferMethod": "eip3009",
        "offer": None,
        "resource": None,
    }
    assert SignedPaymentRequest.read(BODY).network == "eip155:1"


@pytest.mark.parametrize("wrong", [5, True, None, [], {}, {"a": 1}])
@pytest.mark.parametrize("name", ["scheme", "network", "amount", "asset", "payTo"])
def test_what_is_no_text_is_null_and_what_stands_beside_it_stays(name: str, wrong: object) -> None:
    body = {**BODY, "paymentRequirements": {**REQUIREMENTS, name: wrong}}
    told = msgspec.to_builtins(SignedPaymentRequest.read(body))
    assert told["paymentRequirements"][name] is None
    kept = {
        paymentRequirement: text
        for paymentRequirement, text in told["paymentRequirements"].items()
        if paymentRequirement not in (name, "extra")
    }
    assert kept == {item: REQUIREMENTS[item] for item in kept} and len(kept) == 4
    assert told["paymentPayload"]["accepted"]["scheme"] == "exact"


@pytest.mark.parametrize("wrong", [5, "text", None, []])
def test_what_is_no_object_is_null(wrong: object) -> None:
    request = SignedPaymentRequest.read(
        {"paymentPayload": wrong, "paymentRequirements": {"extra": wrong}}
    )
    assert request.payment_payload is None
    assert request.payment_requirements is not None and request.payment_requirements.extra is None


@pytest.mark.parametrize(
    ("sent", "read"),
    [({}, 2), ({"x402Version": 1}, 1), ({"x402Version": "2"}, None), ({"x402Version": None}, None)],
)
def test_a_body_that_names_no_version_is_of_the_second(
    sent: dict[str, object], read: int | None
) -> None:
    assert SignedPaymentRequest.read(sent).x402_version == read


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({}, "one_amount"),
        ({"amount": "1.00", "amount_atomic": "1"}, "one_amount"),
        ({"amount": "1.00"}, "required"),
        ({"amount_atomic": "0"}, "positive"),
    ],
)
def test_an_offer_has_one_price(fields: dict[str, str], rule: str) -> None:
    with pytest.raises(Invalid) as refusal:
        OfferRequest.read({"asset_id": "USDC", "resource": "https://shop.example", **fields})
    assert refusal.value.rule == rule
