"""The customer pays the network's fee on top of what they sign at the checkout: it is no
overpayment, and bears the gas."""

import re
from typing import Any

import pytest
from django.core import signing
from django.test import Client

from apps.agents.models import SignedPayment
from apps.agents.services import checkout_surcharges
from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import costs
from apps.chain.sending.permits import PERMIT2
from apps.ledger.models import Entry
from apps.payments.models import Payment
from apps.stores.services import change_store
from tests import make
from tests.agents.conftest import DOLLAR, TOKEN, Market, ground, market
from tests.dashboard.browse import Browser, text
from tests.hosted import test_permits
from tests.hosted.test_signatures import asked, charged, created, entry_of, handed_in, signed
from tests.swaps.ground import bakery, place

__all__ = ["bakery", "ground", "market", "place"]
pytestmark = pytest.mark.chain
PRICE = 12_500_000


@pytest.fixture
def store(market: Market) -> Market:
    change_store(market.shop.store, checkout_signatures="customer")
    return market


def surcharge(offer: dict[str, Any]) -> int:
    return int(offer["typedData"]["message"]["value"]) - PRICE


def text_of(atomic: int) -> str:
    return f"{atomic / DOLLAR:f}".rstrip("0")


def booked(payment: dict[str, Any], kind: str) -> int:
    """Sum of the store's available balance of the token by movements of this kind."""
    rows = Entry.objects.filter(
        movement__kind=kind,
        movement__reference=payment["id"],
        account__kind="available",
        asset=TOKEN,
    )
    return sum(int(entry.amount_atomic) for entry in rows)


def is_paid_exactly(store: Market, payment: dict[str, Any], on_top: int) -> None:
    detail = make.detail(store.api, payment["id"])
    assert (detail["status"], detail["state_reason"]) == ("completed", "completed_exact")
    assert store.held(entry_of(payment).address_id) == PRICE + on_top
    assert SignedPayment.objects.get(status="settled").amount_atomic == PRICE + on_top
    [(asset, gas)] = charged(payment)
    assert asset == TOKEN and 0 < gas <= on_top
    fraction = Payment.objects.get(pk=payment["id"]).fee_fraction
    # What is left of it after the fee covers the gas: the store has its price's share, or more.
    settled = booked(payment, "payment_settled")
    assert settled - gas >= PRICE * (1 - fraction) - 1
    assert settled == PRICE + on_top - int((PRICE + on_top) * fraction)


def test_a_surcharge_is_shown_signed_and_bears_the_gas(store: Market) -> None:
    payment = created(store)
    page = Client().get(f"/pay/{payment['reference']}?asset={TOKEN}").content.decode()
    assert "The network’s fee is added to it." in page
    offer = asked(payment, store.payer).json()
    on_top = surcharge(offer)
    asset = Asset.objects.get(pk=TOKEN)
    cost = costs.of_a_token(asset)
    assert cost is not None and on_top > 0
    assert offer["cost"] == {
        "price": "12.5 USDC",
        "fee": f"{text_of(on_top)} USDC",
        "total": f"{text_of(PRICE + on_top)} USDC",
    }
    body = signed(offer, store.payer)
    assert handed_in(payment, body).json()["status"] == "submitted"
    assert handed_in(payment, body).json()["status"] == "submitted"
    store.send()
    store.bury()
    is_paid_exactly(store, payment, on_top)
    assert make.detail(store.api, payment["id"])["overpayment"]["excess_atomic"] == "0"
    shown = text(Browser(store.shop.owner).get(f"payments/{payment['id']}"))
    assert "Paid by signature" in shown and "Paid over x402" not in shown
    assert re.search(rf"Network fee on top</dt>\s*<dd>.*{text_of(on_top)}", shown), "and how much"


def test_a_permit_has_the_surcharge_too(store: Market) -> None:
    Asset.objects.filter(pk=TOKEN).update(eip712_name="", eip712_version="")
    store.chain.place_permit2()
    store.chain.allow(store.token, PERMIT2, PRICE, store.payer.address)
    payment = created(store)
    assert asked(payment, store.payer).status_code == 409  # the price alone is allowed
    store.chain.allow(store.token, PERMIT2, 50 * DOLLAR, store.payer.address)
    offer = asked(payment, store.payer).json()
    on_top = int(offer["typedData"]["message"]["permitted"]["amount"]) - PRICE
    body = test_permits.signed(offer, store.payer)
    assert handed_in(payment, body).json()["status"] == "submitted"
    store.send()
    store.bury()
    is_paid_exactly(store, payment, on_top)


def test_a_surcharge_that_was_changed_left_out_or_is_old_is_refused(
    store: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    payment, other = created(store), created(store)
    offer = asked(payment, store.payer).json()
    less = {**offer["typedData"]["message"], "value": str(PRICE)}
    cheap = {**offer, "typedData": {**offer["typedData"], "message": less}}
    assert handed_in(payment, signed(cheap, store.payer)).json() == {"error": "changed"}
    cheap["requirements"] = {**offer["requirements"], "amount": str(PRICE)}
    assert handed_in(payment, signed(cheap, store.payer)).json() == {"error": "changed"}
    extra = offer["requirements"]["extra"]
    of_other = asked(other, store.payer).json()["requirements"]["extra"]["offer"]
    forged = signing.dumps([payment["id"], TOKEN, 1], salt="another")
    for seal in ("", "x", forged, of_other, None):
        bad = {
            **offer,
            "requirements": {**offer["requirements"], "extra": {**extra, "offer": seal}},
        }
        assert handed_in(payment, signed(bad, store.payer)).json() == {"error": "changed"}, seal
    monkeypatch.setattr(checkout_surcharges, "SECONDS_MAX", -1)
    assert handed_in(payment, signed(offer, store.payer)).json() == {"error": "changed"}
    assert not SignedPayment.objects.exists() and not OutgoingTransaction.objects.exists()


def test_without_a_surcharge_what_came_otherwise_counts_as_always(store: Market) -> None:
    """One who asked for the data and then sent the price is done; one who sent it beside the
    signature has paid twice."""
    payment = created(store)
    asked(payment, store.payer)
    address = entry_of(payment).address_id
    store.chain.mint(store.token, store.chain.accounts[0], 100 * DOLLAR)
    store.chain.transfer(store.token, address, PRICE)
    store.bury()
    assert make.detail(store.api, payment["id"])["state_reason"] == "completed_exact"
    twice = created(store)
    offer = asked(twice, store.payer).json()
    handed_in(twice, signed(offer, store.payer))
    store.send()
    store.chain.transfer(store.token, entry_of(twice).address_id, PRICE)
    store.bury()
    assert make.detail(store.api, twice["id"])["state_reason"].endswith("overpaid")


def test_a_rule_that_changed_halfway_keeps_what_was_shown(store: Market) -> None:
    payment = created(store)
    offer = asked(payment, store.payer).json()
    change_store(store.shop.store, checkout_signatures="store")
    assert handed_in(payment, signed(offer, store.payer)).json()["status"] == "submitted"
    store.send()
    store.bury()
    is_paid_exactly(store, payment, surcharge(offer))
    free = created(store)
    plain = asked(free, store.payer).json()
    assert surcharge(plain) == 0 and "cost" not in plain
    change_store(store.shop.store, checkout_signatures="customer")
    assert handed_in(free, signed(plain, store.payer)).json() == {"error": "changed"}


def test_after_a_failure_the_next_signature_has_its_own_surcharge(store: Market) -> None:
    payment = created(store)
    offer = asked(payment, store.payer).json()
    handed_in(payment, signed(offer, store.payer))
    payer = store.payer.address
    store.chain.call("anvil_impersonateAccount", payer)
    store.chain.call("anvil_setBalance", payer, hex(10**18))
    data = "0xa9059cbb" + f"{'7' * 40:0>64}" + f"{100 * DOLLAR:064x}"
    away = {"from": payer, "to": store.token, "data": data, "gas": hex(200_000)}
    store.chain.wait(store.chain.call("eth_sendTransaction", away))
    store.send()
    store.bury()
    assert SignedPayment.objects.get().status == "failed"
    store.chain.mint(store.token, payer, 50 * DOLLAR)
    change_store(store.shop.store, checkout_signatures="store")
    again = asked(payment, store.payer).json()
    assert surcharge(again) == 0
    assert handed_in(payment, signed(again, store.payer)).json()["status"] == "submitted"
    assert entry_of(payment).surcharge_atomic == 0
    store.send()
    store.bury()
    assert make.detail(store.api, payment["id"])["state_reason"] == "completed_exact"


def test_without_a_rate_nothing_is_offered(store: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    payment = created(store)
    monkeypatch.setattr(costs, "of_a_token", lambda *_: None)
    assert asked(payment, store.payer).status_code == 409
