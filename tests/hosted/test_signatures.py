"""A customer signs a payment at the checkout, and the service carries it out: the wallet has no
coin for gas, and what that costs is the store's."""

import json
from typing import Any

import pytest
from django.test import Client
from eth_account import Account

from apps.agents.models import SignedPayment
from apps.chain.models import OutgoingTransaction
from apps.ledger.models import Entry, Movement
from apps.payments.models import Payment, PaymentAddress
from apps.stores.services import change_store
from tests import make
from tests.agents.conftest import DOLLAR, ETHER, TOKEN, Market, ground, market
from tests.agents.paying import Payer
from tests.swaps.ground import bakery, place

__all__ = ["bakery", "ground", "market", "place"]
pytestmark = pytest.mark.chain


@pytest.fixture
def store(market: Market) -> Market:
    """Takes signatures and bears their gas."""
    change_store(market.shop.store, checkout_signatures="store")
    return market


def created(store: Market, **fields: Any) -> dict[str, Any]:
    return make.payment(store.api, **{"amount": "12.50", "currency": "USD", **fields})


def path(payment: dict[str, Any]) -> str:
    return f"/pay/{payment['reference']}/signature"


def asked(payment: dict[str, Any], payer: Payer, asset: str = TOKEN) -> Any:
    return Client().get(path(payment), {"asset": asset, "payer": payer.account.address})


def signed(offer: dict[str, Any], payer: Payer, **changes: str) -> dict[str, Any]:
    """The body that the page hands in; `changes` are of the message, after it was signed."""
    typed = offer["typedData"]
    signature = Account.sign_typed_data(payer.account.key, full_message=typed).signature
    payload = {
        "signature": "0x" + bytes(signature).hex(),
        "authorization": {**typed["message"], **changes},
    }
    requirements = offer["requirements"]
    return {
        "x402Version": 2,
        "paymentPayload": {"x402Version": 2, "accepted": requirements, "payload": payload},
        "paymentRequirements": requirements,
    }


def handed_in(payment: dict[str, Any], body: object) -> Any:
    return Client().post(path(payment), json.dumps(body), content_type="application/json")


def entry_of(payment: dict[str, Any]) -> PaymentAddress:
    return PaymentAddress.objects.get(payment_id=payment["id"], asset=TOKEN)


def charged(payment: dict[str, Any]) -> list[tuple[str, int]]:
    """The store's charges for gas, by coin."""
    entries = Entry.objects.filter(
        movement__kind="x402_gas_charged", movement__reference=payment["id"], amount_atomic__lt=0
    )
    return [(entry.asset_id, -int(entry.amount_atomic)) for entry in entries]


def test_a_wallet_without_gas_pays_by_a_signature_and_the_store_bears_the_gas(
    store: Market,
) -> None:
    payment = created(store)
    offer = asked(payment, store.payer).json()
    assert offer["typedData"]["message"]["value"] == "12500000"
    answer = handed_in(payment, signed(offer, store.payer))
    assert (answer.status_code, answer.json()["status"]) == (200, "submitted")
    page = Client().get(f"/pay/{payment['reference']}").content.decode()
    assert "Sent, waiting for the network" in page
    store.send()
    store.bury()
    detail = make.detail(store.api, payment["id"])
    assert (detail["status"], detail["state_reason"]) == ("completed", "completed_exact")
    assert store.held(entry_of(payment).address_id) == 12_500_000
    row = SignedPayment.objects.get()
    assert (row.status, row.is_of_checkout) == ("settled", True)
    [(asset, gas)] = charged(payment)
    assert asset == TOKEN and gas > 0
    assert Movement.objects.filter(kind="x402_gas_paid").count() == 1


def test_one_signature_handed_in_twice_pays_once(store: Market) -> None:
    payment = created(store)
    body = signed(asked(payment, store.payer).json(), store.payer)
    first, second = handed_in(payment, body), handed_in(payment, body)
    assert first.json()["id"] == second.json()["id"]
    other = handed_in(payment, signed(asked(payment, store.payer).json(), store.payer))
    assert (other.status_code, other.json()) == (422, {"error": "twice"})
    store.send()
    store.bury()
    third = handed_in(payment, body)
    assert third.json()["status"] == "settled"
    assert OutgoingTransaction.objects.filter(purpose="x402").count() == 1


def test_nothing_is_offered_by_default_or_of_a_payment_that_is_over(market: Market) -> None:
    payment = created(market)
    assert asked(payment, market.payer).status_code == 409
    assert "data-signature" not in Client().get(f"/pay/{payment['reference']}").content.decode()
    change_store(market.shop.store, checkout_signatures="store")
    offer = asked(payment, market.payer).json()
    page = Client().get(f"/pay/{payment['reference']}?asset={TOKEN}").content.decode()
    assert f"/pay/{payment['reference']}/signature?asset={TOKEN}" in page
    assert asked(payment, market.payer, "SETH").status_code == 409
    change_store(market.shop.store, checkout_signatures="off")
    refused = handed_in(payment, signed(offer, market.payer))
    assert refused.status_code == 422 and not SignedPayment.objects.exists()
    change_store(market.shop.store, checkout_signatures="store")
    make.advance(market.api, 25 * 3600)
    late = handed_in(payment, signed(offer, market.payer))
    assert late.json() == {"error": "ended"} and not SignedPayment.objects.exists()


def test_what_was_changed_or_is_not_covered_is_refused_and_leaves_nothing(store: Market) -> None:
    payment = created(store)
    offer = asked(payment, store.payer).json()
    poor = Payer()
    refusals = {
        "another amount": (signed(offer, store.payer, value="1"), "changed"),
        "another signer": (signed(offer, poor), "failed"),
        "an empty purse": (signed(asked(payment, poor).json(), poor), "funds"),
        "no object": ([], "failed"),
        "nothing": ({}, "failed"),
    }
    for name, (body, word) in refusals.items():
        answer = handed_in(payment, body)
        assert (answer.status_code, answer.json()) == (422, {"error": word}), name
    stolen = handed_in(created(store), signed(offer, store.payer))
    assert stolen.json() == {"error": "failed"}
    assert not SignedPayment.objects.exists() and not OutgoingTransaction.objects.exists()


def test_a_payment_that_the_chain_reverts_is_told_and_can_be_paid_again(store: Market) -> None:
    payment = created(store)
    body = signed(asked(payment, store.payer).json(), store.payer)
    handed_in(payment, body)
    payer = store.payer.address
    for method, argument in (("anvil_impersonateAccount", None), ("anvil_setBalance", hex(ETHER))):
        store.chain.call(method, payer, *([argument] if argument else []))
    store.chain.call("evm_setAutomine", False)
    store.send()
    fees = {"maxFeePerGas": hex(10**11), "maxPriorityFeePerGas": hex(5 * 10**10)}
    data = "0xa9059cbb" + f"{'7' * 40:0>64}" + f"{100 * DOLLAR:064x}"
    away = {"from": payer, "to": store.token, "data": data, "gas": hex(200_000), **fees}
    store.chain.call("eth_sendTransaction", away)
    store.chain.mine()
    store.chain.call("evm_setAutomine", True)
    store.bury()
    assert SignedPayment.objects.get().status == "failed"
    assert Payment.objects.get().status == "pending"
    assert handed_in(payment, body).json() == {"error": "reverted"}
    page = Client().get(f"/pay/{payment['reference']}?asset={TOKEN}").content.decode()
    assert "The network refused the payment. Nothing was paid." in page
    store.chain.mint(store.token, payer, 50 * DOLLAR)
    again = handed_in(payment, signed(asked(payment, store.payer).json(), store.payer))
    assert again.json()["status"] == "submitted"
    store.send()
    store.bury()
    assert make.detail(store.api, payment["id"])["state_reason"] == "completed_exact"
