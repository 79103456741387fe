"""Signs what was asked for, and only that: transfers, swaps and what payers signed, within the
caps. Nonces and bytes are one commit, of one hot wallet.

So no nonce is ever used twice or skipped, and what isn't committed was never shown to anybody.
Nothing is broadcast here.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction

from apps.assets.models import Chain
from apps.chain.keys.keystores import HotKey, Unsigned
from apps.chain.keys.seeds import Seed
from apps.chain.models import HotWallet, OutgoingTransaction, SignedTransaction
from apps.chain.providers.base import Call, KeystoreError, Nodes, RpcError
from apps.chain.reasons import Reason, because
from apps.chain.sending import (
    approvals,
    balances,
    fees,
    gas,
    history,
    holds,
    hot_wallets,
    lanes,
    limits,
    obstacles,
    refused_bytes,
    replacements,
    sweep_batches,
    token_stops,
)
from apps.chain.sending.candidates import signed, signed_candidate, unsigned
from apps.chain.sending.caps import Headroom
from apps.chain.sending.fee_coins import fee_coin
from apps.chain.sending.fees import FeeOffer
from apps.chain.sending.gas import Gas
from apps.chain.sending.permits import PERMIT2
from apps.chain.sending.refused_bytes import Terms
from apps.chain.sending.signing_lanes import (
    OF_THE_FIRST,
    Batch,
    Places,
    SigningLane,
    ensure_wallets,
    note_gas,
    places,
    state_of,
)
from apps.chain.sending.sweep_delegations import (
    delegating,
    sign_again,
    sign_parts,
    strange_gas,
)
from apps.chain.sending.transfer_gas import TransferGas, transfer_gas
from apps.chain.states import IN_FLIGHT, OUTGOING
from apps.core import jobs
from apps.core.machine import Step
from apps.core.process.failpoints import failpoint

log = structlog.get_logger(__name__)
STUCK_MAX = 50
CANDIDATES_MAX = 12
# How often a batch is begun again because others changed what had been signed for it.
ATTEMPTS_MAX = 5
_Status = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose
_WaitsFor = OutgoingTransaction.WaitsFor


class ChainSigner:
    """Signs for one chain. Several may run at once: the rows of its wallets keep them apart.
    `key_of` a wallet's number is its key."""

    def __init__(
        self, chain: Chain, key_of: Callable[[int], HotKey], seed: Seed, nodes: Nodes
    ) -> None:
        self.chain = chain
        self.key_of = key_of
        self.nodes = nodes
        self._seed = seed
        self.ceiling_wei = fees.ceiling_of(chain)
        self.patience = timedelta(seconds=settings.SIGNER_STUCK_SECONDS)

    def run(self, at: datetime) -> int:
        """Sign what is due; how many transactions were signed.

        Raises RpcError when the chain can't be asked, KeystoreError when the key can't.
        """
        wallets = ensure_wallets(self.chain, self.key_of, self.nodes, at)
        for wallet, _ in wallets:
            lanes.note_enough(wallet)
        open_wallets = [wallet for wallet, _ in wallets if wallet.halted_at is None]
        hold = holds.held_on(self.chain)
        if not open_wallets or hold.is_everything:
            return 0
        without = () if open_wallets[0].number == 0 else (*OF_THE_FIRST, PERMIT2)
        requests = lanes.due(self.chain, at, hold.asset_ids, without)
        stuck = {wallet.pk: self._stuck(wallet, at) for wallet in open_wallets}
        if not requests and not any(stuck.values()):
            return 0
        try:
            signing_lanes, offer, transfer = self._asked(wallets, requests)
        except RpcError as error:
            if error.is_refusal:  # it answers, and waiting alone doesn't help
                lanes.wait(requests, Reason.NETWORK_SILENT, _WaitsFor.NETWORK, at)
            raise
        if len(wallets) > 1 and offer is not None:
            note_gas([lane for lane in signing_lanes if lane.is_open], offer, transfer, at)
        late = [
            (lane, row)
            for lane in signing_lanes
            for row in stuck.get(lane.wallet.pk, ())
            if row.nonce == lane.state.nonce
        ]
        for lane, _ in late:
            lane.is_stuck = True
        signed = self._sign(requests, signing_lanes, offer, transfer, at)
        for lane in signing_lanes:
            if history.is_unread(lane.wallet, lane.state.known_nonce):
                hot_wallets.look_back(lane.wallet, self.nodes, at)
        return signed + self._replace_each(late, offer, transfer, at)

    # --- asking the chain: never inside a transaction ---------------------------------------------

    def _asked(
        self, wallets: Sequence[tuple[HotWallet, HotKey]], rows: Sequence[OutgoingTransaction]
    ) -> tuple[list[SigningLane], FeeOffer | None, TransferGas]:
        """The wallets with what the chain says of each, halted ones too, what a place in the next
        block costs, and the gas that transfers take."""
        block = self.nodes.call("eth_getBlockByNumber", ["latest", False])
        tokens = {
            row.asset_id: row.asset
            for row in rows
            if row.asset.contract_address and row.asset.chain_id == self.chain.pk
        }
        tip = fees.offered_tip(self.chain, self.nodes, block)
        transfer = transfer_gas(self.chain, self.nodes)
        coin = fee_coin(self.chain)
        calls: list[Call] = []
        for wallet, _ in wallets:
            calls += [
                ("eth_getTransactionCount", [wallet.address, block["number"]]),
                ("eth_getTransactionCount", [wallet.address, "pending"]),
                coin.call(wallet.address, block["number"]),
                *(balances.call_for_token(asset, wallet.address) for asset in tokens.values()),
            ]
        answers = self.nodes.batch(calls)
        size = len(answers) // len(wallets)
        frozen = obstacles.frozen_for(self.chain.pk) if len(wallets) > 1 else {}
        signing_lanes = [
            SigningLane(
                wallet,
                key,
                state_of(answers[size * place : size * (place + 1)], tokens, coin),
                refused_asset_ids=frozen.get(wallet.address, ()),
            )
            for place, (wallet, key) in enumerate(wallets)
        ]
        base_fee = fees.base_fee_of(block)
        return signing_lanes, fees.suggested(base_fee, tip, self.ceiling_wei), transfer

    # --- first signatures -------------------------------------------------------------------------

    def _sign(
        self,
        requests: Sequence[OutgoingTransaction],
        signing_lanes: Sequence[SigningLane],
        offer: FeeOffer | None,
        transfer: TransferGas,
        at: datetime,
    ) -> int:
        refused = limits.refusals(requests, self.chain) | strange_gas(requests, self._seed)
        for row in requests:
            if row.pk in refused:
                hot_wallets.refuse(row, refused[row.pk], at)
        rows = self._within_caps([row for row in requests if row.pk not in refused], at)
        if offer is None:
            lanes.wait(rows, Reason.NETWORK_DEAR, _WaitsFor.NETWORK, at)
            return 0
        # A node estimates nothing that the wallet couldn't pay for as it is.
        batch = Batch(signing_lanes, offer, transfer, at)
        chosen = self._places(rows, batch)
        signed = 0
        failure: KeystoreError | None = None
        for lane in signing_lanes:
            try:
                signed += self._sign_with(lane, chosen.rows.get(lane.wallet.pk, ()), batch)
            except KeystoreError as error:  # the other wallets have keys of their own
                failure = error
        if failure is not None and not signed:
            raise failure
        if failure is not None:
            log.error("keystore_failed", chain=self.chain.pk, error=str(failure))
        return signed

    def _places(self, rows: Sequence[OutgoingTransaction], batch: Batch) -> Places:
        """Assigns rows to wallets; the rest steps aside."""
        open_lanes = [lane for lane in batch.lanes if lane.is_open]
        choice = places(open_lanes, rows, batch.offer.max_fee_wei, batch.gas)
        self._step_aside(choice.short, batch.at)
        return choice

    def _sign_with(
        self, lane: SigningLane, rows: Sequence[OutgoingTransaction], batch: Batch
    ) -> int:
        if not rows:
            return 0
        at = batch.at
        rows = delegating(rows, lane, batch, self._seed, self.nodes)
        allowed = gas.limits_of(rows, lane.wallet.address, self.nodes, batch.gas)
        self._without_limit(rows, allowed, at)
        failpoint("send.K2")
        limits_by_row = {
            row.pk: limit for row in rows if (limit := allowed[row.pk].limit) is not None
        }
        return self._commit_all(
            lane, [row for row in rows if row.pk in limits_by_row], limits_by_row, batch
        )

    def _without_limit(
        self, rows: Sequence[OutgoingTransaction], allowed: Mapping[uuid.UUID, Gas], at: datetime
    ) -> None:
        """Fail what would be mined in vain; the rest waits for the node or for the token, which is
        looked at once more."""
        for row in rows:
            if reason := allowed[row.pk].refused:
                hot_wallets.finish(row, _Status.FAILED, at, reason)
        waiting = [row for row in rows if allowed[row.pk].is_open]
        for reason in sorted({allowed[row.pk].waits for row in waiting}):
            is_stopped = reason in token_stops.STOPS
            lanes.wait(
                [row for row in waiting if allowed[row.pk].waits == reason],
                reason,
                _WaitsFor.TOKEN if is_stopped else _WaitsFor.NETWORK,
                at,
            )
            if is_stopped:
                jobs.nudge("chain.look_at_tokens", mode=self.chain.mode)

    def _within_caps(
        self, rows: Sequence[OutgoingTransaction], at: datetime
    ) -> list[OutgoingTransaction]:
        """Rows within the caps; others wait for a person before they wait for coins."""
        room = Headroom(rows, at)
        within = []
        for row in rows:
            reason = room.refusal(row)
            if reason:
                hot_wallets.finish(row, _Status.REVIEW, at, reason)
            else:
                within.append(row)
        return within

    def _commit_all(
        self,
        lane: SigningLane,
        rows: Sequence[OutgoingTransaction],
        gas_limits: Mapping[uuid.UUID, int],
        batch: Batch,
    ) -> int:
        """All in one commit; when that fails, each by itself, so that a bad one costs only
        itself."""
        if not rows:
            return 0
        try:
            return self._asking(lane, lambda: self._commit(lane, rows, gas_limits, batch))
        except (InterfaceError, OperationalError, KeystoreError):
            raise  # the database's affair or the key's, not a row's
        except Exception:
            log.exception("not_signed_together", chain=lane.wallet.pk, count=len(rows))
        signed: list[int] = []
        lanes.JOB.each(
            lambda: rows,
            lambda row: signed.append(
                self._asking(lane, lambda: self._commit(lane, [row], gas_limits, batch))
            ),
        )
        return sum(signed)

    @staticmethod
    def _asking(lane: SigningLane, act: Callable[[], int]) -> int:
        """Do it; a keystore elsewhere is asked between two attempts, never inside their
        transaction."""
        for _ in range(ATTEMPTS_MAX):
            try:
                return act()
            except Unsigned as missing:
                lane.key.ask(missing.digests)
        return 0

    def _commit(
        self,
        lane: SigningLane,
        requests: Sequence[OutgoingTransaction],
        gas_limits: Mapping[uuid.UUID, int],
        batch: Batch,
    ) -> int:
        """Under the locks of the chain's wallets: check again what may have changed, take the next
        nonces of this one, sign, keep the bytes. Caps are of all wallets, so all are locked."""
        at = batch.at
        with transaction.atomic():
            wallets = hot_wallets.locked(self.chain)
            wallet = wallets[lane.wallet.pk]
            hold = holds.held_on(self.chain)
            if wallet.halted_at is not None or hold.is_everything:
                return 0
            requests = [row for row in requests if row.asset_id not in hold.asset_ids]
            requests = lanes.still_going(requests)
            if self._is_behind(wallets, batch):
                return 0
            rows, short, above = self._chosen(lane, requests, gas_limits, batch)
            candidates = self._take_nonces(lane, wallet, rows, gas_limits, batch)
            SignedTransaction.objects.bulk_create(candidates)
            failpoint("send.K4")
            per_row: dict[str, Sequence[Any]] = {
                "nonce": [row.nonce for row in rows],
                "gas_limit": [row.gas_limit for row in rows],
                "tx_hash": [candidate.tx_hash for candidate in candidates],
                "goes_back": [row.goes_back for row in rows],
            }
            shared = {
                "from_address": wallet.address,
                "signed_at": at,
                **because(None),
                "waits_for": "",
                "not_before": None,
            }
            OUTGOING.change_many(
                rows, Step(_Status.SIGNED), ats=[at] * len(rows), each=per_row, **shared
            )
            for row, reason in above:
                hot_wallets.finish(row, _Status.REVIEW, at, reason)
        self._step_aside(short, at)
        return len(rows)

    @staticmethod
    def _is_behind(wallets: Mapping[str, HotWallet], batch: Batch) -> bool:
        """True if the chain knows transactions of a wallet that we don't: it is halted, and nobody
        signs before they are known, which may have done what is asked for."""
        for lane in batch.lanes:
            wallet = wallets[lane.wallet.pk]
            nonce = lane.state.known_nonce
            if nonce > wallet.next_nonce and wallet.halted_at is None:
                hot_wallets.halt_behind(wallet, nonce, batch.at)
                return True
            if wallet.halted_at is not None and history.is_unread(wallet, nonce):
                return True
        return False

    @staticmethod
    def _step_aside(rows: Sequence[OutgoingTransaction], at: datetime) -> None:
        """The wallet is short of their coins. Nothing is fetched for cold storage: that is given
        up, and counted anew."""
        for row in rows:
            if row.purpose == _Purpose.COLD:
                hot_wallets.finish(row, _Status.FAILED, at, Reason.HOLDS_LESS)
        lanes.wait_for_funds([row for row in rows if row.purpose != _Purpose.COLD], at)

    @staticmethod
    def _chosen(
        lane: SigningLane,
        requests: Sequence[OutgoingTransaction],
        gas_limits: Mapping[uuid.UUID, int],
        batch: Batch,
    ) -> tuple[
        list[OutgoingTransaction],
        list[OutgoingTransaction],
        list[tuple[OutgoingTransaction, Reason]],
    ]:
        """(what is signed, what the wallet is short for, what a person must look at), of what is
        still asked for."""
        locked = OutgoingTransaction.objects.select_for_update(of=("self",)).select_related(
            "asset", "receives_asset"
        )
        locked_rows = {
            row.pk: row
            for row in locked.filter(
                pk__in=[row.pk for row in requests], status=_Status.REQUESTED
            ).order_by("pk")
        }
        rows = [locked_rows[row.pk] for row in requests if row.pk in locked_rows]
        purse = lane.purse(batch.offer.max_fee_wei, batch.gas)
        room = Headroom(rows, batch.at)
        chosen = []
        short = []
        above = []
        # Of the rows as they are now, which nobody can change until they are signed.
        unapproved = approvals.refusals(rows)
        for row in rows:
            reason = unapproved.get(row.pk) or room.refusal(row)
            reason = reason or sweep_batches.reason_against(row, lane.wallet.address)
            if reason:
                above.append((row, reason))
            elif purse.takes(row, gas_limits[row.pk]):
                chosen.append(row)
            else:
                short.append(row)
        return chosen, short, above

    def _take_nonces(
        self,
        lane: SigningLane,
        wallet: HotWallet,
        rows: Sequence[OutgoingTransaction],
        gas_limits: Mapping[uuid.UUID, int],
        batch: Batch,
    ) -> list[SignedTransaction]:
        first = wallet.next_nonce
        HotWallet.objects.filter(pk=wallet.pk).update(next_nonce=first + len(rows))
        failpoint("send.K3")
        for number, row in enumerate(rows):
            row.nonce, row.gas_limit, row.from_address = (
                first + number,
                gas_limits[row.pk],
                wallet.address,
            )
            if row.purpose == _Purpose.SWEEP_BATCH:
                sign_parts(row, batch)
        lane.key.need([unsigned(row, self.chain, batch.offer).digest for row in rows])
        return [signed(row, lane.key, self.chain, batch.offer, batch.at) for row in rows]

    # --- a replacement at the same nonce ----------------------------------------------------------

    def _stuck(self, wallet: HotWallet, at: datetime) -> list[OutgoingTransaction]:
        """The first in the wallet's line, when its newest candidate has waited too long. Those
        behind it wait for it."""
        in_flight = OutgoingTransaction.objects.filter(
            hot_wallets.own(wallet),
            chain=self.chain,
            status__in=IN_FLIGHT,
            gas_limit__isnull=False,
            undone_count=0,
        )
        in_flight = in_flight.exclude(purpose=_Purpose.SWEEP)
        late = in_flight.order_by("nonce").select_related("asset")[:STUCK_MAX]
        return [
            row
            for row in late
            if not row.candidates.filter(signed_at__gt=at - self.patience).exists()
            or refused_bytes.is_due(row, at)
        ]

    def _replace_each(
        self,
        late: Sequence[tuple[SigningLane, OutgoingTransaction]],
        offer: FeeOffer | None,
        transfer: TransferGas,
        at: datetime,
    ) -> int:
        """Each by itself: one that a node says nothing of keeps no other."""
        count = 0
        for lane, row in late:
            if row.purpose == _Purpose.SWEEP_BATCH:
                sign_again(row, lane.wallet.address, self._seed)
            terms = replacements.terms_of(row, lane, offer, transfer, self.nodes)
            if terms is not None:
                count += self._asking(lane, partial(self._commit_replacement, row, lane, terms, at))
        return count

    def _commit_replacement(
        self, row: OutgoingTransaction, lane: SigningLane, terms: Terms, at: datetime
    ) -> int:
        with transaction.atomic():
            wallet = HotWallet.objects.select_for_update().get(pk=lane.wallet.pk)
            newest = SignedTransaction.objects.filter(
                outgoing=row, outgoing__status__in=IN_FLIGHT
            ).last()
            if (
                wallet.halted_at is not None
                or newest is None
                or newest.pk != terms.replaces
                or row.candidates.count() >= CANDIDATES_MAX
                or not approvals.is_approved(row)
            ):
                return 0
            row.gas_limit = terms.gas_limit
            candidate = signed_candidate(row, lane.key, self.chain, terms.offer, at)
            OutgoingTransaction.objects.filter(pk=row.pk).update(
                tx_hash=candidate.tx_hash, gas_limit=terms.gas_limit
            )
        log.warning(
            "outgoing_replaced",
            outgoing=str(row.pk),
            chain=self.chain.pk,
            nonce=row.nonce,
            gas_limit=terms.gas_limit,
            max_fee_wei=terms.offer.max_fee_wei,
        )
        return 1
