"""Brings deposits to the hot wallet when that is worth its gas, or when the wallet lacks what is
promised; it pays tokens' gas first.

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

from apps.assets.models import Asset, Chain, TokenStandard
from apps.chain.models import Address, HotWallet, OutgoingTransaction
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.reasons import Reason
from apps.chain.sending import balances, fees, hot_wallets, lanes, sender
from apps.chain.sending.balances import NATIVE_GAS
from apps.chain.sending.shares import Shares
from apps.core import clock
from apps.core.db.sql import Value
from apps.core.models import RowTurn
from apps.core.money import atomic_from_decimal
from apps.core.rows import PAUSED_SQL, Job

log = structlog.get_logger(__name__)
JOB = Job("chain.sweep", limit=50, in_transaction=False, raises=(RpcError,))
CHAINS = Job("chain.sweep_due", in_transaction=False, is_vital=True)
GIVING_UP = Job("chain.give_up_sweep", limit=50)
SWEEP_GAS = 100_000  # of a token transfer to a wallet that has some
GIVE_UP = timedelta(hours=1)
# Gas is put aside for so many times today's price, so that a sweep which gets stuck can offer more.
HEADROOM = 2
WORTH_TIMES = 20
_Purpose = OutgoingTransaction.Purpose
_Status = OutgoingTransaction.Status

# What is left at the addresses of an asset: of those where it may be worth a sweep, or of those
# where less was left. A deposit may be worth one until what is left at its address was found to be
# less, which is kept then. Transactions are asked for address by address: each of the three
# questions is answered by a partial index.
_LEFT = """
SELECT a.address, a.native_chain_id, a.watch_balance_until, d.amount - coalesce(o.amount, 0)
    AS amount, EXISTS (SELECT 1 FROM chain_outgoingtransaction t WHERE t.chain_id = %(chain)s
        AND t.from_address = a.address AND t.purpose = 'sweep'
        AND t.status IN ('requested', 'signed', 'submitted', 'review'))
    OR EXISTS (SELECT 1 FROM chain_outgoingtransaction t WHERE t.chain_id = %(chain)s
        AND t.to_address = a.address AND t.purpose = 'sweep_gas'
        AND t.status IN ('requested', 'signed', 'submitted', 'review')) AS is_under_way
FROM (SELECT DISTINCT address_id FROM chain_deposit
    WHERE chain_id = %(chain)s AND asset_id = %(asset)s AND NOT is_simulated AND NOT is_lost
      AND status = 'confirmed' AND handled_status = 'confirmed' {which}) held
JOIN chain_address a ON a.address = held.address_id AND a.mode = %(mode)s
CROSS JOIN LATERAL (SELECT sum(amount_atomic) AS amount FROM chain_deposit
    WHERE address_id = a.address AND chain_id = %(chain)s AND asset_id = %(asset)s
      AND NOT is_simulated AND NOT is_lost AND status = 'confirmed'
      AND handled_status = 'confirmed') d
CROSS JOIN LATERAL (SELECT sum(CASE WHEN status <> 'failed' AND asset_id = %(asset)s
        THEN amount_atomic ELSE 0 END
                             + CASE WHEN %(is_native)s THEN network_fee_atomic ELSE 0 END) AS amount
    FROM chain_outgoingtransaction
    WHERE chain_id = %(chain)s AND from_address = a.address AND purpose = 'sweep') o
"""
_UNSWEPT = _LEFT.format(which="AND is_unswept")
# Those with the most, by what was left when they were set aside: no less than is left now, but
# where something has come since, which is unswept.
_SET_ASIDE_WITH = """
SELECT address_id FROM chain_deposit WHERE chain_id = %(chain)s AND asset_id = %(asset)s
    AND NOT is_unswept AND left_atomic > 0 ORDER BY left_atomic DESC LIMIT %(fullest)s
"""
_FULLEST = _LEFT.format(which=f"AND address_id IN ({_SET_ASIDE_WITH})")
_CANDIDATES = f"""
SELECT address, amount FROM ({{addresses}}) rest
WHERE amount >= %(least)s AND NOT is_under_way AND address NOT IN ({PAUSED_SQL})
  AND (%(is_wanted)s OR native_chain_id IS NULL OR watch_balance_until IS NULL
      OR watch_balance_until <= %(at)s)
ORDER BY amount DESC LIMIT %(limit)s
"""  # noqa: S608  # our own text
_SET_ASIDE = f"""
UPDATE chain_deposit SET is_unswept = false, left_atomic = found.amount FROM (
    SELECT d.id, rest.amount FROM ({_UNSWEPT}) rest
    JOIN chain_deposit d ON d.address_id = rest.address
    WHERE rest.amount < %(least)s AND NOT rest.is_under_way AND d.chain_id = %(chain)s
      AND d.asset_id = %(asset)s AND d.is_unswept AND NOT d.is_simulated AND NOT d.is_lost
      AND d.status = 'confirmed' AND d.handled_status = 'confirmed' LIMIT %(limit)s) found
WHERE chain_deposit.id = found.id
"""  # noqa: S608  # our own text
# And of which nobody knows what was left: they were set aside before that was kept.
_LOOK_AGAIN = """
UPDATE chain_deposit SET is_unswept = true
WHERE chain_id = %(chain)s AND asset_id = %(asset)s AND NOT is_unswept
    AND (left_atomic IS NULL OR (left_atomic > 0 AND left_atomic >= %(least)s))
"""
# What was brought from an address since it was set aside isn't left there any more.
_CORRECT = f"""
UPDATE chain_deposit d SET left_atomic = greatest(rest.amount, 0) FROM ({_FULLEST}) rest
WHERE d.address_id = rest.address AND d.chain_id = %(chain)s AND d.asset_id = %(asset)s
    AND NOT d.is_unswept AND d.left_atomic > greatest(rest.amount, 0) AND NOT rest.is_under_way
"""  # noqa: S608  # our own text
SET_ASIDE_AT_ONCE = 5_000
FULLEST_MAX = 4 * JOB.limit


@dataclass
class Swept:
    """What one round asked for."""

    sweeps: int = 0
    gas_transfers: int = 0


def sweep_due(mode: str = "") -> Swept:
    """Ask for the sweeps that are worth it now, on every chain (of a mode) whose hot wallet is at
    work."""
    counts = Swept()
    _give_up_waiting(clock.real_now())
    wallets = HotWallet.objects.filter(halted_at=None)
    chains = Chain.objects.filter(pk__in=wallets.values("chain")).order_by("pk")
    CHAINS.walk(chains.filter(mode=mode) if mode else chains, lambda chain: _sweep(chain, counts))
    return counts


def _sweep(chain: Chain, counts: Swept) -> None:
    wallets = HotWallet.objects.filter(chain=chain, halted_at=None).order_by("number")
    if not settings.CHAIN_URLS.get(chain.pk):
        return
    with closing(nodes_of(chain)) as nodes:
        try:
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


class _ChainSweep:
    """One round for a chain, to those of its wallets that aren't halted."""

    def __init__(
        self, chain: Chain, wallets: Sequence[HotWallet], nodes: Nodes, counts: Swept
    ) -> None:
        self.chain = chain
        self.nodes = nodes
        self.asked = counts
        self._shares = Shares(wallets, nodes)
        self._short: Mapping[str, int] = {}

    def run(self, at: datetime) -> None:
        holdings = self._found(at)
        if not holdings:
            return
        block = self.nodes.call("eth_getBlockByNumber", ["latest", False])
        tip = fees.tip_of(self.nodes, block)
        ceiling = settings.SIGNER_MAX_FEE_GWEI * fees.GWEI
        offer = fees.suggested(fees.base_fee_of(block), tip, ceiling)
        if offer is None:
            return

        def sweep(holding: _Found) -> None:
            go = self._sweep_native if holding.asset.is_native else self._sweep_token
            go(holding, offer.max_fee_wei, at)

        JOB.each(lambda: holdings, sweep, id_of=lambda holding: holding.address)

    def _found(self, at: datetime) -> list[_Found]:
        """What is worth its gas by itself, and of assets that the wallet is short of, as much as it
        takes."""
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
        return self._found_in(_UNSWEPT, self._arguments(asset, least, at) | {"is_wanted": False})

    def _fullest(self, asset: Asset, at: datetime) -> list[tuple[str, int]]:
        """The addresses at which the most is left, whatever it is worth."""
        arguments = self._arguments(asset, 1, at) | {"is_wanted": True, "fullest": FULLEST_MAX}
        with connection.cursor() as cursor:
            cursor.execute(_CORRECT, arguments)
        holdings = {
            **dict(self._found_in(_UNSWEPT, arguments)),
            **dict(self._found_in(_FULLEST, arguments)),
        }
        return sorted(holdings.items(), key=lambda holding: -holding[1])[: JOB.limit]

    def _found_in(self, addresses: str, arguments: dict[str, Value]) -> list[tuple[str, int]]:
        with connection.cursor() as cursor:
            cursor.execute(
                _CANDIDATES.format(addresses=addresses), arguments | {"limit": JOB.limit}
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
                cursor.execute(_LOOK_AGAIN, values)
            cursor.execute(_SET_ASIDE, values)
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

    def _sweep_native(self, holding: _Found, fee_wei: int, at: datetime) -> None:
        gas = HEADROOM * NATIVE_GAS * fee_wei
        amount = min(holding.left_atomic, self._held(holding.address)) - gas
        if amount >= (1 if holding.is_wanted else WORTH_TIMES) * gas:
            self._ask(holding, amount, at)

    def _sweep_token(self, holding: _Found, fee_wei: int, at: datetime) -> None:
        """Once the gas is there; else the hot wallet sends what is missing."""
        asset = holding.asset
        address = holding.address
        remainder = holding.left_atomic
        gas = HEADROOM * SWEEP_GAS * fee_wei
        balance = self._held(address)
        if 2 * balance >= gas:
            amount = min(remainder, balances.of_token(asset, address, self.nodes))
            if amount > 0:
                self._ask(holding, amount, at)
            return
        native = Asset.objects.filter(chain=self.chain, token_standard=TokenStandard.NATIVE).first()
        if native is not None and self._shares.can_afford(native, gas - balance):
            self._send_gas(native, address, gas - balance, at)

    def _held(self, address: str) -> int:
        return int(self.nodes.call("eth_getBalance", [address, "latest"]), 16)

    def _ask(self, holding: _Found, amount_atomic: int, at: datetime) -> None:
        asset = holding.asset
        is_short = asset.pk in self._short
        wallet = self._shares.neediest(asset) if is_short else self._shares.poorest(asset)
        is_asked = self._request(
            holding.address,
            asset,
            to=wallet,
            amount_atomic=amount_atomic,
            purpose=_Purpose.SWEEP,
            at=at,
            sweeps=holding.address,
        )
        if is_asked:
            self._shares.note(asset, wallet, amount_atomic)
        self.asked.sweeps += is_asked

    def _send_gas(self, native: Asset, address: str, amount_atomic: int, at: datetime) -> None:
        is_asked = self._request(
            address,
            native,
            to=address,
            amount_atomic=amount_atomic,
            purpose=_Purpose.SWEEP_GAS,
            at=at,
        )
        self.asked.gas_transfers += is_asked

    def _request(
        self,
        address: str,
        asset: Asset,
        *,
        to: str,
        amount_atomic: int,
        purpose: OutgoingTransaction.Purpose,
        at: datetime,
        sweeps: str = "",
    ) -> bool:
        """The address's next transaction; none while one is on its way."""
        with transaction.atomic():
            number = self._free(address)
            if number is None:
                return False
            sender.request(
                chain_id=self.chain.pk,
                asset_id=asset.pk,
                to=to,
                amount_atomic=amount_atomic,
                purpose=purpose,
                reference=f"{self.chain.pk}:{address}:{number}",
                mode=self.chain.mode,
                at=at,
                sweeps=sweeps,
            )
        return True

    def _free(self, address: str) -> int | None:
        """Under the address's lock: the number of its next transaction; None while one is on its
        way."""
        Address.objects.select_for_update().get(pk=address)
        rows = OutgoingTransaction.objects.filter(chain=self.chain)
        sweeps = rows.filter(purpose=_Purpose.SWEEP, from_address=address)
        gas = rows.filter(purpose=_Purpose.SWEEP_GAS, to_address=address)
        ended = (_Status.CONFIRMED, _Status.FAILED)
        if sweeps.exclude(status__in=ended).exists() or gas.exclude(status__in=ended).exists():
            return None
        return sweeps.count() + gas.count()
