"""Signed payments meet the chain's accidents: a block is lost, coins are gone when the call is
mined."""

from datetime import timedelta

import pytest

from apps.agents.models import SignedPayment
from apps.chain.models import OutgoingTransaction, SignedTransaction
from apps.core import clock
from apps.ledger.models import Movement
from apps.payments.models import Payment
from tests.agents.conftest import DOLLAR, ETHER, Market

pytestmark = pytest.mark.chain


def test_a_transfer_that_a_reorg_took_away_is_sent_again_as_it_was(market: Market) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    market.settle(body)
    market.send()
    first = market.settle(body)
    assert first["success"] and market.held(asked["payTo"]) == 2_500_000
    market.chain.reorg(1)
    assert market.held(asked["payTo"]) == 0
    SignedTransaction.objects.update(broadcast_at=clock.real_now() - timedelta(minutes=1))
    market.send()
    market.bury()
    row = SignedPayment.objects.get()
    assert (row.status, row.tx_hash, market.held(asked["payTo"])) == (
        "settled",
        first["transaction"],
        2_500_000,
    )
    assert (
        OutgoingTransaction.objects.filter(purpose="x402").count() == 1
        and Payment.objects.get().status == "completed"
    )


def test_a_call_that_is_reverted_costs_us_its_gas_and_the_payer_nothing(market: Market) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    payer = market.payer.address
    market.settle(body)
    for method, argument in (("anvil_impersonateAccount", None), ("anvil_setBalance", hex(ETHER))):
        market.chain.call(method, payer, *([argument] if argument else []))
    market.chain.call("evm_setAutomine", False)
    market.send()
    faster = {
        "maxFeePerGas": hex(10**11),
        "maxPriorityFeePerGas": hex(5 * 10**10),
        "gas": hex(200_000),
    }
    data = "0xa9059cbb" + f"{'7' * 40:0>64}" + f"{100 * DOLLAR:064x}"
    market.chain.call(
        "eth_sendTransaction", {"from": payer, "to": market.token, "data": data, **faster}
    )
    market.chain.mine()
    market.chain.call("evm_setAutomine", True)
    assert market.settle(body)["errorReason"] == "settlement_pending"
    market.bury()
    row = SignedPayment.objects.get()
    sent = OutgoingTransaction.objects.get(purpose="x402")
    assert (row.status, row.failure_reason, sent.status) == (
        "failed",
        "The chain reverted it",
        "failed",
    )
    assert (
        sent.network_fee_atomic > 0 and Movement.objects.filter(kind="x402_gas_paid").count() == 1
    )
    assert (
        market.settle(body)["errorReason"] == "transaction_failed"
        and Payment.objects.get().status == "pending"
    )
