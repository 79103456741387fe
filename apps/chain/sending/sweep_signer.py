"""Signs the sweeps: deposits go to the hot wallet of their chain, and nowhere else. Each deposit
address has nonces of its own.

An address has at most one sweep that isn't over, so its next nonce is what its ended ones have
used; the chain must agree.
"""

import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Max

from apps.assets.models import Chain
from apps.chain.keys.secp256k1 import SigningKey
from apps.chain.keys.seeds import Seed
from apps.chain.models import Address, HotWallet, OutgoingTransaction, SignedTransaction
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.reasons import Reason, Refusal, because
from apps.chain.sending import (
    approvals,
    balances,
    fees,
    gas,
    holds,
    hot_wallets,
    limits,
    refused_bytes,
    sweep_costs,
)
from apps.chain.sending.calls import call_of
from apps.chain.sending.candidates import signed_candidate
from apps.chain.sending.fee_coins import fee_coin, unit_wei
from apps.chain.sending.fees import FeeOffer
from apps.chain.sending.refused_bytes import Terms, words_of
from apps.chain.sending.signer import CANDIDATES_MAX
from apps.chain.sending.sweep_costs import SweepPrice
from apps.chain.states import IN_FLIGHT, OUTGOING
from apps.core.errors import ErrorCode
from apps.core.machine import Step
from apps.core.process.failpoints import failpoint

log = structlog.get_logger(__name__)
BATCH_MAX = 50
# What waits longer for its gas is looked at again after a quarter of the time that it has waited.
SOON = timedelta(minutes=1)
LATER = timedelta(minutes=2)
_Status = OutgoingTransaction.Status


class SweepSigner:
    """Signs the sweeps of one chain. Several may run at once: the address's row keeps them
    apart."""

    def __init__(self, chain: Chain, seed: Seed, nodes: Nodes) -> None:
        self.chain = chain
        self.nodes = nodes
        self._seed = seed
        self.ceiling_wei = fees.ceiling_of(chain)
        self.patience = timedelta(seconds=settings.SIGNER_STUCK_SECONDS)

    def run(self, at: datetime) -> int:
        """Sign what is due; how many transactions were signed. Raises RpcError when the chain can't
        be asked."""
        hold = holds.held_on(self.chain)
        wallets = list(HotWallet.objects.filter(chain=self.chain))
        halted = [wallet.address for wallet in wallets if wallet.halted_at is not None]
        if hold.is_everything or len(halted) == len(wallets):
            return 0
        rows = (
            OutgoingTransaction.objects.filter(
                chain=self.chain, purpose=OutgoingTransaction.Purpose.SWEEP, batch=None
            )
            .exclude(to_address__in=halted)
            .select_related("asset")
        )
        waiting = rows.filter(status=_Status.REQUESTED).exclude(asset__in=hold.asset_ids)
        waiting = waiting.exclude(not_before__gt=at)
        requests = list(waiting.order_by("requested_at", "pk")[:BATCH_MAX])
        signed = rows.filter(status__in=IN_FLIGHT, undone_count=0)
        stuck = list(signed.exclude(candidates__signed_at__gt=at - self.patience)[:BATCH_MAX])
        refused = signed.filter(candidates__refused_count__gt=0).exclude(
            pk__in=[r.pk for r in stuck]
        )
        stuck += [row for row in refused.distinct()[:BATCH_MAX] if refused_bytes.is_due(row, at)]
        if not requests and not stuck:
            return 0
        price = sweep_costs.price_on(self.chain, self.nodes)
        if price is None:
            return 0
        return sum(self._each(self._sign, row, price, at) for row in requests) + sum(
            self._each(self._replace, row, price, at) for row in stuck
        )

    def _each(
        self,
        act: Callable[[OutgoingTransaction, SweepPrice, datetime], int],
        row: OutgoingTransaction,
        price: SweepPrice,
        at: datetime,
    ) -> int:
        """One address that a node says nothing of keeps no other. Raises RpcError when no node
        answers."""
        try:
            return act(row, price, at)
        except RpcError as error:
            if not error.is_refusal:
                raise
            log.warning("outgoing_not_estimated", outgoing=str(row.pk), error=str(error))
            return self._wait(row, at)

    def _sign(self, row: OutgoingTransaction, price: SweepPrice, at: datetime) -> int:
        """With as much for gas as the address has, up to today's offer; what it lacks is on its
        way."""
        key = self._key_of(row)
        if isinstance(key, Refusal):
            hot_wallets.refuse(row, key, at)
            return 0
        used, balance = self._facts(key)
        spare = balance - _paid_wei(row) - price.gas.beside_wei
        if spare < price.gas.native * price.least_fee_wei:
            return self._wait(row, at)  # before anything else is asked
        gas_limit = self._gas_limit(row, key, price)
        if gas_limit is None or gas_limit > gas.most(row, price.gas):
            hot_wallets.finish(row, _Status.FAILED, at, Reason.WOULD_REVERT)
            return 0
        offer = FeeOffer(
            min(price.offer.max_fee_wei, spare // gas_limit), price.offer.priority_fee_wei
        )
        if offer.max_fee_wei < price.least_fee_wei or not self._has_tokens(row, key):
            return self._wait(row, at)
        failpoint("send.K2")
        return self._commit(row.pk, key, used, gas_limit, offer, at)

    def _has_tokens(self, row: OutgoingTransaction, key: SigningKey) -> bool:
        return (
            row.asset.pays_fees
            or balances.of_token(row.asset, key.address, self.nodes) >= row.amount_atomic
        )

    @staticmethod
    def _wait(row: OutgoingTransaction, at: datetime) -> int:
        """Gas is on its way, or dear: what has waited for a minute makes room for others."""
        waited = at - row.requested_at
        if waited > SOON:
            OutgoingTransaction.objects.filter(pk=row.pk, status=_Status.REQUESTED).update(
                not_before=at + min(waited / 4, LATER)
            )
        return 0

    def _key_of(self, row: OutgoingTransaction) -> SigningKey | Refusal:
        """The address's key, which must match its index; else the refusal."""
        refused = limits.sweep_refusal(row, self.chain)
        if refused:
            return refused
        address = Address.objects.get(pk=row.from_address)
        key = self._seed.deposit_key(row.mode, address.index)
        return key if key.address == row.from_address else Refusal(_Status.FAILED, Reason.NO_KEY)

    def _facts(self, key: SigningKey) -> tuple[int, int]:
        coin = fee_coin(self.chain)
        calls: list[Call] = [
            ("eth_getTransactionCount", [key.address, "latest"]),
            coin.call(key.address),
        ]
        used, held = self.nodes.batch(calls)
        return int(used, 16), coin.wei(held)

    def _gas_limit(
        self, row: OutgoingTransaction, key: SigningKey, price: SweepPrice
    ) -> int | None:
        """None when it would be reverted. Raises RpcError."""
        if row.asset.is_native:
            return price.gas.native
        to, _, data = call_of(row)
        try:
            call = {"from": key.address, "to": to, "data": data}
            return price.limit(int(self.nodes.call("eth_estimateGas", [call]), 16))
        except RpcError as error:
            if error.code is ErrorCode.REVERTED:
                return None
            raise

    def _commit(
        self,
        pk: uuid.UUID,
        key: SigningKey,
        used: int,
        gas_limit: int,
        offer: FeeOffer,
        at: datetime,
    ) -> int:
        """Under the address's lock: take its next nonce, sign, keep the bytes."""
        with transaction.atomic():
            Address.objects.select_for_update().get(pk=key.address)
            rows = OutgoingTransaction.objects.select_for_update(of=("self",)).select_related(
                "asset"
            )
            row = rows.filter(pk=pk, status=_Status.REQUESTED).first()
            if row is None or row.from_address != key.address or not approvals.is_approved(row):
                return 0
            earlier = OutgoingTransaction.objects.filter(
                chain=self.chain, from_address=key.address, nonce__isnull=False
            )
            last = earlier.aggregate(last=Max("nonce"))["last"]
            nonce = 0 if last is None else int(last) + 1
            if used > nonce:
                hot_wallets.finish(
                    row,
                    _Status.REVIEW,
                    at,
                    Reason.NONCE_AHEAD,
                    f"The chain is at nonce {used}, our records end at {nonce}",
                )
                return 0
            if used < nonce:
                return 0  # the node is behind
            failpoint("send.K3")
            row.nonce = nonce
            row.gas_limit = gas_limit
            candidate = signed_candidate(row, key, self.chain, offer, at)
            failpoint("send.K4")
            signed = {
                "nonce": nonce,
                "gas_limit": gas_limit,
                "tx_hash": candidate.tx_hash,
                "signed_at": at,
                **because(None),
                "not_before": None,
            }
            OUTGOING.change_status(row, Step(_Status.SIGNED), at=at, **signed)
        return 1

    def _replace(self, row: OutgoingTransaction, price: SweepPrice, at: datetime) -> int:
        """Sign again at the same nonce, as far as what the address holds reaches: offer more, or
        another limit where nodes have refused the bytes."""
        key = self._key_of(row)
        newest = row.candidates.last()
        if (
            isinstance(key, Refusal)
            or newest is None
            or row.gas_limit is None
            or row.candidates.count() >= CANDIDATES_MAX
        ):
            return 0
        used, balance = self._facts(key)
        spare = balance - _paid_wei(row) - price.gas.beside_wei
        terms = self._terms(row, key, newest, price, spare)
        if terms is None or used != row.nonce:
            return 0
        if not row.asset.pays_fees and terms.offer.max_fee_wei < price.least_fee_wei:
            return 0  # more gas is on its way (`sweep_top_ups`)
        with transaction.atomic():
            Address.objects.select_for_update().get(pk=key.address)
            last = SignedTransaction.objects.filter(
                outgoing=row, outgoing__status__in=IN_FLIGHT
            ).last()
            if last is None or last.pk != newest.pk:
                return 0
            row.gas_limit = terms.gas_limit
            candidate = signed_candidate(row, key, self.chain, terms.offer, at)
            OutgoingTransaction.objects.filter(pk=row.pk).update(
                tx_hash=candidate.tx_hash, gas_limit=terms.gas_limit
            )
        log.warning(
            "sweep_replaced",
            outgoing=str(row.pk),
            chain=self.chain.pk,
            gas_limit=terms.gas_limit,
            max_fee_wei=terms.offer.max_fee_wei,
        )
        return 1

    def _terms(
        self,
        row: OutgoingTransaction,
        key: SigningKey,
        newest: SignedTransaction,
        price: SweepPrice,
        spare_wei: int,
    ) -> Terms | None:
        gas_limit = row.gas_limit or price.gas.native
        old = Terms(gas_limit, FeeOffer(newest.max_fee_wei, newest.priority_fee_wei), newest.pk)
        ceiling_wei = min(self.ceiling_wei, max(0, spare_wei) // gas_limit)
        if not newest.refused_count:
            dearer = fees.replacing(old.offer, price.offer, ceiling_wei)
            return None if dearer is None else replace(old, offer=dearer)
        new = refused_bytes.terms(
            old,
            words_of(newest.refusal),
            today=price.offer,
            ceiling_wei=ceiling_wei,
            fresh_limit=self._gas_limit(row, key, price),
            most_limit=gas.most(row, price.gas),
            spare_wei=spare_wei,
        )
        return new if new and new.offer.max_fee_wei >= price.least_fee_wei else None


def _paid_wei(row: OutgoingTransaction) -> int:
    """Of what pays fees, the part that the sweep itself takes."""
    return row.amount_atomic * unit_wei(row.asset) if row.asset.pays_fees else 0
