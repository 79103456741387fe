"""Signs what was asked for, and only that: transfers, swaps and what payers signed, within the
caps. Nonces and bytes are one commit.

So no nonce is ever used twice or skipped, and what isn't committed was never shown to anybody.
Nothing is broadcast here.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction

from apps.assets.models import Chain
from apps.chain.keys.keystores import HotKey, Unsigned
from apps.chain.keys.seeds import Seed
from apps.chain.models import Address, HotWallet, OutgoingTransaction, SignedTransaction
from apps.chain.providers.base import KeystoreError, Nodes
from apps.chain.reasons import Reason, Refusal, because
from apps.chain.sending import approvals, balances, fees, gas, holds, hot_wallets, lanes, limits
from apps.chain.sending.balances import NATIVE_GAS, TOKEN_GAS, Promised
from apps.chain.sending.candidates import signed, signed_candidate, unsigned
from apps.chain.sending.caps import Headroom
from apps.chain.sending.fees import FeeOffer
from apps.chain.sending.gas import Gas
from apps.chain.states import IN_FLIGHT, OUTGOING, TAKES_NO_TOKENS
from apps.core.failpoints import failpoint
from apps.core.machine import Step

log = structlog.get_logger(__name__)
STUCK_MAX = 50
CANDIDATES_MAX = 12
# How often a batch is begun again because others changed what had been signed for it.
ATTEMPTS_MAX = 5
_Status = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose
_WaitsFor = OutgoingTransaction.WaitsFor


@dataclass(frozen=True)
class WalletState:
    """What the chain says of the wallet at one block, and what a place in the next one costs.
    `pending_nonce` counts the unmined too."""

    nonce: int
    pending_nonce: int
    native_atomic: int
    offer: FeeOffer | None
    tokens_atomic: Mapping[str, int] = field(default_factory=dict)


class Purse:
    """What the wallet has left after everything signed and not yet mined. Made and used under its
    lock."""

    def __init__(self, facts: WalletState, promised: Promised, max_fee_wei: int) -> None:
        self._native = facts.native_atomic - promised.native_atomic
        self._tokens = {
            asset: amount - promised.tokens_atomic.get(asset, 0)
            for asset, amount in facts.tokens_atomic.items()
        }
        self._max_fee_wei = max_fee_wei

    def takes(self, row: OutgoingTransaction, gas_limit: int) -> bool:
        """Whether the amount and its gas are there; then they are taken."""
        native = gas_limit * self._max_fee_wei + (row.amount_atomic if row.asset.is_native else 0)
        tokens = 0 if row.asset.is_native or row.purpose in TAKES_NO_TOKENS else row.amount_atomic
        if native > self._native or tokens > self._tokens.get(row.asset_id, 0):
            return False
        self._native -= native
        if tokens:
            self._tokens[row.asset_id] -= tokens
        return True


class ChainSigner:
    """Signs for one chain. Several may run at once: the wallet's row keeps them apart."""

    def __init__(self, chain: Chain, key: HotKey, seed: Seed, nodes: Nodes) -> None:
        self.chain = chain
        self.key = key
        self.nodes = nodes
        self._seed = seed
        self.ceiling_wei: int = settings.SIGNER_MAX_FEE_GWEI * fees.GWEI
        self.patience = timedelta(seconds=settings.SIGNER_STUCK_SECONDS)

    def run(self, at: datetime) -> int:
        """Sign what is due; how many transactions were signed.

        Raises RpcError when the chain can't be asked, KeystoreError when the key can't.
        """
        wallet = hot_wallets.ensure(self.chain, self.key.address, self.nodes, at)
        lanes.note_enough(wallet)
        hold = holds.held_on(self.chain)
        if wallet.halted_at is not None or hold.is_everything:
            return 0
        requests = lanes.due(self.chain, at, hold.asset_ids)
        stuck = self._stuck(at)
        if not requests and not stuck:
            return 0
        facts = self._facts(requests)
        signed = self._sign(requests, facts, at)
        if max(facts.nonce, facts.pending_nonce) > wallet.next_nonce:
            hot_wallets.look_back(wallet, self.nodes, at)
        return signed + sum(
            self._replace(row, facts, at) for row in stuck if row.nonce == facts.nonce
        )

    # --- asking the chain: never inside a transaction ---------------------------------------------

    def _facts(self, rows: Sequence[OutgoingTransaction]) -> WalletState:
        block = self.nodes.call("eth_getBlockByNumber", ["latest", False])
        tokens = {
            row.asset_id: row.asset
            for row in rows
            if row.asset.contract_address and row.asset.chain_id == self.chain.pk
        }
        used, pending, balance, tip, *answers = self.nodes.batch(
            [
                ("eth_getTransactionCount", [self.key.address, block["number"]]),
                ("eth_getTransactionCount", [self.key.address, "pending"]),
                ("eth_getBalance", [self.key.address, block["number"]]),
                ("eth_maxPriorityFeePerGas", []),
                *(balances.call_for_token(asset, self.key.address) for asset in tokens.values()),
            ]
        )
        offer = fees.suggested(
            int(block.get("baseFeePerGas", "0x0"), 16), int(tip, 16), self.ceiling_wei
        )
        held_tokens = {
            asset: balances.read_tokens(answer)
            for asset, answer in zip(tokens, answers, strict=True)
        }
        return WalletState(int(used, 16), int(pending, 16), int(balance, 16), offer, held_tokens)

    # --- first signatures -------------------------------------------------------------------------

    def _sign(
        self, requests: Sequence[OutgoingTransaction], facts: WalletState, at: datetime
    ) -> int:
        refused = limits.refusals(requests, self.chain) | self._strange_gas(requests)
        for row in requests:
            if row.pk in refused:
                hot_wallets.refuse(row, refused[row.pk], at)
        rows = self._within_caps([row for row in requests if row.pk not in refused], at)
        if facts.offer is None:
            lanes.wait(rows, Reason.NETWORK_DEAR, _WaitsFor.NETWORK, at)
            return 0
        rows = self._affordable(rows, facts, facts.offer, at)
        allowed = gas.limits_of(rows, self.key.address, self.nodes) if rows else {}
        for row in rows:
            if reason := allowed[row.pk].refused:
                hot_wallets.finish(row, _Status.FAILED, at, reason)
        lanes.wait(
            [row for row in rows if allowed[row.pk] == Gas()],
            Reason.NETWORK_SILENT,
            _WaitsFor.NETWORK,
            at,
        )
        failpoint("send.K2")
        limits_by_row = {
            row.pk: limit for row in rows if (limit := allowed[row.pk].limit) is not None
        }
        return self._commit_all(
            [row for row in rows if row.pk in limits_by_row], facts, facts.offer, limits_by_row, at
        )

    def _strange_gas(self, rows: Sequence[OutgoingTransaction]) -> dict[uuid.UUID, Refusal]:
        """Gas of sweeps for addresses that only our records call ours: the seed has no key for
        them."""
        gas_rows = [row for row in rows if row.purpose == _Purpose.SWEEP_GAS]
        addresses = Address.objects.in_bulk({row.to_address for row in gas_rows})
        strange = [
            row
            for row in gas_rows
            if row.to_address in addresses and not self._is_ours(addresses[row.to_address])
        ]
        return {row.pk: Refusal(_Status.REVIEW, Reason.NO_KEY) for row in strange}

    def _is_ours(self, address: Address) -> bool:
        return self._seed.deposit_key(address.mode, address.index).address == address.pk

    def _within_caps(
        self, rows: Sequence[OutgoingTransaction], at: datetime
    ) -> list[OutgoingTransaction]:
        """What is above a cap waits for a person, and for no coins before."""
        room = Headroom(rows, at)
        within = []
        for row in rows:
            reason = room.refusal(row)
            if reason:
                hot_wallets.finish(row, _Status.REVIEW, at, reason)
            else:
                within.append(row)
        return within

    def _affordable(
        self, rows: list[OutgoingTransaction], facts: WalletState, offer: FeeOffer, at: datetime
    ) -> list[OutgoingTransaction]:
        """Those that the wallet could pay for as it stands: a node estimates no others. The rest
        steps aside."""
        purse = Purse(
            facts,
            balances.promised(self.chain.pk, self.key.address, facts.nonce),
            offer.max_fee_wei,
        )
        funded = {
            row.pk
            for row in rows
            if purse.takes(row, NATIVE_GAS if row.asset.is_native else TOKEN_GAS)
        }
        self._step_aside([row for row in rows if row.pk not in funded], at)
        return [row for row in rows if row.pk in funded]

    def _commit_all(
        self,
        rows: Sequence[OutgoingTransaction],
        facts: WalletState,
        offer: FeeOffer,
        gas_limits: Mapping[uuid.UUID, int],
        at: datetime,
    ) -> int:
        """All in one commit; when that fails, each by itself, so that a bad one costs only
        itself."""
        if not rows:
            return 0
        try:
            return self._asking(lambda: self._commit(rows, facts, offer, gas_limits, at))
        except (InterfaceError, OperationalError, KeystoreError):
            raise  # the database's affair or the key's, not a row's
        except Exception:
            log.exception("not_signed_together", chain=self.chain.pk, count=len(rows))
        signed: list[int] = []
        lanes.JOB.each(
            lambda: rows,
            lambda row: signed.append(
                self._asking(lambda: self._commit([row], facts, offer, gas_limits, at))
            ),
        )
        return sum(signed)

    def _asking(self, act: Callable[[], int]) -> int:
        """Do it; a keystore elsewhere is asked between two attempts, never inside their transaction
        (decision 132)."""
        for _ in range(ATTEMPTS_MAX):
            try:
                return act()
            except Unsigned as missing:
                self.key.ask(missing.digests)
        return 0

    def _commit(
        self,
        requests: Sequence[OutgoingTransaction],
        facts: WalletState,
        offer: FeeOffer,
        gas_limits: Mapping[uuid.UUID, int],
        at: datetime,
    ) -> int:
        """Under the wallet's lock: check again what may have changed, take the next nonces, sign,
        keep the bytes."""
        with transaction.atomic():
            wallet = HotWallet.objects.select_for_update().get(chain=self.chain)
            hold = holds.held_on(self.chain)
            if wallet.halted_at is not None or hold.is_everything:
                return 0
            requests = [row for row in requests if row.asset_id not in hold.asset_ids]
            known_on_chain = max(facts.nonce, facts.pending_nonce)
            if known_on_chain > wallet.next_nonce:
                hot_wallets.halt_behind(wallet, known_on_chain, at)
                return 0
            rows, short, above = self._chosen(requests, facts, offer, gas_limits, at)
            candidates = self._take_nonces(wallet, rows, offer, gas_limits, at)
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
    def _step_aside(rows: Sequence[OutgoingTransaction], at: datetime) -> None:
        """The wallet is short of their coins. Nothing is fetched for cold storage: that is given
        up, and counted anew."""
        for row in rows:
            if row.purpose == _Purpose.COLD:
                hot_wallets.finish(row, _Status.FAILED, at, Reason.HOLDS_LESS)
        lanes.wait_for_funds([row for row in rows if row.purpose != _Purpose.COLD], at)

    def _chosen(
        self,
        requests: Sequence[OutgoingTransaction],
        facts: WalletState,
        offer: FeeOffer,
        gas_limits: Mapping[uuid.UUID, int],
        at: datetime,
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
        purse = Purse(
            facts,
            balances.promised(self.chain.pk, self.key.address, facts.nonce),
            offer.max_fee_wei,
        )
        room = Headroom(rows, at)
        chosen = []
        short = []
        above = []
        # Of the rows as they are now, which nobody can change until they are signed.
        unapproved = approvals.refusals(rows)
        for row in rows:
            reason = unapproved.get(row.pk) or room.refusal(row)
            if reason:
                above.append((row, reason))
            elif purse.takes(row, gas_limits[row.pk]):
                chosen.append(row)
            else:
                short.append(row)
        return chosen, short, above

    def _take_nonces(
        self,
        wallet: HotWallet,
        rows: Sequence[OutgoingTransaction],
        offer: FeeOffer,
        gas_limits: Mapping[uuid.UUID, int],
        at: datetime,
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
        self.key.need([unsigned(row, self.chain, offer).digest for row in rows])
        return [signed(row, self.key, self.chain, offer, at) for row in rows]

    # --- a replacement at the same nonce ----------------------------------------------------------

    def _stuck(self, at: datetime) -> list[OutgoingTransaction]:
        """The first in line, when its newest candidate has waited too long. Those behind it wait
        for it."""
        in_flight = OutgoingTransaction.objects.filter(
            chain=self.chain, status__in=IN_FLIGHT, gas_limit__isnull=False, undone_count=0
        )
        in_flight = in_flight.exclude(purpose=_Purpose.SWEEP)
        late = in_flight.order_by("nonce").select_related("asset")[:STUCK_MAX]
        return [
            row
            for row in late
            if not row.candidates.filter(signed_at__gt=at - self.patience).exists()
        ]

    def _replace(self, row: OutgoingTransaction, facts: WalletState, at: datetime) -> int:
        return self._asking(lambda: self._commit_replacement(row, facts, at))

    def _commit_replacement(
        self, row: OutgoingTransaction, facts: WalletState, at: datetime
    ) -> int:
        with transaction.atomic():
            wallet = HotWallet.objects.select_for_update().get(chain=self.chain)
            newest = SignedTransaction.objects.filter(
                outgoing=row, outgoing__status__in=IN_FLIGHT
            ).last()
            if (
                wallet.halted_at is not None
                or newest is None
                or newest.signed_at > at - self.patience
            ):
                return 0
            offer = fees.replacing(
                FeeOffer(newest.max_fee_wei, newest.priority_fee_wei), facts.offer, self.ceiling_wei
            )
            if (
                offer is None
                or row.candidates.count() >= CANDIDATES_MAX
                or not approvals.is_approved(row)
            ):
                return 0
            candidate = signed_candidate(row, self.key, self.chain, offer, at)
            OutgoingTransaction.objects.filter(pk=row.pk).update(tx_hash=candidate.tx_hash)
        log.warning(
            "outgoing_replaced",
            outgoing=str(row.pk),
            chain=self.chain.pk,
            nonce=row.nonce,
            max_fee_wei=offer.max_fee_wei,
        )
        return 1
