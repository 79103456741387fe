"""Signs what was asked for on a network with coins: many orders in one transaction, within the caps
and of coins that are ours. The coins, the orders and the bytes are one commit.

What isn't committed was never shown to anybody. Nothing is broadcast here.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

import structlog
from django.conf import settings
from django.db import transaction

from apps.assets.models import Chain
from apps.chain.keys.keystores import HotKey, Unsigned
from apps.chain.keys.secp256k1 import SigningKey
from apps.chain.keys.seeds import Seed
from apps.chain.models import (
    Address,
    CoinRecord,
    HotWallet,
    OutgoingTransaction,
    SpendCandidate,
    SpendRecord,
)
from apps.chain.networks.base import (
    Builder,
    Carrier,
    Coin,
    CoinsShort,
    Order,
    Rates,
    RateTooHigh,
    SpendPlan,
)
from apps.chain.networks.bitcoin.parameters import parameters_of
from apps.chain.networks.coins import builder_of
from apps.chain.networks.families import addresses_of
from apps.chain.reasons import Reason, because
from apps.chain.sending import approvals, coin_joins, coin_purse, holds, hot_wallets, lanes, limits
from apps.chain.sending.caps import Headroom
from apps.chain.sending.plans import packed, unpacked
from apps.chain.states import IN_FLIGHT, OUTGOING
from apps.core.machine import Step
from apps.core.process.failpoints import failpoint

log = structlog.get_logger(__name__)
ATTEMPTS_MAX = 5
GATHER_SECONDS = 5
GATHER_TIMES_MAX = 6
CANDIDATES_MAX = 12
LATE_MAX = 200
_Status = OutgoingTransaction.Status
_WaitsFor = OutgoingTransaction.WaitsFor
_JOIN = OutgoingTransaction.Purpose.JOIN
_COLD = OutgoingTransaction.Purpose.COLD
_GATHERED = (
    OutgoingTransaction.Purpose.PAYOUT,
    OutgoingTransaction.Purpose.REFUND,
    OutgoingTransaction.Purpose.SETTLEMENT,
    OutgoingTransaction.Purpose.WITHDRAWAL,
)


class CoinSigner:
    """Signs for one chain. Several may run at once: the row of its wallet keeps them apart."""

    def __init__(
        self, chain: Chain, key_of: Callable[[int], HotKey], seed: Seed, carrier: Carrier
    ) -> None:
        self.chain = chain
        self.carrier = carrier
        self.builder: Builder = builder_of(chain)
        self._key = key_of(0)
        self._seed = seed
        self._coin = parameters_of(chain.chain_id).coin

    def run(self, at: datetime) -> int:
        """Sign what is due; how many orders were signed. Raises RpcError and KeystoreError."""
        wallet = ensure_wallet(self.chain, self._key, self.builder, at)
        hold = holds.held_on(self.chain)
        if wallet.halted_at is not None or hold.is_everything:
            return 0
        lanes.note_enough(wallet)
        due = self._gathered(lanes.due(self.chain, at, hold.asset_ids), at)
        rows = self._allowed(due, at)
        late = self._late(at)
        if not rows and not late:
            return 0
        rates = self.carrier.rates()
        for spend in late:
            self._asking(partial(self._replace, spend, rates, at))
        if rates.now > rates.ceiling:
            lanes.wait(rows, Reason.NETWORK_DEAR, _WaitsFor.NETWORK, at)
            return 0
        signed = 0
        for row in [row for row in rows if row.purpose == _JOIN]:
            signed += self._asking(partial(self._join, row, rates, at))
        rows = [row for row in rows if row.purpose != _JOIN]
        for start in range(0, len(rows), self.builder.orders_max):
            part = rows[start : start + self.builder.orders_max]
            signed += self._asking(partial(self._commit, part, rates, at))
        return signed

    def _gathered(
        self, requests: list[OutgoingTransaction], at: datetime
    ) -> list[OutgoingTransaction]:
        """Orders that may leave now: new ones wait while others are still being asked for, so that
        one transaction pays all (decision 896)."""
        new = [row for row in requests if row.purpose in _GATHERED and not row.waits_for]
        seconds = settings.SIGNER_GATHER_SECONDS.get(self.chain.pk, GATHER_SECONDS)
        quiet = timedelta(seconds=seconds)
        asked_at = [row.requested_at for row in new]
        is_over = (
            not new
            or len(new) >= self.builder.orders_max
            or max(asked_at) <= at - quiet
            or min(asked_at) <= at - quiet * GATHER_TIMES_MAX
        )
        return requests if is_over else [row for row in requests if row not in new]

    def _allowed(
        self, requests: Sequence[OutgoingTransaction], at: datetime
    ) -> list[OutgoingTransaction]:
        refused = limits.refusals(requests, self.chain)
        for row in requests:
            if row.pk in refused:
                hot_wallets.refuse(row, refused[row.pk], at)
            elif addresses_of(self.chain).read(row.to_address) != row.to_address:
                hot_wallets.finish(row, _Status.FAILED, at, Reason.DESTINATION_REFUSED)
            elif row.amount_atomic < self.builder.dust_at(row.to_address):
                hot_wallets.finish(row, _Status.FAILED, at, Reason.TOO_SMALL)
        rows = [row for row in requests if row.status == _Status.REQUESTED]
        room = Headroom(rows, at)
        within = []
        for row in rows:
            reason = room.refusal(row)
            if reason:
                hot_wallets.finish(row, _Status.REVIEW, at, reason)
            else:
                within.append(row)
        return within

    def _asking(self, act: Callable[[], int]) -> int:
        """Do it; a keystore elsewhere is asked between two attempts, never inside their
        transaction."""
        for _ in range(ATTEMPTS_MAX):
            try:
                return act()
            except Unsigned as missing:
                self._key.ask(missing.digests)
        return 0

    def _commit(self, requests: Sequence[OutgoingTransaction], rates: Rates, at: datetime) -> int:
        """Under the wallet's lock: check again what may have changed, take coins, sign, keep the
        bytes."""
        short: list[OutgoingTransaction] = []
        above: list[tuple[OutgoingTransaction, Reason]] = []
        with transaction.atomic():
            [wallet] = hot_wallets.locked(self.chain).values()
            hold = holds.held_on(self.chain)
            if wallet.halted_at is not None or hold.is_everything:
                return 0
            rows = self._still_asked(requests, hold.asset_ids, at, above)
            coins = coin_purse.coins_of(coin_purse.spendable(self.chain).select_for_update())
            plan = None
            while rows and plan is None:
                try:
                    plan = self.builder.plan(_orders(rows), coins, rates, wallet.address)
                except CoinsShort:
                    short.append(rows.pop())
                except RateTooHigh:
                    short, rows = [*short, *rows], []
            if plan is not None:
                self._keep(plan, rows, wallet, at)
            for row, reason in above:
                hot_wallets.finish(row, _Status.REVIEW, at, reason)
        for row in [row for row in short if row.purpose == _COLD]:
            # Nothing is fetched for cold storage: that is given up, and counted anew.
            hot_wallets.finish(row, _Status.FAILED, at, Reason.HOLDS_LESS)
        lanes.wait_for_funds([row for row in short if row.purpose != _COLD], at)
        return len(rows)

    def _join(self, request: OutgoingTransaction, rates: Rates, at: datetime) -> int:
        """Coins that go back to the wallet, by the plan of this moment."""
        with transaction.atomic():
            [wallet] = hot_wallets.locked(self.chain).values()
            hold = holds.held_on(self.chain)
            if wallet.halted_at is not None or hold.is_everything:
                return 0
            above: list[tuple[OutgoingTransaction, Reason]] = []
            rows = self._still_asked([request], hold.asset_ids, at, above)
            list(coin_purse.spendable(self.chain).select_for_update().values_list("pk"))
            for row in rows:
                try:
                    plan = coin_joins.plan_of(row.reference, wallet, self.builder, rates)
                except (CoinsShort, RateTooHigh):
                    hot_wallets.finish(row, _Status.FAILED, at, Reason.NOTHING_TO_JOIN)
                    return 0
                self._keep(plan, rows, wallet, at)
            for row, reason in above:
                hot_wallets.finish(row, _Status.REVIEW, at, reason)
        return len(rows)

    def _still_asked(
        self,
        requests: Sequence[OutgoingTransaction],
        held_ids: Collection[str],
        at: datetime,
        above: list[tuple[OutgoingTransaction, Reason]],
    ) -> list[OutgoingTransaction]:
        going = lanes.still_going([row for row in requests if row.asset_id not in held_ids])
        locked = OutgoingTransaction.objects.select_for_update(of=("self",)).select_related("asset")
        rows = {
            row.pk: row
            for row in locked.filter(
                pk__in=[row.pk for row in going], status=_Status.REQUESTED
            ).order_by("pk")
        }
        chosen = [rows[row.pk] for row in going if row.pk in rows]
        room = Headroom(chosen, at)
        unapproved = approvals.refusals(chosen)
        within = []
        for row in chosen:
            reason = unapproved.get(row.pk) or room.refusal(row)
            if reason:
                above.append((row, reason))
            else:
                within.append(row)
        return within

    def _keep(
        self, plan: SpendPlan, rows: Sequence[OutgoingTransaction], wallet: HotWallet, at: datetime
    ) -> None:
        first = plan.coins[0].place
        spend = SpendRecord.objects.create(
            chain=self.chain,
            wallet_address=wallet.address,
            first_tx_hash=first.tx_hash,
            first_output=first.output,
            created_at=at,
        )
        candidate = self._candidate(spend, plan, at)
        for coin in plan.coins:
            self._take(coin, spend)
        failpoint("send.K4")
        OUTGOING.change_many(
            rows,
            Step(_Status.SIGNED),
            ats=[at] * len(rows),
            each={"goes_back": [row.goes_back for row in rows]},
            spend_id=spend.pk,
            tx_hash=candidate.tx_hash,
            from_address=wallet.address,
            signed_at=at,
            waits_for="",
            not_before=None,
            **because(None),
        )

    def _take(self, coin: Coin, spend: SpendRecord) -> None:
        CoinRecord.objects.filter(
            chain=self.chain, tx_hash=coin.place.tx_hash, output=coin.place.output
        ).update(spend=spend)

    def _candidate(self, spend: SpendRecord, plan: SpendPlan, at: datetime) -> SpendCandidate:
        keys = self._keys(plan)
        publics = {
            address: self._key.public_key if key is None else key.public_key
            for address, key in keys.items()
        }
        digests = self.builder.digests(plan, publics)
        holders = [keys[coin.address] for coin in plan.coins]
        self._key.need(
            [digest for digest, key in zip(digests, holders, strict=True) if key is None]
        )
        signatures = []
        for digest, key in zip(digests, holders, strict=True):
            _, r, s = (key or self._key).sign(digest)
            signatures.append((r, s))
        signed = self.builder.signed(plan, publics, signatures)
        return SpendCandidate.objects.create(
            spend=spend,
            tx_hash=signed.tx_hash,
            raw=signed.raw,
            plan=packed(plan),
            fee_atomic=plan.fee_atomic,
            signed_at=at,
        )

    def _keys(self, plan: SpendPlan) -> Mapping[str, SigningKey | None]:
        """By address; None of the hot wallet's, whose key is kept elsewhere. The builder refuses a
        key that isn't an address's, whatever a row says."""
        rows = Address.objects.in_bulk({coin.address for coin in plan.coins})
        return {
            coin.address: (
                self._seed.coin_key(self._coin, row.mode, row.index)
                if (row := rows.get(coin.address)) is not None
                else None
            )
            for coin in plan.coins
        }

    # --- a higher fee -----------------------------------------------------------------------------

    def _late(self, at: datetime) -> list[SpendRecord]:
        """The spends whose newest bytes have waited too long, the oldest first: one that can't be
        replaced keeps none of the others."""
        rows = (
            SpendRecord.objects.filter(
                chain=self.chain, ended_at=None, orders__status__in=IN_FLIGHT
            )
            .exclude(candidates__signed_at__gt=at - coin_joins.patience())
            .exclude(orders__purpose=_JOIN)
        )
        return list(rows.order_by("pk").distinct()[:LATE_MAX])

    def _replace(self, spend: SpendRecord, rates: Rates, at: datetime) -> int:
        """Bytes with the same orders and a higher fee. Within the ceiling, and not for ever."""
        with transaction.atomic():
            [wallet] = hot_wallets.locked(self.chain).values()
            newest = spend.candidates.last()
            if (
                wallet.halted_at is not None
                or newest is None
                or spend.candidates.count() >= CANDIDATES_MAX
                or self._is_refused(spend, newest)
                or coin_joins.is_lifted(spend)
            ):
                return 0
            orders = list(spend.orders.select_related("asset"))
            if any(approvals.refusals(orders).values()):
                return 0
            spare = coin_purse.coins_of(coin_purse.spendable(self.chain).select_for_update())
            try:
                plan = self.builder.replace(unpacked(newest.plan), rates, spare)
            except (CoinsShort, RateTooHigh):
                return 0
            candidate = self._candidate(spend, plan, at)
            for coin in plan.coins:
                self._take(coin, spend)
        log.warning(
            "spend_replaced",
            chain=self.chain.pk,
            spend=spend.pk,
            tx_hash=candidate.tx_hash,
            fee=plan.fee_atomic,
        )
        return 1

    @staticmethod
    def _is_refused(spend: SpendRecord, newest: SpendCandidate) -> bool:
        """Tell whether no node has taken the last replacement, as ordinary ones of Litecoin: then
        another would be signed in vain."""
        is_first = not spend.candidates.exclude(pk=newest.pk).exists()
        return newest.broadcast_at is None and not is_first


def _orders(rows: Sequence[OutgoingTransaction]) -> list[Order]:
    return [Order(str(row.pk), row.to_address, int(row.amount_atomic)) for row in rows]


def ensure_wallet(chain: Chain, key: HotKey, builder: Builder, at: datetime) -> HotWallet:
    """The chain's wallet, whose address is its key's. A wrong key halts it."""
    address = builder.address_of(key.public_key)
    wallet, _ = HotWallet.objects.get_or_create(
        chain=chain, number=0, defaults={"address": address, "next_nonce": 0}
    )
    if wallet.address != address and wallet.halted_at is None:
        hot_wallets.halt(wallet, "The signer holds the key of another wallet", at)
        wallet.refresh_from_db()
    return wallet
