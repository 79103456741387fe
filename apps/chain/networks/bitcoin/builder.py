"""Transactions of Bitcoin's family: many orders in one, with coins, change and fee.

Asks nobody and keeps no keys. All candidates of a spend have its first coin, so that one of them is
mined at most.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from coincurve import PublicKey

from apps.chain.networks.base import (
    Coin,
    CoinPlace,
    CoinsShort,
    Order,
    Rates,
    RateTooHigh,
    SignedSpend,
    SpendPlan,
)
from apps.chain.networks.bitcoin import signing
from apps.chain.networks.bitcoin.accounts import hash160
from apps.chain.networks.bitcoin.addresses import BitcoinAddresses
from apps.chain.networks.bitcoin.coin_selection import COINS_MAX, choose, input_cost, worth
from apps.chain.networks.bitcoin.parameters import Parameters
from apps.chain.networks.bitcoin.sizes import (
    cost,
    dust_of,
    output_bytes,
    parts_of,
    rate_of,
    virtual_size,
)
from apps.chain.networks.bitcoin.text_forms import segwit
from apps.chain.networks.bitcoin.transactions import read_transaction

# What nodes ask for the relaying of a replacement, for 1000 virtual bytes (BIP-125).
REPLACING_RATE = 1000
_USUAL_COINS = 2
_PER = 1000
# Coins are joined where they have so many times what that costs.
_JOINED_TIMES = 20
_KEY_HASH_SCRIPT = b"\0\x14" + bytes(20)


class BitcoinBuilder:
    orders_max = 100

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._addresses = BitcoinAddresses(parameters)
        self.dust_atomic = self._dust(_KEY_HASH_SCRIPT)

    def address_of(self, public_key: bytes) -> str:
        key = PublicKey(public_key).format()
        return segwit(self._parameters.bech32_prefix, 0, hash160(key))

    def dust_at(self, address: str) -> int:
        """The least that this address can be paid."""
        return self._dust(self._addresses.script_of(address))

    def estimate(self, addresses: Sequence[str], rates: Rates) -> list[int]:
        scripts = [self._addresses.script_of(address) for address in addresses]
        size = virtual_size(_USUAL_COINS, [*scripts, _KEY_HASH_SCRIPT])
        return list(parts_of(cost(size, rate_of(rates)), scripts))

    def shares(self, fee_atomic: int, addresses: Sequence[str]) -> list[int]:
        scripts = [self._addresses.script_of(address) for address in addresses]
        return list(parts_of(fee_atomic, scripts))

    def plan(
        self, orders: Sequence[Order], coins: Sequence[Coin], rates: Rates, change_address: str
    ) -> SpendPlan:
        self._check(orders)
        rate = rate_of(rates)
        scripts = self._scripts(orders)
        change = self._addresses.script_of(change_address)
        target = sum(order.amount_atomic for order in orders) + cost(virtual_size(0, scripts), rate)
        with_change = cost(output_bytes(change), rate) + self._dust(change) + input_cost(rate)
        # Rounding may make a coin short of it by a unit or two.
        chosen = choose(coins, target + 2, rate, with_change)
        return self._finished(chosen, orders, change_address, rate)

    def replace(self, plan: SpendPlan, rates: Rates, coins: Sequence[Coin]) -> SpendPlan:
        rate = rate_of(rates)
        held = {coin.place for coin in plan.coins}
        added = [coin for coin in coins if coin.is_confirmed and coin.place not in held]
        added.sort(key=lambda coin: (-coin.amount_atomic, coin.place.text))
        missing = 0
        for count in range(min(len(added), COINS_MAX - len(plan.coins)) + 1):
            if count and worth(added[count - 1], rate) <= 0:
                break
            chosen = (*plan.coins, *added[:count])
            try:
                return self._replacement(plan, chosen, rate, rates.ceiling)
            except CoinsShort as short:
                missing = short.missing_atomic
        raise CoinsShort(missing)

    def lift(self, plans: Sequence[SpendPlan], tx_hash: str, rates: Rates) -> SpendPlan:
        plan = plans[0]
        change = self._addresses.script_of(plan.change_address)
        size = virtual_size(1, [change])
        waiting = sum(each.size for each in plans)
        paid = sum(each.fee_atomic for each in plans)
        # What waits at its own rate is offered a higher one, whatever an estimate says.
        higher = -(-paid * _PER // waiting) + REPLACING_RATE
        rate = rate_of(replace(rates, now=max(rates.now, higher)))
        fee_atomic = max(cost(waiting + size, rate) - paid, cost(size, rates.floor))
        left = plan.change_atomic - fee_atomic
        if left < self._dust(change):
            raise CoinsShort(self._dust(change) - left)
        place = CoinPlace(tx_hash, len(plan.orders))
        coin = Coin(place, plan.change_address, plan.change_atomic, is_confirmed=False)
        return SpendPlan((coin,), (), plan.change_address, left, fee_atomic, size, ())

    def consolidate(self, coins: Sequence[Coin], rates: Rates, change_address: str) -> SpendPlan:
        """Later spends cost less. What costs more to take than it has stays."""
        rate = rate_of(replace(rates, ceiling=min(rates.ceiling, self._parameters.low_rate)))
        useful = [coin for coin in coins if coin.is_confirmed and worth(coin, rate) > 0]
        useful.sort(key=lambda coin: (coin.amount_atomic, coin.place.text))
        if len(useful) < 2:
            raise CoinsShort(0)
        plan = self._finished(tuple(useful[:COINS_MAX]), (), change_address, rate)
        if plan.fee_atomic * _JOINED_TIMES > plan.change_atomic:
            raise CoinsShort(0)
        return plan

    def digests(self, plan: SpendPlan, public_keys: Mapping[str, bytes]) -> list[bytes]:
        self._keys(plan, public_keys)
        return signing.digests_of(plan, self._addresses)

    def signed(
        self,
        plan: SpendPlan,
        public_keys: Mapping[str, bytes],
        signatures: Sequence[tuple[int, int]],
    ) -> SignedSpend:
        keys = self._keys(plan, public_keys)
        return signing.signed_bytes(plan, self._addresses, keys, signatures)

    def is_told(self, plan: SpendPlan, tx_hash: str, raw: str) -> bool:
        try:
            read = read_transaction(bytes.fromhex(raw))
            keys = [PublicKey(witness[1]) for witness in read.witnesses]
            addresses = [self.address_of(key.format()) for key in keys]
            told = signing.read_back(bytes.fromhex(raw), plan, self._addresses, keys)
        except (ValueError, IndexError):
            return False
        # A signature has a byte or two less than was reckoned with.
        is_as_large = plan.size <= read.size + len(read.inputs)
        is_theirs = addresses == [coin.address for coin in plan.coins]
        return told == tx_hash and is_as_large and is_theirs

    def packet(self, plan: SpendPlan, public_keys: Mapping[str, bytes]) -> str:
        self._keys(plan, public_keys)
        return signing.packet_of(plan, self._addresses)

    def _check(self, orders: Sequence[Order]) -> None:
        if not 0 < len(orders) <= self.orders_max:
            raise ValueError(f"a transaction pays 1 to {self.orders_max} orders")
        for order in orders:
            if order.amount_atomic < self.dust_at(order.address):
                raise ValueError("no node passes on an order that small")

    def _keys(self, plan: SpendPlan, public_keys: Mapping[str, bytes]) -> list[PublicKey]:
        """Of each coin. Raises ValueError for a key that isn't its address's."""
        keys = []
        for coin in plan.coins:
            key = public_keys.get(coin.address)
            if key is None or self.address_of(key) != coin.address:
                raise ValueError("the key of a coin is missing, or another's")
            keys.append(PublicKey(key))
        return keys

    def _finished(
        self, coins: tuple[Coin, ...], orders: Sequence[Order], change_address: str, rate: int
    ) -> SpendPlan:
        """With change where what is left is worth more than it costs, without it else."""
        scripts = self._scripts(orders)
        change = self._addresses.script_of(change_address)
        left = sum(coin.amount_atomic for coin in coins) - sum(
            order.amount_atomic for order in orders
        )
        size = virtual_size(len(coins), [*scripts, change])
        change_atomic = left - cost(size, rate)
        if change_atomic < self._dust(change) + input_cost(rate):
            change_atomic = 0
            size = virtual_size(len(coins), scripts)
        fee_atomic = left - change_atomic
        if not (orders or change_atomic) or fee_atomic < cost(size, rate):
            raise CoinsShort(cost(size, rate) - fee_atomic)
        return SpendPlan(
            coins,
            tuple(orders),
            change_address,
            change_atomic,
            fee_atomic,
            size,
            parts_of(fee_atomic, scripts),
        )

    def _replacement(
        self, plan: SpendPlan, coins: tuple[Coin, ...], rate: int, ceiling: int
    ) -> SpendPlan:
        scripts = self._scripts(plan.orders)
        change = self._addresses.script_of(plan.change_address)
        left = sum(coin.amount_atomic for coin in coins) - sum(
            order.amount_atomic for order in plan.orders
        )
        short = 0
        for has_change in (True, False) if plan.orders else (True,):
            size = virtual_size(len(coins), [*scripts, change] if has_change else scripts)
            # More than before, and what passing it on costs; and at a higher rate.
            least = plan.fee_atomic + cost(size, REPLACING_RATE)
            higher = plan.fee_atomic * size // plan.size + 1
            needed = max(cost(size, rate), least, higher)
            if needed > cost(size, ceiling):
                raise RateTooHigh
            change_atomic = left - needed
            if has_change and change_atomic < self._dust(change):
                short = self._dust(change) - change_atomic
                continue
            if change_atomic < 0:
                short = -change_atomic
                continue
            kept = change_atomic if has_change else 0
            fee_atomic = left - kept
            if fee_atomic > cost(size, ceiling):
                raise RateTooHigh
            return replace(
                plan,
                coins=coins,
                change_atomic=kept,
                fee_atomic=fee_atomic,
                size=size,
                fees=parts_of(fee_atomic, scripts),
            )
        raise CoinsShort(short)

    def _scripts(self, orders: Sequence[Order]) -> list[bytes]:
        return [self._addresses.script_of(order.address) for order in orders]

    def _dust(self, script: bytes) -> int:
        return dust_of(script, self._parameters.dust_rate)
