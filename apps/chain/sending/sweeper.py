"""Brings deposits to the hot wallet when that is worth its gas, or when the wallet lacks what is
promised; it pays tokens' gas, and collects what sweeps have left once that is worth it.

Only what was confirmed and booked is moved, address by address: one sweep at a time, asked for once
under the address's lock. Native coins wait until nobody looks for what contracts send to their
address, unless the wallet lacks them.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from apps.assets.models import Asset, Chain
from apps.assets.selectors import fee_asset_of
from apps.chain.models import Address, HotWallet, Obstacle, OutgoingTransaction
from apps.chain.networks.families import has_coins
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.reasons import Reason
from apps.chain.sending import (
    balances,
    coin_joins,
    gas_left,
    hot_wallets,
    lanes,
    obstacles,
    sender,
    sweep_batch_ends,
    sweep_batches,
    sweep_costs,
    sweep_top_ups,
    sweeps_together,
    token_stops,
)
from apps.chain.sending.fee_coins import fee_coin, unit_wei, units
from apps.chain.sending.refused_bytes import Words, words_of
from apps.chain.sending.shares import Shares
from apps.chain.sending.sweep_costs import SweepPrice
from apps.chain.sending.sweep_finds import Found, Movable
from apps.chain.sending.sweep_left import JOB, LeftCoins, threshold
from apps.chain.sending.sweeps_together import Together
from apps.core import clock
from apps.core.rows import Job

log = structlog.get_logger(__name__)
CHAINS = Job("chain.sweep_due", in_transaction=False, is_vital=True)
GIVING_UP = Job("chain.give_up_sweep", limit=50)
GIVE_UP = timedelta(hours=1)
Rows = QuerySet[OutgoingTransaction]
_Purpose = OutgoingTransaction.Purpose
_Status = OutgoingTransaction.Status


@dataclass
class SweepCounts:
    """Requests of one round."""

    sweeps: int = 0
    gas_transfers: int = 0
    batches: int = 0


def sweep_due(mode: str = "") -> SweepCounts:
    """Ask for the sweeps that are worth it now, on every chain (of a mode) whose hot wallet is at
    work."""
    counts = SweepCounts()
    _give_up_waiting(clock.real_now())
    wallets = HotWallet.objects.filter(halted_at=None)
    chains = Chain.objects.filter(pk__in=wallets.values("chain")).order_by("pk")
    CHAINS.walk(chains.filter(mode=mode) if mode else chains, lambda chain: _sweep(chain, counts))
    return counts


def _sweep(chain: Chain, counts: SweepCounts) -> None:
    wallets = HotWallet.objects.filter(chain=chain, halted_at=None).order_by("number")
    if not settings.CHAIN_URLS.get(chain.pk):
        return
    with closing(nodes_of(chain)) as nodes:
        try:
            if has_coins(chain):
                for wallet in wallets.select_related("chain"):
                    coin_joins.ask_due(wallet, nodes, clock.real_now())
                return
            _ChainSweep(chain, list(wallets), nodes, counts).run(clock.real_now())
        except RpcError as error:
            log.warning("chain_not_asked", chain=chain.pk, error=str(error))


def _give_up_waiting(at: datetime) -> None:
    """A sweep that was never signed makes room for one with other figures. The parts of a batch go
    with it."""
    old = OutgoingTransaction.objects.filter(
        purpose__in=(_Purpose.SWEEP, _Purpose.SWEEP_BATCH),
        batch=None,
        status=_Status.REQUESTED,
        requested_at__lt=at - GIVE_UP,
    )

    def give_up(row: OutgoingTransaction) -> None:
        if row.purpose == _Purpose.SWEEP:
            Address.objects.select_for_update().get(pk=row.from_address)
        hot_wallets.finish(row, _Status.FAILED, at, Reason.GAS_TOO_DEAR)

    GIVING_UP.walk(old.order_by("requested_at"), give_up)
    sweep_batch_ends.end_orphans(at)


class _ChainSweep:
    """A round for a chain, to those of its wallets that aren't halted."""

    def __init__(
        self, chain: Chain, wallets: Sequence[HotWallet], nodes: Nodes, counts: SweepCounts
    ) -> None:
        self.chain = chain
        self.nodes = nodes
        self.asked = counts
        self._shares = Shares(wallets, nodes)
        self._left = LeftCoins(chain)
        self._short: Mapping[str, int] = {}
        self._way: sweep_batches.Way | None = None

    def run(self, at: datetime) -> None:
        holdings = self._found(at)
        gas_left.learn(self.chain)
        native = fee_asset_of(self.chain.pk)
        price = sweep_costs.price_on(self.chain, self.nodes)
        if native is None or price is None:
            return
        self._add_gas(native, price, at)
        usual = price.cost(price.gas.of(is_native=native.is_native))
        least = sweep_costs.least_worth(native, units(native, usual))
        remainders = gas_left.worth(self.chain, least, at, JOB.limit)
        addresses = {holding.address for holding in holdings}
        paying = [holding for holding in holdings if holding.asset.pays_fees]
        paying += [Found(native, *held) for held in remainders if held[0] not in addresses]
        self._sweep_paying(paying, native, price, at)
        self._sweep_tokens(holdings, native, price, at)

    def _sweep_paying(
        self, holdings: Sequence[Found], native: Asset, price: SweepPrice, at: datetime
    ) -> None:
        """Of the coin that pays fees, each pays its own."""
        if native.is_native:
            limits = {holding.address: price.gas.native for holding in holdings}
        else:
            movable = self._movable(native, holdings, price, at)
            limits = {held.holding.address: held.gas_limit for held in movable}
        JOB.each(
            lambda: [holding for holding in holdings if holding.address in limits],
            lambda holding: self._sweep_own(holding, limits[holding.address], price, at),
            id_of=lambda holding: holding.address,
        )

    def _sweep_tokens(
        self, holdings: Sequence[Found], native: Asset, price: SweepPrice, at: datetime
    ) -> None:
        """Each token by itself: what it refuses or what isn't worth its gas waits, and staff see
        why."""
        tokens = {holding.asset.pk: holding.asset for holding in holdings}
        for asset in self._watched(tokens):
            of_it = [holding for holding in holdings if holding.asset == asset]
            movable = self._movable(asset, of_it, price, at)
            costs = {
                held.holding.address: sweep_costs.in_coins(
                    asset, native, price.token_cost(held.gas_limit)
                )
                for held in movable
            }
            together = self._together(asset, native, movable, price, at)
            costs |= together.costs
            alone = [held for held in movable if held.holding.address not in together.costs]
            single = [held for held in alone if sweeps_together.is_worth(held, costs)]
            self._note_dear(asset, movable, [*together.parts, *single], costs, at)
            self._sweep_together(asset, together, price, native, at)
            self._sweep_each(single, native, price, at)

    def _together(
        self,
        asset: Asset,
        native: Asset,
        movable: Sequence[Movable],
        price: SweepPrice,
        at: datetime,
    ) -> Together:
        """A network is asked once a round whether it can."""
        if self._way is None:
            self._way = sweep_batches.way_on(self.chain, self.nodes)
        if not movable or self._way.wallet != self._wallet_for(asset):
            return Together()
        return sweeps_together.chosen(asset, native, self._way, movable, price, self.nodes, at)

    def _sweep_together(
        self, asset: Asset, together: Together, price: SweepPrice, native: Asset, at: datetime
    ) -> None:
        """As many batches as it takes; one that the wallet can't pay for waits for the next
        round."""
        size = sweep_batches.PARTS_MAX
        batches = [
            together.parts[first : first + size] for first in range(0, len(together.parts), size)
        ]

        def ask(parts: Sequence[Movable]) -> None:
            gas = sum(held.in_batch(sweep_batches.AUTHORIZATION_GAS) for held in parts)
            gas += price.gas.native + sweep_batches.COLLECTION_GAS
            if not self._shares.can_afford(native, units(native, price.funds(gas))):
                return
            self._ask_together(asset, together.way, parts, at)

        JOB.each(lambda: batches, ask, id_of=lambda parts: parts[0].holding.address)

    def _ask_together(
        self, asset: Asset, way: sweep_batches.Way, held: Sequence[Movable], at: datetime
    ) -> None:
        """Each address under its lock, in one order; one that is busy is left out."""
        with transaction.atomic():
            free: list[tuple[Movable, int]] = []
            for part in sorted(held, key=lambda part: part.holding.address):
                number = self._free(part.holding.address)
                if number is not None:
                    free.append((part, number))
            if not free:
                return
            batch, rows = sweeps_together.requested(self.chain, asset, way, free, at)
            sender.request_many([batch])
            sender.request_many(rows)
        self._shares.note(asset, way.wallet, batch.amount_atomic)
        self.asked.sweeps += len(rows)
        self.asked.batches += 1

    def _sweep_each(
        self, worth: Sequence[Movable], native: Asset, price: SweepPrice, at: datetime
    ) -> None:
        JOB.each(
            lambda: worth,
            lambda held: self._sweep_token(held, native, price, at),
            id_of=lambda held: held.holding.address,
        )

    def _watched(self, tokens: Mapping[str, Asset]) -> list[Asset]:
        """The tokens that move, and those of which something was said that may be over."""
        dear = Obstacle.objects.filter(
            asset__chain=self.chain, kind=Obstacle.Kind.GAS, ended_at=None
        ).select_related("asset")
        every = {**{row.asset_id: row.asset for row in dear}, **tokens}
        return [
            asset
            for _, asset in sorted(every.items())
            if not asset.pays_fees and asset.stopped_since is None
        ]

    def _found(self, at: datetime) -> list[Found]:
        """Balances worth their own gas, and balances of assets that the wallet is short of, as much
        as it needs."""
        holdings: list[Found] = []
        short = lanes.short_of(self.chain.pk)
        self._short = short
        for asset in self._sweepable(short):
            least = threshold(asset)
            if least is not None:
                self._left.set_aside(asset, least, at)
            worth = (
                []
                if least is None
                else [Found(asset, *holding) for holding in self._left.candidates(asset, least, at)]
            )
            known = {holding.address for holding in worth}
            wanted = self._wanted(asset, short.get(asset.pk, 0), known, at)
            known |= {holding.address for holding in wanted}
            old = [held for held in self._left.aged(asset, at) if held[0] not in known]
            holdings += [*worth, *wanted, *(Found(asset, *held, is_old=True) for held in old)]
        return holdings

    def _wanted(
        self, asset: Asset, short_atomic: int, addresses: set[str], at: datetime
    ) -> list[Found]:
        """The fullest addresses that bring what the wallet has promised and lacks, whatever the
        minimum."""
        if not short_atomic:
            return []
        wallet = self._shares.neediest(asset)
        missing = short_atomic - balances.free(asset, wallet, self.nodes)
        holdings: list[Found] = []
        for address, remainder in self._left.fullest(asset, at):
            if missing <= 0:
                break
            missing -= remainder
            if address not in addresses:
                holdings.append(Found(asset, address, remainder, is_wanted=True))
        if holdings or addresses:
            lanes.call_back(self.chain.pk, asset.pk, waits_for=OutgoingTransaction.WaitsFor.SWEEP)
        return holdings

    def _sweepable(self, short: Mapping[str, int]) -> list[Asset]:
        rows = Asset.objects.filter(chain=self.chain).order_by("position", "pk")
        assets = [asset for asset in rows if threshold(asset) is not None or asset.pk in short]
        return [asset for asset in assets if asset.is_native or asset.contract_address]

    def _movable(
        self, asset: Asset, holdings: Sequence[Found], price: SweepPrice, at: datetime
    ) -> list[Movable]:
        """The coins that the token lets go, with the gas that this takes. An address that it
        refuses is asked again later, ever more rarely."""
        if not holdings:
            return []
        refused = dict(
            Obstacle.objects.filter(
                asset=asset, kind=Obstacle.Kind.ADDRESS, ended_at=None
            ).values_list("holder", "next_look_at")
        )
        due = [held for held in holdings if refused.get(held.address, at) <= at]
        coin = fee_coin(self.chain)
        answers = self.nodes.each(
            [balances.call_for_token(asset, held.address) for held in due]
            + [coin.call(held.address) for held in due]
        )
        movable = []
        moves = []
        for held, tokens, native in zip(due, answers, answers[len(due) :], strict=False):
            if isinstance(tokens, RpcError) or isinstance(native, RpcError):
                continue
            amount = min(held.left_atomic, balances.read_tokens(tokens))
            if amount > 0:
                moves.append((held, amount, coin.wei(native)))
        wallet = self._wallet_for(asset)
        estimates = self.nodes.each(
            [
                (
                    "eth_estimateGas",
                    [token_stops.transfer_call(asset, held.address, wallet, amount)],
                )
                for held, amount, _ in moves
            ]
        )
        for (held, amount, native), answer in zip(moves, estimates, strict=True):
            # Who has nothing for fees beside gas is estimated by no node.
            is_poor = isinstance(answer, RpcError) and words_of(str(answer)) is Words.FUNDS
            if is_poor or not isinstance(answer, RpcError):
                limit = price.gas.token if is_poor else price.limit(int(answer, 16))
                movable.append(Movable(held, amount, native, limit))
                if held.address in refused:
                    obstacles.end(asset, held.address, Obstacle.Kind.ADDRESS, at)
            elif token_stops.refuses(answer):
                self._note_refused(asset, held.address, amount, at)
        return movable

    def _note_refused(self, asset: Asset, address: str, amount_atomic: int, at: datetime) -> None:
        """Of the whole token, or of the wallet that gets it, the look at tokens tells."""
        if token_stops.why_stopped(asset, address, self.nodes) == Reason.WALLET_FROZEN:
            obstacles.note(
                asset,
                address,
                Obstacle.Kind.ADDRESS,
                at,
                addresses=1,
                amount_atomic=amount_atomic,
            )

    def _note_dear(
        self,
        asset: Asset,
        movable: Sequence[Movable],
        worth: Sequence[Movable],
        costs: Mapping[str, int | None],
        at: datetime,
    ) -> None:
        """Show staff how much isn't worth its gas now, and what it would cost."""
        dear = [held for held in movable if held not in worth]
        if not dear:
            obstacles.end(asset, "", Obstacle.Kind.GAS, at)
            return
        cost = min((costs[held.holding.address] or 0 for held in dear), default=0)
        count, amount = self._left.waiting(asset, sweep_costs.least_worth(asset, cost), at)
        obstacles.note(
            asset,
            "",
            Obstacle.Kind.GAS,
            at,
            addresses=max(count, len(dear)),
            amount_atomic=max(amount, sum(held.amount_atomic for held in dear)),
            cost_atomic=cost,
        )

    def _wallet_for(self, asset: Asset) -> str:
        is_short = asset.pk in self._short
        return self._shares.neediest(asset) if is_short else self._shares.poorest(asset)

    def _sweep_own(self, holding: Found, gas_limit: int, price: SweepPrice, at: datetime) -> None:
        """Of what it leaves for gas, a half is for a replacement that offers more."""
        asset = holding.asset
        gas = units(asset, price.funds(gas_limit) * 3 // 2)
        held = self._held(holding.address) // unit_wei(asset)
        amount = min(holding.left_atomic, held) - gas
        cost = units(asset, price.cost(gas_limit))
        of = {"is_wanted": holding.is_wanted, "is_old": holding.is_old}
        if amount > 0 and sweep_costs.is_worth(asset, amount, cost, **of):
            self._ask(holding, amount, at)

    def _sweep_token(self, held: Movable, native: Asset, price: SweepPrice, at: datetime) -> None:
        """Have the hot wallet send the gas that the address lacks; the sweep is asked for with it,
        and signed as soon as the gas is there."""
        missing = units(native, price.funds(held.gas_limit) - held.fee_wei)
        if missing > 0 and not self._shares.can_afford(native, missing):
            return
        with transaction.atomic():
            if self._ask(held.holding, held.amount_atomic, at) and missing > 0:
                self._send_gas(native, held.holding.address, missing, at)

    def _held(self, address: str) -> int:
        """Gas money, in wei."""
        coin = fee_coin(self.chain)
        return coin.wei(self.nodes.call(*coin.call(address)))

    def _ask(self, holding: Found, amount_atomic: int, at: datetime) -> bool:
        asset = holding.asset
        wallet = self._wallet_for(asset)
        with transaction.atomic():
            number = self._free(holding.address)
            if number is None:
                return False
            self._request(holding.address, number, asset, wallet, amount_atomic, _Purpose.SWEEP, at)
        self._shares.note(asset, wallet, amount_atomic)
        self.asked.sweeps += 1
        return True

    def _add_gas(self, native: Asset, price: SweepPrice, at: datetime) -> None:
        """To what was signed and is out of date."""

        def add(row: OutgoingTransaction) -> None:
            address = row.from_address
            missing_wei = sweep_top_ups.missing(row, native, price, self._held(address))
            missing = units(native, missing_wei)
            if not missing or not self._shares.can_afford(native, missing):
                return
            with transaction.atomic():
                Address.objects.select_for_update().get(pk=address)
                if sweep_top_ups.may_have_more(row):
                    self._send_gas(native, address, missing, at)

        JOB.each(lambda: list(sweep_top_ups.stuck(self.chain, at)[: JOB.limit]), add)

    def _send_gas(self, native: Asset, address: str, amount_atomic: int, at: datetime) -> None:
        """Under the address's lock, with the sweep that needs it."""
        number = self._count(address)
        self._request(address, number, native, address, amount_atomic, _Purpose.SWEEP_GAS, at)
        self.asked.gas_transfers += 1

    def _request(
        self,
        address: str,
        number: int,
        asset: Asset,
        to: str,
        amount_atomic: int,
        purpose: OutgoingTransaction.Purpose,
        at: datetime,
    ) -> None:
        sender.request(
            chain_id=self.chain.pk,
            asset_id=asset.pk,
            to=to,
            amount_atomic=amount_atomic,
            purpose=purpose,
            reference=f"{self.chain.pk}:{address}:{number}",
            mode=self.chain.mode,
            at=at,
            sweeps=address if purpose == _Purpose.SWEEP else "",
        )

    def _free(self, address: str) -> int | None:
        """Under the address's lock: the number of its next transaction; None while one is on its
        way."""
        Address.objects.select_for_update().get(pk=address)
        sweeps, gas = self._of(address)
        ended = (_Status.CONFIRMED, _Status.FAILED)
        if sweeps.exclude(status__in=ended).exists() or gas.exclude(status__in=ended).exists():
            return None
        return self._count(address)

    def _count(self, address: str) -> int:
        return sum(rows.count() for rows in self._of(address))

    def _of(self, address: str) -> tuple[Rows, Rows]:
        """Its sweeps, and what was sent it for gas."""
        rows = OutgoingTransaction.objects.filter(chain=self.chain)
        return (
            rows.filter(purpose=_Purpose.SWEEP, from_address=address),
            rows.filter(purpose=_Purpose.SWEEP_GAS, to_address=address),
        )
