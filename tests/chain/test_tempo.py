"""Tempo, whose fees are taken in a stablecoin: deposits that a reorganization moves, their sweeps,
payouts and refunds, in the coin that pays fees and in another one, and books that agree with the
chain."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command

from apps.assets.models import Asset, Chain
from apps.assets.rates import refresh
from apps.assets.services import accept_all_active
from apps.chain.activation import change_asset
from apps.chain.encoding import listed
from apps.chain.keys import keystores
from apps.chain.models import Address, Deposit, OutgoingTransaction
from apps.chain.node_checks import check_node
from apps.chain.sending import sender, signing_rounds, sweeper
from apps.chain.watching.watcher import Watcher
from apps.core import clock
from apps.core.money import amount_text
from apps.payments.models import Payment, PaymentAddress, Refund
from apps.payments.services.refund_progress import advance_refunds
from apps.payments.services.settle import settle_deposits
from apps.payments.services.sweep_books import book_sweeps
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from tests import auditing, make
from tests.cast import Shop
from tests.chain.local import LocalChain, program
from tests.chain.test_every_chain import rules

pytestmark = pytest.mark.chain
DOLLAR = 10**6
# The node's own tokens; on the public network USDC.e and USDT0 are of the same kind.
CONTRACTS = {
    "TEMPO_USDC": "0x20c0000000000000000000000000000000000001",
    "TEMPO_USDT": "0x20c0000000000000000000000000000000000002",
}
# The first token of every network of this kind, at the catalog's address.
PATHS = {"tempo": "TEMPO_PATH", "tempo_moderato": "MOD_PATH"}
# What a node shows may still be replaced by a block more.
DEPTH = 1


class Tempo:
    def __init__(self, local: LocalChain, network: str) -> None:
        self.local = local
        self.chain = Chain.objects.get(pk=network)
        self.hot = keystores.hot_key(self.chain.mode).address
        self.watcher = Watcher(network)
        self.contracts = dict(
            Asset.objects.filter(chain=self.chain, is_active=True).values_list(
                "pk", "contract_address"
            )
        )

    def read(self) -> None:
        while self.watcher.step():
            pass

    def arrives(self) -> None:
        self.local.mine(self.chain.required_confirmations)
        self.read()
        settle_deposits()

    def work(self) -> None:
        """Run the worker's and the signer's jobs, with enough blocks on top."""
        advance_payouts()
        advance_refunds()
        signing_rounds.sign_due()
        sender.run_due()
        self.arrives()
        sender.run_due()
        book_sweeps()
        advance_payouts()
        advance_refunds()

    def held(self, asset_id: str, address: str) -> int:
        call = {"to": self.contracts[asset_id], "data": f"0x70a08231{address[2:]:0>64}"}
        return int(self.local.call("eth_call", call, "latest"), 16)

    def is_reorganized(self, asset_id: str) -> None:
        [raw] = [self.local.raw(tx) for tx in self.local.block(self.local.height)["transactions"]]
        self.local.mine(DEPTH - 1)
        self.read()
        seen = Deposit.objects.get(asset=asset_id)
        self.local.reorg(DEPTH)
        self.read()
        settle_deposits()
        seen.refresh_from_db()
        assert (seen.status, seen.is_lost) == ("failed", False)
        self.local.wait(str(self.local.call("eth_sendRawTransaction", raw)))
        self.read()
        seen.refresh_from_db()
        assert seen.status == "confirming"


@pytest.fixture
def tempo(db: None, settings: Any, request: pytest.FixtureRequest) -> Iterator[Tempo]:
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    network = getattr(request, "param", "tempo")
    number = Chain.objects.get(pk=network).chain_id
    local = LocalChain(anvil, *rules(network), chain_id=number)
    settings.CHAIN_URLS = {network: [local.url]}
    settings.CHAIN_START_BLOCKS = {network: 0}
    signing_rounds.introduce()
    refresh()
    if network == "tempo":
        for asset_id, contract in CONTRACTS.items():
            change_asset(asset_id, contract_address=contract, is_active=True)
    change_asset(PATHS[network], is_active=True)
    found = Tempo(local, network)
    found.read()
    yield found
    found.watcher.close()
    local.close()


@pytest.mark.parametrize(
    ("tempo", "asset_id"),
    [
        *(("tempo", asset_id) for asset_id in (*sorted(CONTRACTS), "TEMPO_PATH")),
        ("tempo_moderato", "MOD_PATH"),
    ],
    indirect=["tempo"],
)
def test_deposit_sweep_payout_refund_and_books(asset_id: str, tempo: Tempo, bakery: Shop) -> None:
    accept_all_active(bakery.store)
    asset = Asset.objects.get(pk=asset_id)
    shop = bakery.live if tempo.chain.mode == "live" else bakery.test
    fees = Asset.objects.get(chain=tempo.chain, pays_fees=True).pk
    funding = tempo.local.transfer(tempo.contracts[fees], tempo.hot, 50 * DOLLAR)
    tempo.arrives()
    call_command(
        *("treasury", "fund", "--network", tempo.chain.pk),
        *("--hash", funding, "--staff", make.clerk().email),
    )

    payment = make.payment(shop, amount="500.00")
    entry = PaymentAddress.objects.get(payment_id=payment["id"], asset=asset)
    tempo.local.transfer(tempo.contracts[asset_id], entry.address_id, entry.required_atomic)
    tempo.is_reorganized(asset_id)
    tempo.arrives()
    assert Deposit.objects.get(asset=asset).status == "confirmed"
    assert Payment.objects.get(pk=payment["id"]).status == "completed"

    Address.objects.update(watch_balance_until=clock.real_now() - timedelta(seconds=1))
    counts = sweeper.sweep_due()
    assert (counts.sweeps, counts.gas_transfers) == (1, 0 if asset.pays_fees else 1)
    tempo.work()
    tempo.work()
    sweep = OutgoingTransaction.objects.get(purpose="sweep")
    left = entry.required_atomic - sweep.amount_atomic
    assert (sweep.status, left > 0) == ("confirmed", asset.pays_fees)
    left -= sweep.network_fee_atomic if asset.pays_fees else 0
    assert tempo.held(asset_id, entry.address_id) == left < DOLLAR // 100

    paid_to, refunded_to = make.fresh_address(), make.fresh_address()
    answer = make.ask_payout(shop, str(20 * DOLLAR), asset_id=asset_id, destination_address=paid_to)
    assert answer.status_code == 201, answer.content
    answer_id = answer.json()["id"]
    refund = {"asset_id": asset_id, "amount": "10.00", "destination_address": refunded_to}
    answer = shop.post(f"/payments/{payment['id']}/refunds", {"refund": refund}, key="refund")
    assert answer.status_code == 201, answer.content
    tempo.work()
    assert {Payout.objects.get().status, Refund.objects.get().status} == {"confirmed"}
    paid = shop.get(f"/payouts/{answer_id}").json()
    fee = int(Payout.objects.get().network_fee_atomic or 0)
    assert paid["network_fee_decimal"] == amount_text(fee, 6)
    assert tempo.held(asset_id, paid_to) == 20 * DOLLAR
    assert tempo.held(asset_id, refunded_to) == int(Refund.objects.get().amount_atomic)

    assert not OutgoingTransaction.objects.exclude(status="confirmed").exists()
    assert auditing.breaches(check_chain=True) == []


def test_what_was_paid_is_what_a_receipt_says_rounded_up(tempo: Tempo, bakery: Shop) -> None:
    accept_all_active(bakery.store)
    for asset_id in CONTRACTS:
        tempo.local.transfer(CONTRACTS[asset_id], tempo.hot, 50 * DOLLAR)
        make.store_coins(bakery.store, asset_id, 50 * DOLLAR)
        make.ask_payout(bakery.live, str(7 * DOLLAR), asset_id=asset_id, key=asset_id)
    tempo.work()
    rows = OutgoingTransaction.objects.all()
    assert [row.status for row in rows] == ["confirmed", "confirmed"]
    for row in rows:
        receipt = tempo.local.call("eth_getTransactionReceipt", row.tx_hash)
        price = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
        assert receipt["type"] == "0x76"
        assert row.network_fee_atomic == -(-price // 10**12) > 0
    fees = sum(row.network_fee_atomic for row in rows)
    assert tempo.held("TEMPO_USDC", tempo.hot) == 43 * DOLLAR - fees
    assert tempo.held("TEMPO_USDT", tempo.hot) == 43 * DOLLAR
    assert auditing.breaches(check_chain=True) == []


def test_what_a_node_tells_of_our_transactions_is_compared_with_its_block(
    tempo: Tempo, bakery: Shop
) -> None:
    accept_all_active(bakery.store)
    tempo.local.transfer(CONTRACTS["TEMPO_USDC"], tempo.hot, 50 * DOLLAR)
    make.store_coins(bakery.store, "TEMPO_USDC", 50 * DOLLAR)
    make.ask_payout(bakery.live, str(7 * DOLLAR), asset_id="TEMPO_USDC")
    tempo.work()
    receipt = tempo.local.call(
        "eth_getTransactionReceipt", OutgoingTransaction.objects.get().tx_hash
    )
    block = tempo.local.call("eth_getBlockByNumber", receipt["blockNumber"], True)
    [told] = block["transactions"]
    assert listed.transactions_root([told]) == block["transactionsRoot"]
    assert listed.is_certain(told) and listed.is_own(told)
    call = {**told["calls"][0], "value": "0x1"}
    assert not listed.is_own({**told, "calls": [call]})
    with pytest.raises(ValueError, match="more than an account's own"):
        listed.hash_of({**told, "feePayerSignature": {"yParity": "0x0"}})


def test_a_wallet_without_the_coin_of_fees_waits_for_it(tempo: Tempo, bakery: Shop) -> None:
    """A balance that a node tells of the network's own coin pays for nothing."""
    accept_all_active(bakery.store)
    tempo.local.call("anvil_setBalance", tempo.hot, hex(10**18))
    tempo.local.transfer(CONTRACTS["TEMPO_USDT"], tempo.hot, 50 * DOLLAR)
    make.store_coins(bakery.store, "TEMPO_USDT", 50 * DOLLAR)
    make.ask_payout(bakery.live, str(7 * DOLLAR), asset_id="TEMPO_USDT")
    tempo.work()
    row = OutgoingTransaction.objects.get()
    assert (row.status, row.waits_for) == ("requested", "funds")
    tempo.local.transfer(CONTRACTS["TEMPO_USDC"], tempo.hot, DOLLAR)
    make.service_coins("TEMPO_USDC", DOLLAR)
    OutgoingTransaction.objects.update(not_before=None)
    tempo.work()
    row.refresh_from_db()
    assert row.status == "confirmed"
    assert auditing.breaches(check_chain=True) == []


def test_what_is_stuck_is_signed_again_at_its_nonce(
    tempo: Tempo, bakery: Shop, settings: Any
) -> None:
    accept_all_active(bakery.store)
    tempo.local.transfer(CONTRACTS["TEMPO_USDC"], tempo.hot, 50 * DOLLAR)
    make.store_coins(bakery.store, "TEMPO_USDC", 50 * DOLLAR)
    make.ask_payout(bakery.live, str(7 * DOLLAR), asset_id="TEMPO_USDC")
    advance_payouts()
    tempo.local.call("evm_setAutomine", False)
    signing_rounds.sign_due()
    sender.run_due()
    settings.SIGNER_STUCK_SECONDS = 0
    signing_rounds.sign_due()
    row = OutgoingTransaction.objects.get()
    first, second = row.candidates.order_by("pk")
    assert second.max_fee_wei > first.max_fee_wei and row.tx_hash == second.tx_hash
    sender.run_due()
    tempo.local.call("evm_setAutomine", True)
    settings.SIGNER_STUCK_SECONDS = 180
    tempo.work()
    row.refresh_from_db()
    assert (row.status, row.tx_hash) == ("confirmed", second.tx_hash)
    assert auditing.breaches(check_chain=True) == []


def test_sweeps_do_not_go_in_batches_by_delegation(tempo: Tempo, bakery: Shop) -> None:
    accept_all_active(bakery.store)
    found = {one.ability: one for one in check_node(tempo.chain, tempo.local.url)}
    batches = found["sweeps in batches"]
    assert batches.verdict == "instead"
    assert batches.text.startswith("it takes fees in a token, by transactions of its own")
    tempo.local.transfer(CONTRACTS["TEMPO_USDC"], tempo.hot, 50 * DOLLAR)
    make.service_coins("TEMPO_USDC", 50 * DOLLAR)
    for _ in range(2):
        payment = make.payment(bakery.live, amount="500.00")
        entry = PaymentAddress.objects.get(payment_id=payment["id"], asset="TEMPO_USDT")
        tempo.local.transfer(CONTRACTS["TEMPO_USDT"], entry.address_id, entry.required_atomic)
    tempo.arrives()
    assert sweeper.sweep_due() == sweeper.SweepCounts(sweeps=2, gas_transfers=2)
    tempo.work()
    tempo.work()
    sweeps = OutgoingTransaction.objects.filter(purpose="sweep")
    assert {row.status for row in sweeps} == {"confirmed"}
    assert auditing.breaches(check_chain=True) == []
