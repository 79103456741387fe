"""Wallets that are contracts (EIP-1271), and accounts that have delegated themselves to one's code
(EIP-7702), pay by a signature at the checkout and are refunded."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from apps.agents.models import SignedPayment
from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction, PayerRecord
from apps.payments.models import Payment, Refund
from apps.payments.services.refund_progress import advance_refunds
from apps.stores.services import change_store
from tests import make
from tests.agents.conftest import DOLLAR, TOKEN, Market, ground, market
from tests.agents.paying import Payer
from tests.chain.local import LocalChain
from tests.hosted.test_signatures import asked, created, handed_in, signed
from tests.swaps.ground import bakery, place

__all__ = ["bakery", "ground", "market", "place"]
pytestmark = pytest.mark.chain
CODES = json.loads((Path(__file__).parents[1] / "chain/tokens/SmartDollar.json").read_text())
CHEAP, DEAR = "0001", "0fff"  # how much the wallet's own check computes


def deployed(chain: LocalChain, name: str, *arguments: str) -> str:
    data = CODES[name] + "".join(f"{argument[2:].lower():0>64}" for argument in arguments)
    call = {"from": chain.accounts[0], "data": data, "gas": hex(5_000_000)}
    tx_hash = chain.wait(chain.call("eth_sendTransaction", call))
    return str(chain.call("eth_getTransactionReceipt", tx_hash)["contractAddress"]).lower()


@pytest.fixture
def store(market: Market) -> Market:
    """Takes signatures in a dollar that lets contracts sign, as USDC does."""
    token = deployed(market.chain, "SmartDollar")
    Asset.objects.filter(pk=TOKEN).update(contract_address=token, eip712_version="2")
    change_store(market.shop.store, checkout_signatures="store")
    return replace(market, token=token)


class Holder(Payer):
    """Signs for the wallet at another address."""

    def __init__(self, store: Market) -> None:
        super().__init__()
        self.wallet = deployed(store.chain, "SmartWallet", self.account.address)
        store.chain.mint(store.token, self.wallet, 100 * DOLLAR)

    @property
    def address(self) -> str:
        return self.wallet


def wrapped(body: dict[str, Any], cost: str = CHEAP) -> dict[str, Any]:
    """With the signature as the wallet has it."""
    payload = body["paymentPayload"]["payload"]
    payload["signature"] = f"0x{cost}{payload['signature'][2:]}"
    return body


def to_pay(payment: dict[str, Any], address: str) -> Any:
    """The request that the page has a wallet at this address sign."""

    class Named:
        account = type("Account", (), {"address": address})

    return asked(payment, Named()).json()  # type: ignore[arg-type]


def is_paid(store: Market, payment: dict[str, Any], payer: str) -> None:
    store.send()
    store.bury()
    assert make.detail(store.api, payment["id"])["state_reason"] == "completed_exact"
    assert store.held(payer) == 100 * DOLLAR - 12_500_000
    assert SignedPayment.objects.get().status == "settled"


def is_refunded(store: Market, payment: dict[str, Any], payer: str) -> None:
    """To where it came from, as nobody said otherwise."""
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
    assert store.held(payer) > 95 * DOLLAR


def test_a_wallet_that_is_a_contract_pays_and_is_refunded(store: Market) -> None:
    holder = Holder(store)
    payment = created(store)
    body = wrapped(signed(to_pay(payment, holder.wallet), holder))
    assert handed_in(payment, body).json()["status"] == "submitted"
    assert OutgoingTransaction.objects.get().call_data.startswith("0xcf092995")
    is_paid(store, payment, holder.wallet)
    is_refunded(store, payment, holder.wallet)


def test_an_account_that_has_delegated_itself_pays_and_is_refunded(store: Market) -> None:
    payer = Payer()
    code = deployed(store.chain, "SmartWallet", "0x" + "00" * 20)
    store.chain.mint(store.token, payer.address, 100 * DOLLAR)
    delegation = Account.sign_authorization(
        {"chainId": int(store.chain.call("eth_chainId"), 16), "address": code, "nonce": 0},
        payer.account.key,
    )
    written = {
        "chainId": hex(delegation.chain_id),
        "address": code,
        "nonce": hex(delegation.nonce),
        "yParity": hex(delegation.y_parity),
        "r": hex(delegation.r),
        "s": hex(delegation.s),
    }
    sent = store.chain.send(payer.address, authorizationList=[written], type="0x4")
    store.chain.wait(sent)
    assert store.chain.call("eth_getCode", payer.address, "latest").startswith("0xef0100")
    payment = created(store)
    body = signed(to_pay(payment, payer.account.address), payer)
    assert handed_in(payment, body).json()["status"] == "submitted"
    is_paid(store, payment, payer.address)
    is_refunded(store, payment, payer.address)


def test_what_a_contract_doesnt_call_its_own_or_checks_for_too_long_is_refused(
    store: Market,
) -> None:
    holder, other = Holder(store), Payer()
    payment = created(store)
    offer = to_pay(payment, holder.wallet)
    for body in (
        wrapped(signed(offer, other)),
        signed(offer, holder),  # its owner's own, which isn't the wallet's
        wrapped(signed(offer, holder, value="1")),
        wrapped(signed(offer, holder), DEAR),
        wrapped(signed(to_pay(payment, other.account.address), other)),  # an account is no contract
    ):
        answer = handed_in(payment, body)
        assert answer.status_code == 422 and answer.json()["error"] in ("failed", "changed")
    long = wrapped(signed(offer, holder), "00" * 1500)
    assert handed_in(payment, long).json() == {"error": "failed"}
    assert not SignedPayment.objects.exists() and not OutgoingTransaction.objects.exists()
    assert Payment.objects.get().status == "pending"
