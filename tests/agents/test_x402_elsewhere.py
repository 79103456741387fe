"""Anybody may submit a payer's signature. In each case the offer's own address has the coins: the
seller is notified once, and the payer doesn't pay twice."""

from contextlib import closing
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from apps.agents.models import SignedPayment
from apps.agents.services.x402_progress import advance_signed_payments, authorization_of
from apps.agents.states import SIGNED_OPEN
from apps.assets.models import Asset, Chain
from apps.assets.rates import refresh
from apps.assets.services import accept_all_active
from apps.chain.models import OutgoingTransaction
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.sending import carried_out, costs, sender
from apps.chain.sending.authorizations import Authorization, call_data
from apps.payments.models import Payment
from dev.demo import agents
from tests import make
from tests.agents.conftest import DOLLAR, ETHER, TOKEN, Market, Till
from tests.auditing import found_of
from tests.chain.local import LocalChain, program
from tests.chain.proxy import Proxy

pytestmark = pytest.mark.chain
USED = "invalid_exact_evm_nonce_already_used"
STRANGER = "0x" + "57" * 20
FASTER = {"maxFeePerGas": hex(10**11), "maxPriorityFeePerGas": hex(5 * 10**10)}
CANCEL = "0x5a049a70"


def authorization(body: dict[str, Any]) -> Authorization:
    payload = body["paymentPayload"]["payload"]
    signed = payload["authorization"]
    return Authorization(
        payer=signed["from"].lower(),
        to=signed["to"].lower(),
        amount_atomic=int(signed["value"]),
        valid_after=int(signed["validAfter"]),
        valid_before=int(signed["validBefore"]),
        nonce=signed["nonce"].lower(),
        signature=payload["signature"].lower(),
    )


def submit(market: Market, data: str, sender: str = STRANGER, **fields: str) -> str:
    """Somebody calls the token; the hash of the transaction."""
    for method, argument in (("anvil_impersonateAccount", None), ("anvil_setBalance", hex(ETHER))):
        market.chain.call(method, sender, *([argument] if argument else []))
    call = {"from": sender, "to": market.token, "data": data, "gas": hex(200_000), **fields}
    return str(market.chain.call("eth_sendTransaction", call))


def carry_out(market: Market, body: dict[str, Any], **fields: str) -> str:
    """A stranger submits what was signed."""
    return submit(market, call_data(authorization(body)), **fields)


def front_run(market: Market, body: dict[str, Any]) -> str:
    """The stranger's transaction and ours in one block, ours behind it."""
    market.settle(body)
    market.chain.call("evm_setAutomine", False)
    market.send()
    tx_hash = carry_out(market, body, **FASTER)
    market.chain.mine()
    market.chain.call("evm_setAutomine", True)
    return tx_hash


def completed(market: Market, asked: dict[str, Any]) -> str:
    detail = make.detail(market.api, asked["extra"]["paymentIntentId"])
    return str(detail["status"])


@pytest.mark.parametrize("is_read", [False, True])
def test_what_a_stranger_submitted_is_a_success_told_once(market: Market, is_read: bool) -> None:
    """Right after its block, and once the watcher has it."""
    asked = market.ask()
    body = market.payer.signed(asked)
    tx_hash = carry_out(market, body)
    if is_read:
        market.chain.mine()
        market.reader.read()
    assert market.verify(body) == {"isValid": True, "payer": market.payer.account.address}
    told = market.settle(body)
    assert (told["success"], told["transaction"], told["amount"]) == (True, tx_hash, "2500000")
    for _ in range(2):
        again = market.settle(body)
        assert (again["success"], again["errorReason"], again["transaction"]) == (
            False,
            USED,
            tx_hash,
        )
        assert market.verify(body)["invalidReason"] == USED
        market.bury()
    row = SignedPayment.objects.get()
    assert (row.status, row.tx_hash, row.is_elsewhere) == ("settled", tx_hash, True)
    assert list(row.steps.values_list("to_status", "note")) == [
        ("verified", ""),
        ("submitted", "Another transaction carried it out"),
        ("settled", "Another transaction carried it out"),
    ]
    assert completed(market, asked) == "completed" and market.held(asked["payTo"]) == 2_500_000
    assert not OutgoingTransaction.objects.filter(purpose="x402").exists()


def test_coins_that_came_long_before_anybody_was_told_are_found(market: Market) -> None:
    """Nobody watched the address: nothing was recorded of the offer."""
    asked = market.ask()
    body = market.payer.signed(asked)
    tx_hash = carry_out(market, body)
    market.chain.mine(60)
    market.reader.read()
    assert market.verify(body)["isValid"] and not Payment.objects.exists()
    told = market.settle(body)
    assert (told["success"], told["transaction"]) == (True, tx_hash)
    assert market.settle(body)["errorReason"] == USED
    market.bury()
    assert completed(market, asked) == "completed"
    assert SignedPayment.objects.get().status == "settled"


def test_the_end_of_its_time_and_an_empty_wallet_change_nothing(market: Market) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    tx_hash = carry_out(market, body)
    submit(market, f"0xa9059cbb{'7' * 40:0>64}{97_500_000:064x}", market.payer.address)
    make.advance(market.api, 2 * 3600)
    told = market.settle(body)
    assert (told["success"], told["transaction"]) == (True, tx_hash)
    market.bury()
    assert completed(market, asked) == "completed"


def test_our_transaction_that_was_overtaken_is_a_success_of_the_other(market: Market) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    tx_hash = front_run(market, body)
    told = market.settle(body)
    assert (told["success"], told["transaction"]) == (True, tx_hash)
    market.bury()
    row, sent = SignedPayment.objects.get(), OutgoingTransaction.objects.get(purpose="x402")
    assert (row.status, row.tx_hash, sent.status) == ("settled", tx_hash, "failed")
    assert sent.network_fee_atomic > 0 and sent.handled_status == "failed"
    assert completed(market, asked) == "completed" and market.settle(body)["errorReason"] == USED


def test_one_that_was_overtaken_while_nobody_waited_isnt_called_failed(market: Market) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    tx_hash = front_run(market, body)
    market.bury()
    advance_signed_payments()
    row = SignedPayment.objects.get()
    assert (row.status, row.tx_hash, row.failure_reason) == ("settled", tx_hash, "")
    assert market.settle(body)["success"] and market.settle(body)["errorReason"] == USED


def test_one_that_the_signer_refused_because_it_was_carried_out_isnt_called_failed(
    market: Market,
) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    market.settle(body)
    tx_hash = carry_out(market, body)
    market.send()
    advance_signed_payments()
    assert market.settle(body)["success"]
    market.bury()
    row = SignedPayment.objects.get()
    assert (row.status, row.tx_hash) == ("settled", tx_hash)


def test_one_that_failed_is_carried_out_by_somebody_else_later(market: Market) -> None:
    """The payer's coins were gone, and are back before the authorization ends."""
    asked = market.ask()
    body = market.payer.signed(asked)
    market.settle(body)
    submit(market, f"0xa9059cbb{'7' * 40:0>64}{100 * DOLLAR:064x}", market.payer.address)
    market.send()
    advance_signed_payments()
    assert market.settle(body)["errorReason"] == "transaction_failed"
    market.chain.mint(market.token, market.payer.address, 100 * DOLLAR)
    tx_hash = carry_out(market, body)
    told = market.settle(body)
    assert (told["success"], told["transaction"]) == (True, tx_hash)
    market.bury()
    assert SignedPayment.objects.get().status == "settled"


def test_a_block_that_is_taken_back_leaves_the_rest_to_us(market: Market) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    market.chain.call("evm_setAutomine", False)
    carry_out(market, body)
    market.chain.mine()
    market.chain.call("evm_setAutomine", True)
    assert market.settle(body)["success"]
    market.chain.reorg(1)
    assert market.held(asked["payTo"]) == 0
    advance_signed_payments()
    market.send()
    market.bury()
    row = SignedPayment.objects.get()
    assert (row.status, row.is_elsewhere, market.held(asked["payTo"])) == (
        "settled",
        False,
        2_500_000,
    )
    assert row.tx_hash == OutgoingTransaction.objects.get(purpose="x402").tx_hash


@pytest.mark.parametrize(
    ("method", "answer"), [("eth_getLogs", []), ("eth_getTransactionReceipt", None)]
)
def test_what_a_node_leaves_out_is_waited_for(
    market: Market, settings: Any, method: str, answer: object
) -> None:
    """Ours was overtaken, the watcher is behind, and the node doesn't say by whom."""
    asked = market.ask()
    body = market.payer.signed(asked)
    tx_hash = front_run(market, body)
    market.chain.mine(Chain.objects.get(pk="sepolia").required_confirmations)
    sender.run_due()
    assert OutgoingTransaction.objects.get(purpose="x402").status == "failed"
    row, asset = SignedPayment.objects.get(), Asset.objects.get(pk=TOKEN)
    with closing(Proxy(market.chain.url)) as proxy:
        settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [proxy.url]}
        proxy.lie(method, lambda _: answer)
        with (
            closing(nodes_of(Chain.objects.get(pk="sepolia"))) as nodes,
            pytest.raises(RpcError, match=r"to come|hasn't been read"),
        ):
            carried_out.transaction_of(asset, authorization_of(row), nodes)
        for _ in range(2):
            advance_signed_payments()
            row.refresh_from_db()
            assert row.status in SIGNED_OPEN and not row.failure_reason
        settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [market.chain.url]}
    market.bury()
    advance_signed_payments()
    row.refresh_from_db()
    assert (row.status, row.tx_hash) == ("settled", tx_hash)


def test_a_nonce_that_brought_the_offer_nothing_stays_refused(market: Market) -> None:
    """Called off, or used for another amount or recipient: nobody has paid."""
    asked = market.ask()
    body = market.payer.signed(asked)
    signed = dict(body["paymentPayload"]["payload"]["authorization"])
    for changes in ({"value": "1"}, {"to": "0x" + "77" * 20}):
        other = market.payer.signed(asked)
        mine = dict(other["paymentPayload"]["payload"]["authorization"])
        changed = {**mine, **changes}
        signature = market.payer.sign_again(asked, changed)
        payload = {"authorization": changed, "signature": signature}
        carry_out(market, {"paymentPayload": {"payload": payload}})
        assert market.settle(other)["errorReason"] == USED
        assert market.verify(other)["invalidReason"] == USED
    assert signed["to"].lower() == asked["payTo"].lower()
    assert not SignedPayment.objects.exists() and market.settle(body)["errorReason"] != USED


def test_a_planted_success_of_another_transaction_is_found(market: Market) -> None:
    body = market.payer.signed(market.ask())
    carry_out(market, body)
    market.settle(body)
    market.bury()
    name = "signed_payments_sent_once"
    assert not found_of(name)
    row = SignedPayment.objects.get()
    SignedPayment.objects.update(tx_hash="0x" + "1" * 64)
    assert found_of(name)
    SignedPayment.objects.update(tx_hash=row.tx_hash)


def test_the_smallest_amount_is_told_and_less_is_refused(market: Market) -> None:
    [kind] = market.api.get("/x402/supported").json()["kinds"]
    assert {one["minAmount"] for one in kind["extra"]["assets"]} == {"1"}
    assert Asset.objects.get(pk=TOKEN).mode == "test"


def test_what_costs_more_than_it_brings_is_not_offered_in_live_mode(
    till: Till, settings: Any
) -> None:
    """By the price of gas that the node tells, and a quarter more."""
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    with closing(LocalChain(anvil, chain_id=1)) as chain:
        settings.CHAIN_URLS = {"ethereum": [chain.url]}
        domain = {"eip712_name": "USD Coin", "eip712_version": "1"}
        coin = {"contract_address": till.token, "is_active": True, **domain}
        Asset.objects.filter(pk="ETH_USDC").update(**coin)
        accept_all_active(till.shop.store)
        refresh()
        api = till.shop.live
        [kind] = api.get("/x402/supported").json()["kinds"]
        least = int(kind["extra"]["assets"][0]["minAmount"])
        cost = costs.fee(Asset.objects.get(pk="ETH_USDC"))
        assert cost is not None and least == -(-cost * 125 // 100) > 1
        # Gas is dearest on a chain that has just started, as a new demo's.
        assert least < int(agents.PRICE_ATOMIC)
        body = {"asset_id": "ETH_USDC", "resource": "https://shop.example/report"}
        refused = api.post("/x402/requirements", {**body, "amount_atomic": str(least - 1)})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "amount_too_small")
        assert "at least" in refused.json()["error"]["message"]
        assert not Payment.objects.exists()
        made = api.post("/x402/requirements", {**body, "amount_atomic": str(least)})
        assert made.status_code == 201 and made.json()["amount"] == str(least)


def test_success_of_anothers_transaction_names_it(market: Market) -> None:
    body = market.payer.signed(market.ask())
    carry_out(market, body)
    market.settle(body)
    rows = SignedPayment.objects.filter(is_elsewhere=True)
    assert rows.count() == 1
    with (
        pytest.raises(IntegrityError, match="signed_payment_elsewhere_is_named"),
        transaction.atomic(),
    ):
        rows.update(tx_hash="")
