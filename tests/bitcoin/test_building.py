"""Plans of transactions and their bytes, which a second library reads as well."""

from dataclasses import replace

import bdkpython
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.chain.networks.base import (
    Coin,
    CoinsShort,
    Order,
    Rates,
    RateTooHigh,
    SpendPlan,
)
from apps.chain.networks.bitcoin.addresses import BitcoinAddresses
from apps.chain.networks.bitcoin.parameters import (
    BITCOIN,
    BITCOIN_REGTEST,
    LITECOIN,
    LITECOIN_REGTEST,
)
from apps.chain.networks.bitcoin.sizes import output_bytes
from apps.chain.networks.bitcoin.transactions import read_transaction
from tests.bitcoin.wallet import OurWallet, coin

RATES = Rates(now=10_000, floor=1_000, ceiling=100_000)
WALLET = OurWallet(1, BITCOIN_REGTEST)
# Of each kind that is paid.
PAID = [
    "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080",
    "bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6",
    "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
    "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc",
]


def orders(*amounts: int) -> list[Order]:
    return [
        Order(f"order {number}", PAID[number % len(PAID)], amount)
        for number, amount in enumerate(amounts)
    ]


def coins(*amounts: int) -> list[Coin]:
    return [coin(WALLET.change, amount, number) for number, amount in enumerate(amounts, 1)]


def check(plan: SpendPlan, rates: Rates = RATES) -> None:
    """The sums of a plan."""
    have = sum(each.amount_atomic for each in plan.coins)
    paid = sum(each.amount_atomic for each in plan.orders) + plan.change_atomic
    assert have == paid + plan.fee_atomic
    assert plan.fee_atomic * 1000 >= rates.now * plan.size
    assert sum(plan.fees) == (plan.fee_atomic if plan.orders else 0)
    assert len(plan.fees) == len(plan.orders)
    assert not plan.change_atomic or plan.change_atomic >= WALLET.builder.dust_atomic


def test_a_plan_pays_its_orders_and_gives_change() -> None:
    plan = WALLET.builder.plan(orders(50_000, 60_000), coins(500_000), RATES, WALLET.change)
    check(plan)
    assert plan.change_atomic > 380_000
    raw = bytes.fromhex(WALLET.sign(plan).raw)
    read = read_transaction(raw)
    assert [each.amount_atomic for each in read.outputs] == [50_000, 60_000, plan.change_atomic]
    script_of = BitcoinAddresses(BITCOIN_REGTEST).script_of
    assert [each.script for each in read.outputs] == [
        script_of(address) for address in (*PAID[:2], WALLET.change)
    ]
    assert read.is_replaceable
    # The bytes are at most as long as was paid for, and hardly shorter.
    assert plan.size - 2 <= read.size <= plan.size


def test_coins_that_fit_leave_no_change() -> None:
    builder = WALLET.builder
    size_of_two = builder.plan(orders(100_000), coins(60_000, 60_000), RATES, WALLET.change).size
    needed = 100_000 + size_of_two * 10
    plan = builder.plan(
        orders(100_000), coins(900_000, needed - 30_000, 30_100), RATES, WALLET.change
    )
    check(plan)
    assert not plan.change_atomic and len(plan.coins) == 2


def test_one_coin_pays_where_one_is_enough_and_the_smallest_such() -> None:
    plan = WALLET.builder.plan(
        orders(100_000), coins(9_000_000, 300_000, 50_000, 200_000), RATES, WALLET.change
    )
    check(plan)
    assert [each.amount_atomic for each in plan.coins] == [200_000]


def test_confirmed_coins_go_first_and_change_of_ours_pays_when_they_are_too_few() -> None:
    waiting = coin(WALLET.change, 5_000_000, 99, is_confirmed=False)
    first = WALLET.builder.plan(orders(100_000), [waiting, *coins(200_000)], RATES, WALLET.change)
    assert waiting not in first.coins
    second = WALLET.builder.plan(orders(900_000), [waiting, *coins(200_000)], RATES, WALLET.change)
    assert waiting in second.coins
    check(second)


def test_a_coin_that_costs_more_than_it_has_is_left() -> None:
    plan = WALLET.builder.plan(
        orders(100_000), coins(100_500, 600, 700, 50_000), RATES, WALLET.change
    )
    assert all(each.amount_atomic > 1_000 for each in plan.coins)


def test_too_few_coins_are_told_with_what_is_missing() -> None:
    with pytest.raises(CoinsShort) as short:
        WALLET.builder.plan(orders(100_000), coins(60_000, 30_000), RATES, WALLET.change)
    missing = short.value.missing_atomic
    plan = WALLET.builder.plan(
        orders(100_000),
        coins(60_000, 30_000 + missing + 680),  # with the fee of taking it, when it is a new one
        RATES,
        WALLET.change,
    )
    check(plan)
    assert missing > 10_000


def test_a_rate_above_the_ceiling_stops_and_one_below_the_floor_is_raised() -> None:
    high = replace(RATES, now=RATES.ceiling + 1)
    builder = WALLET.builder
    for act in (
        lambda: builder.plan(orders(50_000), coins(900_000), high, WALLET.change),
        lambda: builder.estimate(PAID, high),
        lambda: builder.replace(
            builder.plan(orders(50_000), coins(900_000), RATES, WALLET.change), high, ()
        ),
    ):
        with pytest.raises(RateTooHigh):
            act()
    low = replace(RATES, now=1)
    plan = builder.plan(orders(50_000), coins(900_000), low, WALLET.change)
    assert plan.fee_atomic * 1000 >= RATES.floor * plan.size


@pytest.mark.parametrize("parameters", [BITCOIN, LITECOIN, LITECOIN_REGTEST])
def test_dust_is_refused_and_given_as_fee(parameters: object) -> None:
    wallet = OurWallet(2, parameters)  # type: ignore[arg-type]  # one of the three
    dust = wallet.builder.dust_atomic
    assert dust == (294 if parameters is BITCOIN else 2940)
    target = wallet.address(1)
    with pytest.raises(ValueError, match="small"):
        wallet.builder.plan(
            [Order("1", target, dust - 1)], [coin(wallet.change, 10**6)], RATES, wallet.change
        )
    plan = wallet.builder.plan(
        [Order("1", target, 50_000)],
        [coin(wallet.change, 50_000 + 1_410 + dust - 1)],
        RATES,
        wallet.change,
    )
    assert not plan.change_atomic and plan.fees == (plan.fee_atomic,)


def test_each_order_bears_the_fee_by_its_size_to_the_last_unit() -> None:
    plan = WALLET.builder.plan(
        orders(50_000, 60_000, 70_000, 80_001), coins(1_000_003), RATES, WALLET.change
    )
    script_of = BitcoinAddresses(BITCOIN_REGTEST).script_of
    sizes = [output_bytes(script_of(each.address)) for each in plan.orders]
    for part, size in zip(plan.fees[1:], sizes[1:], strict=True):
        assert part == plan.fee_atomic * size // sum(sizes)
    assert sum(plan.fees) == plan.fee_atomic


def test_an_estimate_is_close_to_what_a_plan_takes() -> None:
    told = WALLET.builder.estimate(PAID, RATES)
    plan = WALLET.builder.plan(
        orders(50_000, 60_000, 70_000, 80_000), coins(200_000, 200_000), RATES, WALLET.change
    )
    assert sum(told) == plan.fee_atomic and told == list(plan.fees)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(600, 10**9), min_size=1, max_size=12),
    st.lists(st.integers(1, 10**9), min_size=1, max_size=12),
    st.integers(1_000, 100_000),
)
def test_sums_agree_whatever_is_asked_for(amounts: list[int], values: list[int], rate: int) -> None:
    rates = replace(RATES, now=rate)
    try:
        plan = WALLET.builder.plan(orders(*amounts), coins(*values), rates, WALLET.change)
    except CoinsShort:
        assert sum(values) < sum(amounts) + 200_000 + 100 * len(values) * 68
        return
    check(plan, rates)
    assert len(set(plan.coins)) == len(plan.coins)
    assert read_transaction(bytes.fromhex(WALLET.sign(plan).raw)).tx_hash


def test_a_replacement_keeps_the_orders_and_the_first_coin_and_its_change_pays() -> None:
    plan = WALLET.builder.plan(orders(50_000, 60_000), coins(500_000), RATES, WALLET.change)
    faster = replace(RATES, now=30_000)
    other = WALLET.builder.replace(plan, faster, coins(1, 2, 700_000)[1:])
    check(other, faster)
    assert other.orders == plan.orders and other.coins == plan.coins
    assert other.fee_atomic >= plan.fee_atomic + other.size
    assert other.change_atomic == plan.change_atomic - (other.fee_atomic - plan.fee_atomic)


def test_a_replacement_at_the_same_rate_pays_for_being_passed_on() -> None:
    plan = WALLET.builder.plan(orders(50_000), coins(500_000), RATES, WALLET.change)
    again = WALLET.builder.replace(plan, RATES, ())
    assert again.fee_atomic == plan.fee_atomic + plan.size


def test_a_replacement_takes_more_coins_when_the_change_is_too_small() -> None:
    plan = WALLET.builder.plan(orders(100_000), coins(103_000), RATES, WALLET.change)
    faster = replace(RATES, now=60_000)
    with pytest.raises(CoinsShort):
        WALLET.builder.replace(plan, faster, ())
    waiting = coin(WALLET.change, 5_000_000, 99, is_confirmed=False)
    with pytest.raises(CoinsShort):  # BIP-125 takes no new coins that wait
        WALLET.builder.replace(plan, faster, [waiting])
    other = WALLET.builder.replace(plan, faster, [waiting, *coins(103_000, 700_000)[1:]])
    check(other, faster)
    assert other.coins[0] == plan.coins[0] and len(other.coins) == 2


def test_no_replacement_is_above_the_ceiling() -> None:
    plan = WALLET.builder.plan(
        orders(50_000), coins(5_000_000), replace(RATES, now=100_000), WALLET.change
    )
    with pytest.raises(RateTooHigh):
        WALLET.builder.replace(plan, replace(RATES, now=100_000), ())


def test_change_lifts_what_waits_with_a_fee_for_both() -> None:
    plan = WALLET.builder.plan(orders(50_000), coins(5_000_000), RATES, WALLET.change)
    sent = WALLET.sign(plan)
    faster = replace(RATES, now=40_000)
    child = WALLET.builder.lift([plan], sent.tx_hash, faster)
    check(child, replace(RATES, now=RATES.floor))
    assert not child.orders and child.fees == ()
    assert (plan.fee_atomic + child.fee_atomic) * 1000 >= faster.now * (plan.size + child.size)
    [spent] = read_transaction(bytes.fromhex(WALLET.sign(child).raw)).inputs
    assert (spent.tx_hash, spent.output) == (sent.tx_hash, 1)
    without = WALLET.builder.plan(orders(50_000), coins(51_500), RATES, WALLET.change)
    with pytest.raises(CoinsShort):
        WALLET.builder.lift([without], sent.tx_hash, faster)
    with pytest.raises(RateTooHigh):
        WALLET.builder.lift([plan], sent.tx_hash, replace(RATES, ceiling=RATES.now))


def test_what_lifts_pays_for_all_that_wait_before_it_and_more_than_they_offer() -> None:
    builder = WALLET.builder
    plan = builder.plan(orders(50_000), coins(5_000_000), RATES, WALLET.change)
    first = builder.lift([plan], WALLET.sign(plan).tx_hash, RATES)
    second = builder.lift([first, plan], WALLET.sign(first).tx_hash, RATES)
    rates = []
    for each in ([plan], [plan, first], [plan, first, second]):
        rates.append(sum(one.fee_atomic for one in each) * 1000 // sum(one.size for one in each))
    assert rates[0] == RATES.now and rates[0] + 990 < rates[1] and rates[1] + 990 < rates[2]
    assert second.coins[0].amount_atomic == first.change_atomic


def test_small_coins_become_one() -> None:
    plan = WALLET.builder.consolidate(
        coins(*range(10_000, 20_000, 500), 300), replace(RATES, now=1_000), WALLET.change
    )
    check(plan, replace(RATES, now=1_000))
    assert len(plan.coins) == 21 and plan.change_atomic == 295_300 - plan.fee_atomic
    assert len(read_transaction(bytes.fromhex(WALLET.sign(plan).raw)).outputs) == 1
    low = replace(RATES, now=1_000)
    for too_few in (coins(10_000, 30), coins(1_000, 1_000, 1_000)):  # one is enough; it costs much
        with pytest.raises(CoinsShort):
            WALLET.builder.consolidate(too_few, low, WALLET.change)
    with pytest.raises(RateTooHigh):  # what fees are when they aren't low
        WALLET.builder.consolidate(coins(10_000, 20_000), RATES, WALLET.change)


def test_a_signature_of_another_key_is_refused() -> None:
    mine = OurWallet(3, BITCOIN_REGTEST)
    plan = WALLET.builder.plan(orders(50_000), coins(500_000), RATES, WALLET.change)
    with pytest.raises(ValueError, match="key of a coin"):
        mine.builder.digests(plan, mine.public_keys)
    [(r, s)] = WALLET.signatures(plan)
    for wrong in ((r + 1, s), (r, s + 1), (0, s), (r, 2**256)):
        with pytest.raises(ValueError, match="signature"):
            WALLET.builder.signed(plan, WALLET.public_keys, [wrong])
    other = replace(plan, change_address=PAID[0])
    with pytest.raises(ValueError, match="signature"):
        WALLET.builder.signed(other, WALLET.public_keys, [(r, s)])


@pytest.mark.parametrize(
    "lie",
    [
        {"fee_atomic": 1},
        {"size": 100},
    ],
)
def test_bytes_that_do_something_else_than_the_plan_are_never_handed_out(
    lie: dict[str, int],
) -> None:
    plan = WALLET.builder.plan(orders(50_000), coins(500_000), RATES, WALLET.change)
    with pytest.raises(ValueError, match="plan says"):
        WALLET.sign(replace(plan, **lie))  # type: ignore[arg-type]  # figures alone


def test_bdk_reads_the_same_bytes_and_the_same_psbt() -> None:
    plan = WALLET.builder.plan(
        orders(50_000, 60_000, 70_000, 80_000), coins(200_000, 200_000), RATES, WALLET.change
    )
    sent = WALLET.sign(plan)
    theirs = bdkpython.Transaction(bytes.fromhex(sent.raw))
    assert str(theirs.compute_txid()) == sent.tx_hash
    assert theirs.vsize() <= plan.size
    outputs = [
        (
            str(bdkpython.Address.from_script(each.script_pubkey, bdkpython.Network.REGTEST)),
            each.value.to_sat(),
        )
        for each in theirs.output()
    ]
    expected = [(order.address, order.amount_atomic) for order in plan.orders]
    assert outputs == [*expected, (WALLET.change, plan.change_atomic)]
    packet = bdkpython.Psbt(WALLET.builder.packet(plan, WALLET.public_keys))
    assert packet.fee() == plan.fee_atomic
    assert str(packet.extract_tx().compute_txid()) == sent.tx_hash
