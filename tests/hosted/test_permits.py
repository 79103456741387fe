"""A customer signs a permit (Permit2) for a token that knows no signed transfers, and the service
carries it out: Permit2's own code, on a chain that is real."""

import secrets
from typing import Any

import pytest
from django.test import Client
from eth_account import Account
from x402.mechanisms.evm.constants import PERMIT2_WITNESS_TYPES

from apps.agents.models import SignedPayment
from apps.agents.services import checkout_signatures
from apps.assets.models import Asset
from apps.chain.models import Address, HotWallet, OutgoingTransaction, PayerRecord
from apps.chain.reasons import Reason
from apps.chain.sending import authorizations, permits
from apps.chain.sending.permits import PERMIT2
from apps.core import clock
from apps.ledger.models import Movement
from apps.payments.models import Payment, Refund
from apps.payments.services.refund_progress import advance_refunds
from apps.stores.services import change_store
from tests import make
from tests.agents.conftest import DOLLAR, TOKEN, Market, ground, market
from tests.agents.paying import Payer
from tests.hosted.test_signatures import asked, charged, created, entry_of, handed_in, path
from tests.hosted.test_smart_wallets import deployed
from tests.swaps.ground import bakery, place

__all__ = ["bakery", "ground", "market", "place"]
pytestmark = pytest.mark.chain


@pytest.fixture
def store(market: Market) -> Market:
    """Takes signatures; its dollar knows none, and Permit2 may take 50 of the payer's."""
    Asset.objects.filter(pk=TOKEN).update(eip712_name="", eip712_version="")
    market.chain.place_permit2()
    market.chain.allow(market.token, PERMIT2, 50 * DOLLAR, market.payer.address)
    change_store(market.shop.store, checkout_signatures="store")
    return market


def signature(payer: Payer, typed: dict[str, Any]) -> str:
    """By the types that x402's own client signs."""
    message = typed["message"]
    permit = {
        **message,
        "permitted": {**message["permitted"], "amount": int(message["permitted"]["amount"])},
        "nonce": int(message["nonce"]),
        "deadline": int(message["deadline"]),
        "witness": {**message["witness"], "validAfter": int(message["witness"]["validAfter"])},
    }
    signed = Account.sign_typed_data(
        payer.account.key, typed["domain"], PERMIT2_WITNESS_TYPES, permit
    )
    return "0x" + bytes(signed.signature).hex()


def signed(offer: dict[str, Any], payer: Payer, **changes: Any) -> dict[str, Any]:
    """The body that the page hands in; `changes` are of the message, after it was signed."""
    typed = offer["typedData"]
    permit = {"from": payer.account.address, **typed["message"], **changes}
    payload = {"signature": signature(payer, typed), "permit2Authorization": permit}
    requirements = offer["requirements"]
    return {
        "x402Version": 2,
        "paymentPayload": {"x402Version": 2, "accepted": requirements, "payload": payload},
        "paymentRequirements": requirements,
    }


def resigned(offer: dict[str, Any], payer: Payer, **changes: Any) -> dict[str, Any]:
    """A permit of the payer's own making."""
    typed = offer["typedData"]
    return signed({**offer, "typedData": {**typed, "message": typed["message"] | changes}}, payer)


def test_a_permit_pays_and_the_payer_is_refunded(store: Market) -> None:
    payment = created(store)
    page = Client().get(f"/pay/{payment['reference']}?asset={TOKEN}").content.decode()
    assert f"{path(payment)}?asset={TOKEN}" in page
    assert "There’s no network fee for you" not in page  # as long as nobody knows the wallet
    offer = asked(payment, store.payer).json()
    message = offer["typedData"]["message"]
    assert message["spender"].lower() == store.hot
    assert message["witness"]["to"].lower() == entry_of(payment).address_id
    assert "version" not in offer["typedData"]["domain"]
    body = signed(offer, store.payer)
    assert handed_in(payment, body).json()["status"] == "submitted"
    assert handed_in(payment, body).json()["status"] == "submitted"
    store.send()
    store.bury()
    assert make.detail(store.api, payment["id"])["state_reason"] == "completed_exact"
    assert store.held(entry_of(payment).address_id) == 12_500_000
    row = SignedPayment.objects.get()
    assert (row.status, row.contract_address) == ("settled", PERMIT2)
    sent = OutgoingTransaction.objects.get(purpose="x402")
    assert (sent.to_address, sent.from_address) == (PERMIT2, store.hot)
    [(asset, gas)] = charged(payment)
    assert asset == TOKEN and gas > 0
    assert Movement.objects.filter(kind="x402_gas_paid").count() == 1
    is_refunded(store, payment, store.payer.address)


def is_refunded(store: Market, payment: dict[str, Any], payer: str) -> None:
    """To where it came from, as the payer has signed."""
    store.chain.mint(store.token, store.hot, 20 * DOLLAR)
    make.store_coins(store.shop.store, TOKEN, 20 * DOLLAR)
    body = {"refund": {"asset_id": TOKEN, "amount": "12.50"}}
    answer = store.api.post(f"/payments/{payment['id']}/refunds", body, key="refund")
    assert answer.status_code == 201, answer.content
    assert Refund.objects.get().destination_address == payer
    assert PayerRecord.objects.get(address=payer).kind == PayerRecord.Kind.ACCOUNT
    advance_refunds()
    store.send()
    store.bury()
    advance_refunds()
    assert Refund.objects.get().status == "confirmed"


def test_what_permit2_cant_take_is_asked_of_nobody(store: Market) -> None:
    payment = created(store, amount="50.01")
    assert asked(payment, store.payer).status_code == 409
    small = created(store)
    assert asked(small, store.payer).status_code == 200
    store.chain.call("anvil_setCode", PERMIT2, "0x")
    assert asked(small, store.payer).status_code == 409
    store.chain.call("anvil_setCode", PERMIT2, "0x6000")
    assert asked(small, store.payer).status_code == 409
    store.chain.place_permit2()
    store.chain.call("anvil_setCode", PERMIT2, store.chain.call("eth_getCode", PERMIT2, "latest"))
    assert asked(small, store.payer).status_code == 200
    change_store(store.shop.store, checkout_signatures="off")
    assert asked(small, store.payer).status_code == 409


def test_an_allowance_that_is_gone_leaves_nothing_and_a_transaction_pays(store: Market) -> None:
    payment = created(store)
    offer = asked(payment, store.payer).json()
    store.chain.allow(store.token, PERMIT2, 12_499_999, store.payer.address)
    answer = handed_in(payment, signed(offer, store.payer))
    assert (answer.status_code, answer.json()) == (422, {"error": "unsigned"})
    assert not SignedPayment.objects.exists() and not OutgoingTransaction.objects.exists()


def test_what_was_changed_is_refused_and_leaves_nothing(store: Market) -> None:
    payment, other = created(store), created(store)
    offer = asked(payment, store.payer).json()
    message = offer["typedData"]["message"]
    poor = Payer()
    store.chain.allow(store.token, PERMIT2, 50 * DOLLAR, poor.address)
    less = {**message["permitted"], "amount": "12499999"}
    strange = {**message["permitted"], "token": "0x" + "c4" * 20}
    away = {"to": entry_of(other).address_id, "validAfter": "0"}
    refusals = {
        "another amount": (resigned(offer, store.payer, permitted=less), "changed"),
        "another token": (resigned(offer, store.payer, permitted=strange), "failed"),
        "another recipient": (resigned(offer, store.payer, witness=away), "changed"),
        "another spender": (resigned(offer, store.payer, spender=poor.address), "failed"),
        "changed after it was signed": (signed(offer, store.payer, nonce="7"), "failed"),
        "an empty purse": (signed(asked(payment, poor).json(), poor), "funds"),
        "another signer": (
            signed(offer, poor, **{"from": store.payer.account.address}),
            "failed",
        ),
    }
    for name, (body, word) in refusals.items():
        answer = handed_in(payment, body)
        assert (answer.status_code, answer.json()) == (422, {"error": word}), name
    assert not SignedPayment.objects.exists() and not OutgoingTransaction.objects.exists()
    assert {row.status for row in Payment.objects.all()} == {"pending"}


def test_what_is_no_permit_or_has_ended_is_refused(
    store: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    payment = created(store)
    offer = asked(payment, store.payer).json()
    bare = signed(offer, store.payer)
    for broken in (None, {}, {"from": store.payer.address}):
        bare["paymentPayload"]["payload"]["permit2Authorization"] = broken
        assert handed_in(payment, bare).json() == {"error": "failed"}
    message = offer["typedData"]["message"]
    near = str(int(clock.real_now().timestamp()) + 3)
    ending = resigned(offer, store.payer, deadline=near)
    assert handed_in(payment, ending).json() == {"error": "ended"}
    later = resigned(offer, store.payer, witness={**message["witness"], "validAfter": "1"})
    assert handed_in(payment, later).json() == {"error": "failed"}
    # Over x402 nobody is asked for such a permit.
    over = store.verify(signed(offer, store.payer))
    assert not over["isValid"]
    monkeypatch.setattr(checkout_signatures, "SIGNED_WITHIN_SECONDS", 3)
    late = asked(payment, store.payer).json()
    assert handed_in(payment, signed(late, store.payer)).json() == {"error": "ended"}
    assert not SignedPayment.objects.exists() and not OutgoingTransaction.objects.exists()


def test_a_number_that_the_payer_called_off_is_refused(store: Market) -> None:
    payment = created(store)
    offer = asked(payment, store.payer).json()
    number = int(offer["typedData"]["message"]["nonce"])
    call_off(store, number)
    assert handed_in(payment, signed(offer, store.payer)).json() == {"error": "failed"}
    assert not SignedPayment.objects.exists()
    near = number ^ 1  # the neighbor of its word is free
    again = resigned(offer, store.payer, nonce=str(near))
    assert handed_in(payment, again).json()["status"] == "submitted"
    call_off(store, near)  # before a block has it
    store.send()
    store.bury()
    assert SignedPayment.objects.get().status == "failed"
    assert handed_in(payment, again).json() == {"error": "reverted"}
    assert not OutgoingTransaction.objects.filter(nonce__isnull=False).exists()
    assert Payment.objects.get().status == "pending"


def call_off(store: Market, number: int) -> None:
    """invalidateUnorderedNonces, which the payer alone can call."""
    payer = store.payer.address
    store.chain.call("anvil_impersonateAccount", payer)
    store.chain.call("anvil_setBalance", payer, hex(10**18))
    data = f"0x3ff9dcb1{number >> 8:064x}{1 << (number & 0xFF):064x}"
    call = {"from": payer, "to": PERMIT2, "data": data, "gas": hex(100_000)}
    store.chain.wait(store.chain.call("eth_sendTransaction", call))
    store.chain.call("anvil_stopImpersonatingAccount", payer)


def test_an_allowance_that_goes_while_it_is_sent_costs_gas_once(store: Market) -> None:
    payment = created(store)
    handed_in(payment, signed(asked(payment, store.payer).json(), store.payer))
    payer = store.payer.address
    store.chain.call("anvil_impersonateAccount", payer)
    store.chain.call("anvil_setBalance", payer, hex(10**18))
    store.chain.call("evm_setAutomine", False)
    store.send()
    fees = {"maxFeePerGas": hex(10**11), "maxPriorityFeePerGas": hex(5 * 10**10)}
    data = f"0x095ea7b3{PERMIT2[2:]:0>64}{0:064x}"
    taken = {"from": payer, "to": store.token, "data": data, "gas": hex(100_000), **fees}
    store.chain.call("eth_sendTransaction", taken)
    store.chain.mine()
    store.chain.call("evm_setAutomine", True)
    store.bury()
    row = SignedPayment.objects.get()
    assert row.status == "failed"
    assert OutgoingTransaction.objects.get().network_fee_atomic > 0
    assert Movement.objects.filter(kind="x402_gas_paid").count() == 1
    assert Payment.objects.get().status == "pending"
    assert asked(payment, store.payer).status_code == 409  # a transaction pays


def test_a_wallet_that_is_a_contract_signs_a_permit(store: Market) -> None:
    owner = Payer()
    wallet = deployed(store.chain, "SmartWallet", owner.account.address)
    store.chain.mint(store.token, wallet, 100 * DOLLAR)
    store.chain.allow(store.token, PERMIT2, 50 * DOLLAR, wallet)
    payment = created(store)
    named = type("Named", (), {"account": type("Account", (), {"address": wallet})})
    offer = asked(payment, named()).json()
    body = signed(offer, owner)
    payload = body["paymentPayload"]["payload"]
    payload["permit2Authorization"]["from"] = wallet
    assert handed_in(payment, body).json() == {"error": "failed"}  # its owner's own
    payload["signature"] = f"0x0001{payload['signature'][2:]}"
    assert handed_in(payment, body).json()["status"] == "submitted"
    store.send()
    store.bury()
    assert make.detail(store.api, payment["id"])["state_reason"] == "completed_exact"
    assert store.held(wallet) == 100 * DOLLAR - 12_500_000
    is_refunded(store, payment, wallet)


def test_the_signer_signs_no_permit_that_brings_coins_elsewhere(store: Market) -> None:
    payment = created(store)
    offer = asked(payment, store.payer).json()
    handed_in(payment, signed(offer, store.payer))
    row = OutgoingTransaction.objects.select_related("asset").get()
    assert authorizations.refusal(row) is None
    other = entry_of(created(store)).address_id
    to = entry_of(payment).address_id
    data = row.call_data
    swapped = data.replace(to[2:], other[2:], 1)  # the witness still names the first
    assert Address.objects.filter(pk=other).exists() and swapped != data
    for changed in (swapped, data[:-2], data + "00", data.replace("137c29fe", "30f28b7a", 1)):
        row.call_data = changed
        assert authorizations.refusal(row) == Reason.STRANGE_CALL
    row.call_data = data
    row.to_address = store.token
    assert authorizations.refusal(row) == Reason.STRANGE_CALL


def test_another_hot_wallet_never_carries_a_permit_out(store: Market, settings: Any) -> None:
    settings.SIGNER_LANES = {"sepolia": 2}
    payment = created(store)
    handed_in(payment, signed(asked(payment, store.payer).json(), store.payer))
    HotWallet.objects.filter(chain="sepolia", number=0).update(halted_at=clock.real_now())
    store.send()
    second = HotWallet.objects.get(chain="sepolia", number=1)
    store.chain.call("anvil_setBalance", second.address, hex(10**18))
    store.send()
    assert OutgoingTransaction.objects.get().status == "requested"
    store.chain.call("anvil_setBalance", second.address, "0x0")
    HotWallet.objects.filter(chain="sepolia", number=0).update(halted_at=None)
    store.send()
    store.bury()
    assert OutgoingTransaction.objects.get().from_address == store.hot
    assert SignedPayment.objects.get().status == "settled"


def test_numbers_are_bits_of_words() -> None:
    number = secrets.randbits(256)
    word = 1 << (number & 0xFF)
    assert permits.says_used(hex(word), number)
    assert not permits.says_used(hex(~word & (2**256 - 1)), number)
    assert not permits.says_used("0x", number) and not permits.says_used(None, number)
