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
from django.db import connection, transaction
from django.db.models import QuerySet

from apps.assets.models import Asset, Chain, TokenStandard
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
    sweep_costs,
    sweep_top_ups,
    token_stops,
)
from apps.chain.sending import sweep_queries as queries
from apps.chain.sending.refused_bytes import Words, words_of
from apps.chain.sending.shares import Shares
from apps.chain.sending.sweep_costs import SweepPrice
from apps.core import clock
from apps.core.db.sql import Value
from apps.core.models import RowTurn
from apps.core.money import atomic_from_decimal
from apps.core.rows import Job

log = structlog.get_logger(__name__)
JOB = Job("chain.sweep", limit=50, in_transaction=False, raises=(RpcError,))
CHAINS = Job("chain.sweep_due", in_transaction=False, is_vital=True)
GIVING_UP = Job("chain.give_up_sweep", limit=50)
GIVE_UP = timedelta(hours=1)
Rows = QuerySet[OutgoingTransaction]
_Purpose = OutgoingTransaction.Purpose
_Status = OutgoingTransaction.Status

SET_ASIDE_AT_ONCE = 5_000
FULLEST_MAX = 4 * JOB.limit


@dataclass
class SweepCounts:
    """Requests of one round."""

    sweeps: int = 0
    gas_transfers: int = 0


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


def threshold(asset: Asset) -> int | None:
    """The least of an asset that is swept, in atomic units; None when it never is."""
    for line in settings.SWEEP_MINIMUMS:
        name, _, amount = line.partition("=")
        if name == asset.pk:
            return atomic_from_decimal(amount, asset.atomic_decimals)
    return None


def _give_up_waiting(at: datetime) -> None:
    """A sweep that was never signed makes room for one with other figures."""
    old = OutgoingTransaction.objects.filter(
        purpose=_Purpose.SWEEP, status=_Status.REQUESTED, requested_at__lt=at - GIVE_UP
    )

    def give_up(row: OutgoingTransaction) -> None:
        Address.objects.select_for_update().get(pk=row.from_address)
        hot_wallets.finish(row, _Status.FAILED, at, Reason.GAS_TOO_DEAR)

    GIVING_UP.walk(old.order_by("requested_at"), give_up)


@dataclass(frozen=True)
class _Found:
    """An address, what is left there of an asset, and whether it is brought because the wallet
    lacks it."""

    asset: Asset
    address: str
    left_atomic: int
    is_wanted: bool = False


@dataclass(frozen=True)
class _Movable:
    """The coins of a token that can be brought from an address, the native coin that is there, and
    the gas that it takes."""

    holding: _Found
    amount_atomic: int
    native_atomic: int
    gas_limit: int


class _ChainSweep:
    """A round for a chain, to those of its wallets that aren't halted."""

    def __init__(
        self, chain: Chain, wallets: Sequence[HotWallet], nodes: Nodes, counts: SweepCounts
    ) -> None:
        self.chain = chain
        self.nodes = nodes
        self.asked = counts
        self._shares = Shares(wallets, nodes)
        self._short: Mapping[str, int] = {}

    def run(self, at: datetime) -> None:
        holdings = self._found(at)
        gas_left.learn(self.chain)
        native = Asset.objects.filter(chain=self.chain, token_standard=TokenStandard.NATIVE).first()
        price = sweep_costs.price_on(self.chain, self.nodes)
        if native is None or price is None:
            return
        self._add_gas(native, price, at)
        least = sweep_costs.least_worth(price.cost(price.gas.native))
        remainders = gas_left.worth(self.chain, least, at, JOB.limit)
        addresses = {holding.address for holding in holdings}
        natives = [holding for holding in holdings if holding.asset.is_native]
        natives += [_Found(native, *held) for held in remainders if held[0] not in addresses]
        JOB.each(
            lambda: natives,
            lambda holding: self._sweep_native(holding, price, at),
            id_of=lambda holding: holding.address,
        )
        self._sweep_tokens(holdings, native, price, at)

    def _sweep_tokens(
        self, holdings: Sequence["_Found"], native: Asset, price: SweepPrice, at: datetime
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
            worth = [
                held
                for held in movable
                if (cost := costs[held.holding.address]) is not None
                and sweep_costs.is_worth(held.amount_atomic, cost, is_wanted=held.holding.is_wanted)
            ]
            self._note_dear(asset, movable, worth, costs, at)
            self._sweep_each(worth, native, price, at)

    def _sweep_each(
        self, worth: Sequence["_Movable"], native: Asset, price: SweepPrice, at: datetime
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
            if not asset.is_native and asset.stopped_since is None
        ]

    def _found(self, at: datetime) -> list[_Found]:
        """Balances worth their own gas, and balances of assets that the wallet is short of, as much
        as it needs."""
        holdings: list[_Found] = []
        short = lanes.short_of(self.chain.pk)
        self._short = short
        for asset in self._sweepable(short):
            least = threshold(asset)
            if least is not None:
                self._set_aside(asset, least, at)
            worth = (
                []
                if least is None
                else [_Found(asset, *holding) for holding in self._candidates(asset, least, at)]
            )
            holdings += worth + self._wanted(
                asset, short.get(asset.pk, 0), {holding.address for holding in worth}, at
            )
        return holdings

    def _wanted(
        self, asset: Asset, short_atomic: int, addresses: set[str], at: datetime
    ) -> list[_Found]:
        """The fullest addresses that bring what the wallet has promised and lacks, whatever the
        minimum."""
        if not short_atomic:
            return []
        wallet = self._shares.neediest(asset)
        missing = short_atomic - balances.free(asset, wallet, self.nodes)
        holdings: list[_Found] = []
        for address, remainder in self._fullest(asset, at):
            if missing <= 0:
                break
            missing -= remainder
            if address not in addresses:
                holdings.append(_Found(asset, address, remainder, is_wanted=True))
        if holdings or addresses:
            lanes.call_back(self.chain.pk, asset.pk, waits_for=OutgoingTransaction.WaitsFor.SWEEP)
        return holdings

    def _sweepable(self, short: Mapping[str, int]) -> list[Asset]:
        rows = Asset.objects.filter(chain=self.chain).order_by("position", "pk")
        assets = [asset for asset in rows if threshold(asset) is not None or asset.pk in short]
        return [asset for asset in assets if asset.is_native or asset.contract_address]

    def _candidates(self, asset: Asset, least: int, at: datetime) -> list[tuple[str, int]]:
        return self._found_in(
            queries.UNSWEPT, self._arguments(asset, least, at) | {"is_wanted": False}
        )

    def _fullest(self, asset: Asset, at: datetime) -> list[tuple[str, int]]:
        """The addresses at which the most is left, whatever it is worth."""
        arguments = self._arguments(asset, 1, at) | {"is_wanted": True, "fullest": FULLEST_MAX}
        with connection.cursor() as cursor:
            cursor.execute(queries.CORRECT, arguments)
        holdings = {
            **dict(self._found_in(queries.UNSWEPT, arguments)),
            **dict(self._found_in(queries.FULLEST, arguments)),
        }
        return sorted(holdings.items(), key=lambda holding: -holding[1])[: JOB.limit]

    def _found_in(self, addresses: str, arguments: dict[str, Value]) -> list[tuple[str, int]]:
        with connection.cursor() as cursor:
            cursor.execute(
                queries.CANDIDATES.format(addresses=addresses), arguments | {"limit": JOB.limit}
            )
            return [(address, int(remainder)) for address, remainder in cursor.fetchall()]

    def _set_aside(self, asset: Asset, least: int, at: datetime) -> None:
        """Deposits at whose addresses less is left than is worth a sweep aren't asked about until
        another one arrives there, or the minimum is lowered."""
        values = self._arguments(asset, least, at) | {"limit": SET_ASIDE_AT_ONCE}
        turn = f"{JOB.name}:{asset.pk}"
        before = RowTurn.objects.filter(job=turn).values_list("row_id", flat=True).first()
        with connection.cursor() as cursor:
            if before is not None and least < int(before):
                cursor.execute(queries.LOOK_AGAIN, values)
            cursor.execute(queries.SET_ASIDE, values)
        if before != str(least):
            RowTurn.objects.update_or_create(job=turn, defaults={"row_id": str(least)})

    def _arguments(self, asset: Asset, least: int, at: datetime) -> dict[str, Value]:
        return {
            "chain": self.chain.pk,
            "asset": asset.pk,
            "mode": self.chain.mode,
            "is_native": asset.is_native,
            "least": least,
            "at": at,
            "job": JOB.name,
            "now": at,
        }

    def _movable(
        self, asset: Asset, holdings: Sequence[_Found], price: SweepPrice, at: datetime
    ) -> list["_Movable"]:
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
        answers = self.nodes.each(
            [balances.call_for_token(asset, held.address) for held in due]
            + [("eth_getBalance", [held.address, "latest"]) for held in due]
        )
        movable = []
        moves = []
        for held, tokens, native in zip(due, answers, answers[len(due) :], strict=False):
            if isinstance(tokens, RpcError) or isinstance(native, RpcError):
                continue
            amount = min(held.left_atomic, balances.read_tokens(tokens))
            if amount > 0:
                moves.append((held, amount, int(native, 16)))
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
                movable.append(_Movable(held, amount, native, limit))
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
        movable: Sequence["_Movable"],
        worth: Sequence["_Movable"],
        costs: Mapping[str, int | None],
        at: datetime,
    ) -> None:
        """Show staff how much isn't worth its gas now, and what it would cost."""
        dear = [held for held in movable if held not in worth]
        if not dear:
            obstacles.end(asset, "", Obstacle.Kind.GAS, at)
            return
        cost = min((costs[held.holding.address] or 0 for held in dear), default=0)
        arguments = self._arguments(asset, threshold(asset) or 1, at)
        with connection.cursor() as cursor:
            cursor.execute(queries.WAITING, arguments | {"most": sweep_costs.least_worth(cost)})
            count, amount = cursor.fetchone()
        obstacles.note(
            asset,
            "",
            Obstacle.Kind.GAS,
            at,
            addresses=max(count, len(dear)),
            amount_atomic=max(int(amount), sum(held.amount_atomic for held in dear)),
            cost_atomic=cost,
        )

    def _wallet_for(self, asset: Asset) -> str:
        is_short = asset.pk in self._short
        return self._shares.neediest(asset) if is_short else self._shares.poorest(asset)

    def _sweep_native(self, holding: _Found, price: SweepPrice, at: datetime) -> None:
        """Of what it leaves for gas, a half is for a replacement that offers more."""
        gas = price.funds(price.gas.native) * 3 // 2
        amount = min(holding.left_atomic, self._held(holding.address)) - gas
        if amount > 0 and sweep_costs.is_worth(
            amount, price.cost(price.gas.native), is_wanted=holding.is_wanted
        ):
            self._ask(holding, amount, at)

    def _sweep_token(
        self, held: "_Movable", native: Asset, price: SweepPrice, at: datetime
    ) -> None:
        """Have the hot wallet send the gas that the address lacks; the sweep is asked for with it,
        and signed as soon as the gas is there."""
        missing = price.funds(held.gas_limit) - held.native_atomic
        if missing > 0 and not self._shares.can_afford(native, missing):
            return
        with transaction.atomic():
            if self._ask(held.holding, held.amount_atomic, at) and missing > 0:
                self._send_gas(native, held.holding.address, missing, at)

    def _held(self, address: str) -> int:
        return int(self.nodes.call("eth_getBalance", [address, "latest"]), 16)

    def _ask(self, holding: _Found, amount_atomic: int, at: datetime) -> bool:
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
            missing = sweep_top_ups.missing(row, native, price, self._held(address))
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
