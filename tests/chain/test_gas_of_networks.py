"""Limits of gas are the node's own: where a network counts more than 21,000 for a transfer, where
a node refuses what was signed, and where one address can't be estimated."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from eth_account.typed_transactions import TypedTransaction
from hexbytes import HexBytes
from structlog.testing import capture_logs

from apps.assets.rates import refresh
from apps.assets.services import accept_all_active
from apps.chain.activation import change_asset
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.evm import op_fees
from apps.chain.nodes import nodes_of
from apps.chain.sending import costs, sender, signing_rounds, sweeper
from apps.chain.sending.transfer_gas import transfer_gas
from apps.payments.models import PaymentAddress
from apps.payouts.services.progress import advance_payouts
from tests import make
from tests.cast import Shop
from tests.chain.local import LocalChain, program
from tests.chain.proxy import Proxy
from tests.chain.test_every_chain import ETHER, IDS, TOKENS, Place, tell_the_story

pytestmark = pytest.mark.chain
SEND, ESTIMATE = "eth_sendRawTransaction", "eth_estimateGas"
POSTER = 60_000
OP_STACK = ("base", "optimism")


def signed_fields(raw: str) -> dict[str, Any]:
    return dict(TypedTransaction.from_bytes(HexBytes(raw)).as_dict())


class Poster:
    """Gas rules of a node of Arbitrum: the bytes' cost on Ethereum is in the estimate, and less
    than that is refused."""

    def __init__(self, proxy: Proxy) -> None:
        self.gas = POSTER
        self.refused = 0
        proxy.lie(ESTIMATE, lambda told: hex(int(told, 16) + self.gas))
        proxy.refusal_of = self._refusal

    def _refusal(self, method: str, given: list[Any]) -> tuple[int, str] | None:
        if method != SEND or signed_fields(given[0])["gas"] >= 21_000 + self.gas:
            return None
        self.refused += 1
        return -32000, "intrinsic gas too low"


@pytest.fixture(params=["arbitrum"])
def network(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def local(network: str) -> Iterator[LocalChain]:
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    options = ["--optimism"] if network in OP_STACK else []
    found = LocalChain(anvil, *options, chain_id=IDS[network])
    yield found
    found.close()


@pytest.fixture
def proxy(local: LocalChain) -> Iterator[Proxy]:
    between = Proxy(local.url)
    yield between
    between.close()


@pytest.fixture
def place(
    network: str, local: LocalChain, proxy: Proxy, db: None, settings: Any
) -> Iterator[Place]:
    settings.CHAIN_URLS = {network: [proxy.url]}
    settings.CHAIN_START_BLOCKS = {network: 0}
    signing_rounds.introduce()
    refresh()
    change_asset(
        TOKENS[network],
        contract_address=local.deploy_token(),
        is_active=True,
        required_confirmations=8,
    )
    found = Place(network, local)
    found.read()
    yield found
    found.watcher.close()


def fresh(row: OutgoingTransaction) -> OutgoingTransaction:
    return OutgoingTransaction.objects.get(pk=row.pk)


def ask(place: Place, shop: Shop) -> OutgoingTransaction:
    """A payout of the network's own coin, which the hot wallet has."""
    change_asset(place.native.pk, is_active=True)
    accept_all_active(shop.store)
    place.local.call("anvil_setBalance", place.hot, hex(ETHER))
    make.store_coins(shop.store, place.native.pk, ETHER)
    answer = make.ask_payout(shop.live, str(ETHER // 100), asset_id=place.native.pk)
    assert answer.status_code == 201, answer.content
    advance_payouts()
    return OutgoingTransaction.objects.get()


def candidates(row: OutgoingTransaction) -> list[dict[str, Any]]:
    return [signed_fields(item.raw) for item in row.candidates.all()]


def test_where_bytes_take_gas_everything_leaves(place: Place, proxy: Proxy, bakery: Shop) -> None:
    poster = Poster(proxy)
    tell_the_story(place, bakery)
    assert poster.refused == 0


class TestWhatANodeRefuses:
    def test_for_its_form_is_signed_again_with_a_higher_limit_and_no_higher_price(
        self, place: Place, proxy: Proxy, bakery: Shop
    ) -> None:
        poster = Poster(proxy)
        row = ask(place, bakery)
        signing_rounds.sign_due()
        poster.gas *= 3
        with capture_logs() as logs:
            sender.run_due()
            place.work()
        first, second = candidates(row)
        assert fresh(row).status == "confirmed"
        assert second["nonce"] == first["nonce"]
        assert second["gas"] > first["gas"] and second["gas"] == fresh(row).gas_limit
        assert second["maxFeePerGas"] <= first["maxFeePerGas"]
        assert [line["error"] for line in logs if line["event"] == "broadcast_refused"] == [
            "arbitrum node 1: intrinsic gas too low"
        ]
        assert not [line for line in logs if line["event"] == "broadcast_refused_again"]

    def test_twice_calls_somebody_in_the_nodes_words(
        self, place: Place, proxy: Proxy, bakery: Shop
    ) -> None:
        row = ask(place, bakery)
        proxy.refused_with[SEND] = -32000, "intrinsic gas too low: needs a moon"
        with capture_logs() as logs:
            for _ in range(3):
                place.work()
        told = [line for line in logs if line["event"] == "broadcast_refused_again"]
        assert [(line["log_level"], line["outgoing"]) for line in told] == [("error", str(row.pk))]
        assert "needs a moon" in told[0]["error"]
        proxy.refused_with.clear()
        place.work()
        assert fresh(row).status == "confirmed"

    def test_for_funds_is_signed_again_with_what_the_wallet_can_pay(
        self, place: Place, proxy: Proxy, bakery: Shop
    ) -> None:
        row = ask(place, bakery)
        signing_rounds.sign_due()
        [before] = candidates(row)
        held = row.amount_atomic + before["gas"] * before["maxFeePerGas"] * 9 // 10
        place.local.call("anvil_setBalance", place.hot, hex(held))
        place.work()
        place.work()
        [_, after] = candidates(row)
        assert after["nonce"] == before["nonce"]
        assert after["maxFeePerGas"] < before["maxFeePerGas"]
        assert fresh(row).status == "confirmed"

    def test_one_address_that_cannot_be_estimated_keeps_no_other(
        self, place: Place, proxy: Proxy, bakery: Shop
    ) -> None:
        accept_all_active(bakery.store)
        place.local.call("anvil_setBalance", place.hot, hex(5 * ETHER))
        make.service_coins(place.native.pk, 5 * ETHER)
        addresses = []
        for _ in range(3):
            payment = make.payment(bakery.live, amount="500.00")
            entry = PaymentAddress.objects.get(payment_id=payment["id"], asset=place.token)
            contract = str(place.token.contract_address)
            place.local.mint(contract, entry.address_id, entry.required_atomic)
            addresses.append(entry.address_id)
        place.arrives()
        assert sweeper.sweep_due() == sweeper.SweepCounts(sweeps=3, gas_transfers=3)
        signing_rounds.sign_due()
        sender.run_due()
        place.arrives()
        sender.run_due()
        sick = addresses[0]
        proxy.refusal_of = lambda method, given: (
            (-32000, "the state of that account is away")
            if method == ESTIMATE and given[0].get("from") == sick
            else None
        )
        place.work()
        sweeps = OutgoingTransaction.objects.filter(purpose="sweep")
        assert [row.status for row in sweeps.filter(from_address=sick)] == ["requested"]
        assert {row.status for row in sweeps.exclude(from_address=sick)} == {"confirmed"}


# --- networks of the OP stack ---------------------------------------------------------------------

L1_BLOCK = "0x4200000000000000000000000000000000000015"


def cost(local: LocalChain, base_fee: int, blob_fee: int, operator: tuple[int, int]) -> None:
    """From the next block on Ethereum's bytes and the operator cost so much, with the scalars of
    Base."""
    words = {1: base_fee, 3: (2269 << 96) | (1055762 << 64), 7: blob_fee}
    words[8] = (operator[0] << 64) | operator[1]
    for place, word in words.items():
        local.call("anvil_setStorageAt", L1_BLOCK, f"0x{place:064x}", f"0x{word:064x}")
    local.mine()


def says_fees(local: LocalChain, proxy: Proxy) -> None:
    """The node's receipts say what it took beside gas, as those of op-geth and Hardhat do."""

    def tell(method: str, given: list[Any], told: Any) -> Any:
        if method == "eth_getBlockReceipts":
            return [with_fees(receipt) for receipt in told]
        return with_fees(told) if method == "eth_getTransactionReceipt" and told else told

    def with_fees(receipt: dict[str, Any]) -> dict[str, Any]:
        block = receipt["blockNumber"]
        prices = op_fees.read([local.call(*call[:1], *call[1]) for call in op_fees.calls(block)])
        share = prices.share(bytes.fromhex(local.raw(receipt["transactionHash"])[2:]))
        operator = {
            "operatorFeeScalar": hex(prices.operator_scalar),
            "operatorFeeConstant": hex(prices.operator_constant),
        }
        return {**receipt, "l1Fee": hex(share), **operator}

    proxy.changes.append(tell)


@pytest.mark.parametrize("network", OP_STACK, indirect=True)
@pytest.mark.parametrize("is_said", [False, True])
def test_what_is_taken_beside_gas_is_booked_to_the_last_unit_whether_receipts_say_it_or_not(
    place: Place, proxy: Proxy, bakery: Shop, is_said: bool
) -> None:
    cost(place.local, 30 * 10**9, 10**9, (5_000, 777))
    if is_said:
        says_fees(place.local, proxy)
    tell_the_story(place, bakery)
    sent = OutgoingTransaction.objects.exclude(purpose="sweep")
    spent = sum(row.network_fee_atomic for row in sent)
    gave = sum(row.amount_atomic for row in sent if row.asset_id == place.native.pk)
    held = int(place.local.call("eth_getBalance", place.hot, "latest"), 16)
    assert spent == 5 * ETHER - gave - held
    assert spent > sent.count() * 214_488_200_000  # Ethereum's share, of the smallest


@pytest.mark.parametrize("network", ["base"], indirect=True)
class TestARiseOfEthereumsFees:
    def test_after_the_signature_waits_for_coins_and_is_not_made_dearer(
        self, place: Place, proxy: Proxy, bakery: Shop
    ) -> None:
        row = ask(place, bakery)
        signing_rounds.sign_due()
        [signed] = candidates(row)
        gas = signed["gas"] * signed["maxFeePerGas"]
        place.local.call("anvil_setBalance", place.hot, hex(row.amount_atomic + gas))
        cost(place.local, 10**15, 20 * 10**9, (0, 0))
        # anvil takes what can't be paid and never mines it; op-geth and Hardhat refuse it.
        proxy.refused_with[SEND] = -32000, "insufficient funds for gas * price + value"
        for _ in range(3):
            place.work()
        again = candidates(row)
        assert all(item["maxFeePerGas"] <= signed["maxFeePerGas"] for item in again)
        assert fresh(row).status == "signed"
        cost(place.local, 10**9, 10**9, (0, 0))
        proxy.refused_with.clear()
        OutgoingTransaction.objects.get().candidates.update(broadcast_at=None)
        place.work()
        place.work()
        assert fresh(row).status == "confirmed"

    def test_is_in_what_a_wallet_can_afford_and_in_what_a_merchant_is_told(
        self, place: Place, bakery: Shop
    ) -> None:
        row = ask(place, bakery)
        before = costs.fee(place.native)
        free = sender.free(place.chain.pk, place.native.pk)
        cost(place.local, 10**15, 20 * 10**9, (0, 0))
        costs._prices.clear()
        after = costs.fee(place.native)
        with closing(nodes_of(place.chain)) as nodes:
            share = transfer_gas(place.chain, nodes).beside_wei
        assert before is not None and after is not None
        assert after - before > share * 9 // 10 > 10**15
        assert free - sender.free(place.chain.pk, place.native.pk) > share * 9 // 10
        gas = 21_000 * 10**10
        place.local.call("anvil_setBalance", place.hot, hex(row.amount_atomic + gas))
        signing_rounds.sign_due()
        assert (fresh(row).status, fresh(row).waits_for) == ("requested", "funds")
