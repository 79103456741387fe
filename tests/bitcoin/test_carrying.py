"""Transactions on a real network: sent, mined, replaced, lifted, and taken back."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from apps.assets.models import Chain
from apps.chain.networks.base import Coin, CoinPlace, Order, Rates
from apps.chain.networks.bitcoin.carrier import BitcoinCarrier
from apps.chain.networks.bitcoin.parameters import LITECOIN_REGTEST
from apps.chain.networks.bitcoin.reader import BitcoinReader
from tests.bitcoin.node import Litecoin
from tests.bitcoin.wallet import OurWallet

pytestmark = pytest.mark.litecoin
COIN = 100_000_000
CHAIN = Chain(chain_id=LITECOIN_REGTEST.network_number)
_numbers = iter(range(100, 2**20))


@pytest.fixture
def wallet() -> OurWallet:
    return OurWallet(next(_numbers))


@pytest.fixture
def carrier(litecoin: Litecoin) -> Iterator[BitcoinCarrier]:
    carrying = BitcoinCarrier(CHAIN, litecoin.nodes())
    yield carrying
    carrying.close()


def fund(node: Litecoin, wallet: OurWallet, *amounts: str) -> list[Coin]:
    """Coins of ours in a block, at addresses of their own."""
    hashes = {}
    for number, amount in enumerate(amounts, 1):
        address = wallet.address(number)
        hashes[address] = node.pay(address, amount)
    node.mine()
    reader = BitcoinReader(CHAIN, node.nodes())
    [block] = reader.blocks([node.height], ())
    reader.close()
    return [
        Coin(CoinPlace(each.tx_hash, each.log_index), each.to_address, each.amount_atomic)
        for each in block.transfers
        if each.to_address in hashes
    ]


def others(node: Litecoin, *amounts: int) -> list[Order]:
    return [
        Order(f"order {number}", node.faucet("getnewaddress"), amount)
        for number, amount in enumerate(amounts)
    ]


def test_forty_orders_are_paid_by_one_transaction(
    litecoin: Litecoin, carrier: BitcoinCarrier, wallet: OurWallet
) -> None:
    coins = fund(litecoin, wallet, "1.5", "2.5", "0.75")
    orders = others(litecoin, *range(5_000_000, 9_000_000, 100_000))
    assert len(orders) == 40
    plan = wallet.builder.plan(orders, coins, carrier.rates(), wallet.change)
    sent = wallet.sign(plan)
    assert carrier.look([sent.tx_hash], plan.coins[0].place).tx_hash == ""
    packet = litecoin.ask("decodepsbt", wallet.builder.packet(plan, wallet.public_keys))
    assert round(packet["fee"] * COIN) == plan.fee_atomic
    assert packet["tx"]["txid"] == sent.tx_hash
    assert carrier.send(sent.raw) == ""
    assert carrier.look([sent.tx_hash], plan.coins[0].place).is_waiting
    assert carrier.send(sent.raw) == ""  # it has them
    told = litecoin.ask("getmempoolentry", sent.tx_hash)
    assert round(told["fees"]["base"] * COIN) == plan.fee_atomic == sum(plan.fees)
    assert plan.size - 3 <= told["vsize"] <= plan.size
    [block_hash] = litecoin.mine()
    look = carrier.look([sent.tx_hash], plan.coins[0].place)
    assert (look.tx_hash, look.block_number, look.block_hash) == (
        sent.tx_hash,
        litecoin.height,
        block_hash,
    )
    assert carrier.send(sent.raw) == ""  # a block has them
    for order in (orders[0], orders[39]):
        received = litecoin.faucet("getreceivedbyaddress", order.address)
        assert round(received * COIN) == order.amount_atomic
    change = CoinPlace(sent.tx_hash, 40)
    [left, gone] = carrier.unspent([change, plan.coins[0].place])
    assert left == Coin(change, wallet.change, plan.change_atomic) and gone is None
    spent = sum(each.amount_atomic for each in plan.coins)
    held = sum(each.amount_atomic for each in coins)
    addresses = [wallet.change, *(each.address for each in coins)]
    now = carrier.held(addresses, litecoin.height, ())
    assert sum(now.values()) == held - spent + plan.change_atomic
    places = {each.place.text for each in coins}
    before = carrier.held(addresses, litecoin.height - 1, places)
    assert before == {wallet.change: 0, **{each.address: each.amount_atomic for each in coins}}
    litecoin.mine(12)
    assert carrier.held(addresses, litecoin.height - 12, places) == now
    assert carrier.held(addresses, litecoin.height - 13, places) == before


def test_a_higher_fee_takes_the_place_where_nodes_let_it(
    replacing: Litecoin, wallet: OurWallet
) -> None:
    carrier = BitcoinCarrier(CHAIN, replacing.nodes())
    coins = fund(replacing, wallet, "2", "3")
    orders = others(replacing, 50_000_000, 60_000_000)
    rates = Rates(2_000, 1_000, 100_000)
    plan = wallet.builder.plan(orders, coins, rates, wallet.change)
    first = wallet.sign(plan)
    assert carrier.send(first.raw) == ""
    low = wallet.builder.replace(plan, rates, ())
    assert low.fee_atomic == plan.fee_atomic + plan.size
    faster = wallet.builder.replace(low, replace(rates, now=20_000), coins)
    second = wallet.sign(faster)
    assert carrier.send(second.raw) == ""
    assert replacing.waiting == [second.tx_hash]
    assert "fee" in carrier.send(first.raw)  # too little now
    hashes = [first.tx_hash, second.tx_hash]
    assert carrier.look(hashes, plan.coins[0].place).is_waiting
    replacing.mine()
    assert carrier.look(hashes, plan.coins[0].place).tx_hash == second.tx_hash
    for order in orders:
        received = replacing.faucet("getreceivedbyaddress", order.address)
        assert round(received * COIN) == order.amount_atomic
    carrier.close()


def test_change_lifts_a_payment_where_nodes_take_no_replacement(
    litecoin: Litecoin, carrier: BitcoinCarrier, wallet: OurWallet
) -> None:
    coins = fund(litecoin, wallet, "2")
    rates = Rates(1_000, 1_000, 100_000)
    plan = wallet.builder.plan(others(litecoin, 50_000_000), coins, rates, wallet.change)
    first = wallet.sign(plan)
    assert carrier.send(first.raw) == ""
    faster = replace(rates, now=20_000)
    refused = carrier.send(wallet.sign(wallet.builder.replace(plan, faster, ())).raw)
    assert "txn-mempool-conflict" in refused
    child = wallet.builder.lift([plan], first.tx_hash, faster)
    sent = wallet.sign(child)
    assert carrier.send(sent.raw) == ""
    told = litecoin.ask("getmempoolentry", sent.tx_hash)
    both = round(told["fees"]["ancestor"] * COIN)
    assert both == plan.fee_atomic + child.fee_atomic
    assert both * 1000 >= faster.now * told["ancestorsize"]
    [left] = carrier.unspent([CoinPlace(sent.tx_hash, 0)])
    assert left is not None and not left.is_confirmed
    litecoin.mine()
    assert carrier.look([first.tx_hash], plan.coins[0].place).block_number == litecoin.height
    [left] = carrier.unspent([CoinPlace(sent.tx_hash, 0)])
    assert left is not None and left.is_confirmed and left.amount_atomic == child.change_atomic


def test_a_coin_that_another_transaction_took_is_told(
    litecoin: Litecoin, carrier: BitcoinCarrier, wallet: OurWallet
) -> None:
    coins = fund(litecoin, wallet, "2")
    rates = carrier.rates()
    plan = wallet.builder.plan(others(litecoin, 50_000_000), coins, rates, wallet.change)
    ours = wallet.sign(plan)
    foreign = wallet.builder.plan(others(litecoin, 70_000_000), coins, rates, wallet.change)
    assert carrier.send(wallet.sign(foreign).raw) == ""
    look = carrier.look([ours.tx_hash], plan.coins[0].place)
    assert look.is_taken and not look.is_waiting and not look.tx_hash
    assert "txn-mempool-conflict" in carrier.send(ours.raw)
    litecoin.mine()
    assert carrier.look([ours.tx_hash], plan.coins[0].place).is_taken
    assert "missingorspent" in carrier.send(ours.raw)


def test_a_payment_in_blocks_that_are_taken_back_waits_and_is_mined_again(
    litecoin: Litecoin, carrier: BitcoinCarrier, wallet: OurWallet
) -> None:
    coins = fund(litecoin, wallet, "2")
    plan = wallet.builder.plan(others(litecoin, 50_000_000), coins, carrier.rates(), wallet.change)
    sent = wallet.sign(plan)
    carrier.send(sent.raw)
    litecoin.mine(6)
    before = carrier.look([sent.tx_hash], plan.coins[0].place)
    litecoin.take_back(6)
    again = carrier.look([sent.tx_hash], plan.coins[0].place)
    assert again.is_waiting and not again.tx_hash and not again.is_taken
    litecoin.mine(7)
    after = carrier.look([sent.tx_hash], plan.coins[0].place)
    assert after.tx_hash == sent.tx_hash and after.block_hash != before.block_hash


def test_coins_out_of_the_private_part_are_spent_from_the_sixth_block(
    litecoin: Litecoin, carrier: BitcoinCarrier, wallet: OurWallet
) -> None:
    litecoin.from_private(wallet.address(1), "1.25")
    litecoin.mine()
    reader = BitcoinReader(CHAIN, litecoin.nodes())
    [block] = reader.blocks([litecoin.height], ())
    reader.close()
    [arrived] = [each for each in block.transfers if each.to_address == wallet.address(1)]
    coin = Coin(
        CoinPlace(arrived.tx_hash, arrived.log_index), arrived.to_address, arrived.amount_atomic
    )
    plan = wallet.builder.plan(others(litecoin, 50_000_000), [coin], carrier.rates(), wallet.change)
    sent = wallet.sign(plan)
    litecoin.mine(arrived.usable_after - 2)
    assert "premature" in carrier.send(sent.raw)
    litecoin.mine()
    assert carrier.send(sent.raw) == ""
    litecoin.mine()
    assert carrier.look([sent.tx_hash], coin.place).tx_hash == sent.tx_hash


def test_what_was_spent_since_is_still_known_to_be_sent(
    litecoin: Litecoin, carrier: BitcoinCarrier, wallet: OurWallet
) -> None:
    coins = fund(litecoin, wallet, "1")
    rates = carrier.rates()
    [order] = others(litecoin, 99_997_000)
    plan = wallet.builder.plan([order], coins, rates, wallet.change)
    assert not plan.change_atomic
    sent = wallet.sign(plan)
    carrier.send(sent.raw)
    litecoin.mine()
    funds = {"txid": sent.tx_hash, "vout": 0}
    raw = litecoin.ask("createrawtransaction", [funds], [{litecoin.faucet("getnewaddress"): 0.999}])
    litecoin.send(litecoin.faucet("signrawtransactionwithwallet", raw)["hex"])
    litecoin.mine()
    assert carrier.send(sent.raw) == ""


def test_a_node_that_knows_no_fees_leaves_the_usual_rate(carrier: BitcoinCarrier) -> None:
    rates = carrier.rates()
    assert rates.floor == 1_000 and rates.now >= rates.floor
    assert rates.ceiling == LITECOIN_REGTEST.rate_ceiling


def test_a_payment_too_small_for_the_network_is_what_its_nodes_call_dust(
    litecoin: Litecoin, carrier: BitcoinCarrier, wallet: OurWallet
) -> None:
    coins = fund(litecoin, wallet, "1")
    [order] = others(litecoin, wallet.builder.dust_atomic)
    plan = wallet.builder.plan([order], coins, carrier.rates(), wallet.change)
    smaller = replace(
        plan,
        orders=(replace(order, amount_atomic=order.amount_atomic - 1),),
        fee_atomic=plan.fee_atomic + 1,
    )
    assert "dust" in carrier.send(wallet.sign(smaller).raw)
    assert carrier.send(wallet.sign(plan).raw) == ""
    litecoin.mine()
