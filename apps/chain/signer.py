"""Signs what was asked for, and only that: transfers, swaps and what payers signed, within the caps. Nonce and bytes are one commit.

So no nonce is ever used twice or skipped, and what isn't committed was never shown to anybody. Nothing is broadcast here.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F

from apps.assets.models import Asset, Chain
from apps.chain import balances, fees, hot_wallets, limits
from apps.chain.balances import NATIVE_GAS, TOKEN_GAS
from apps.chain.calls import call_of
from apps.chain.fees import Offer
from apps.chain.keys import HotKey, Seed
from apps.chain.models import HotWallet, OutgoingTransaction, SignedTransaction
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.states import IN_FLIGHT, OUTGOING, TAKES_NO_TOKENS
from apps.chain.transactions import Transaction
from apps.core.failpoints import failpoint

log = structlog.get_logger(__name__)
BATCH_MAX = 50
CANDIDATES_MAX = 12
GAS_MAX, CALL_GAS_MAX = 300_000, 800_000
REVERTED_CODE = 3
_Status, _Purpose = OutgoingTransaction.Status, OutgoingTransaction.Purpose


@dataclass(frozen=True)
class Facts:
    """What the chain says of the wallet at one block, and what a place in the next one costs. `pending_nonce` counts the unmined too."""

    nonce: int
    pending_nonce: int
    native_atomic: int
    offer: Offer | None


class ChainSigner:
    """Signs for one chain. Several may run at once: the wallet's row keeps them apart."""

    def __init__(self, chain: Chain, seed: Seed, nodes: Nodes) -> None:
        self.chain, self.nodes = chain, nodes
        self.key: HotKey = seed.hot_key(chain.mode)
        self.ceiling_wei: int = settings.SIGNER_MAX_FEE_GWEI * fees.GWEI
        self.patience = timedelta(seconds=settings.SIGNER_STUCK_SECONDS)
        self._token_balances: dict[str, int] = {}

    def run(self, at: datetime) -> int:
        """Sign what is due; how many transactions were signed. Raises RpcError when the chain can't be asked."""
        wallet = hot_wallets.ensure(self.chain, self.key.address, self.nodes, at)
        if wallet.halted_at is not None:
            return 0
        rows = OutgoingTransaction.objects.filter(chain=self.chain, status=_Status.REQUESTED).exclude(purpose=_Purpose.SWEEP)
        asked = list(rows.select_related("asset", "receives_asset").order_by("requested_at", "pk")[:BATCH_MAX])
        stuck = self._stuck(at)
        if not asked and not stuck:
            return 0
        facts = self._facts()
        self._token_balances.clear()
        signed = sum(self._sign_requested(row, facts, at) for row in asked)
        if max(facts.nonce, facts.pending_nonce) > wallet.next_nonce:
            hot_wallets.look_back(wallet, self.nodes, at)
        return signed + sum(self._replace(row, facts, at) for row in stuck if row.nonce == facts.nonce)

    # --- asking the chain: never inside a transaction ---------------------------------------------

    def _facts(self) -> Facts:
        block = self.nodes.call("eth_getBlockByNumber", ["latest", False])
        used, pending, balance, tip = self.nodes.batch(
            [
                ("eth_getTransactionCount", [self.key.address, block["number"]]),
                ("eth_getTransactionCount", [self.key.address, "pending"]),
                ("eth_getBalance", [self.key.address, block["number"]]),
                ("eth_maxPriorityFeePerGas", []),
            ]
        )
        offer = fees.suggested(int(block.get("baseFeePerGas", "0x0"), 16), int(tip, 16), self.ceiling_wei)
        return Facts(int(used, 16), int(pending, 16), int(balance, 16), offer)

    def _token_balance(self, asset: Asset) -> int:
        if asset.pk not in self._token_balances:
            self._token_balances[asset.pk] = balances.of_token(asset, self.key.address, self.nodes)
        return self._token_balances[asset.pk]

    def _gas_limit(self, row: OutgoingTransaction) -> int | None:
        """With room for a recipient that grows dearer; None when the transfer would be reverted."""
        to, value, data = call_of(row)
        try:
            estimate = int(
                self.nodes.call("eth_estimateGas", [{"from": self.key.address, "to": to, "value": hex(value), "data": data}]), 16
            )
        except RpcError as error:
            if error.code == REVERTED_CODE or "revert" in str(error).lower():
                return None
            raise
        if row.call_data:
            return 2 * estimate  # a pool that nobody used in this block's second writes more than the estimate saw
        return estimate if estimate == NATIVE_GAS else estimate * 5 // 4

    # --- a first signature ------------------------------------------------------------------------

    def _sign_requested(self, row: OutgoingTransaction, facts: Facts, at: datetime) -> int:
        refusal = limits.refusal(row, self.chain, at)
        if refusal is not None:
            status, reason = refusal
            hot_wallets.finish(row, status, at, reason=reason)
            return 0
        if facts.offer is None:
            return self._wait(row, "The network asks more for gas than the ceiling")
        tokens = None if row.asset.is_native or row.purpose in TAKES_NO_TOKENS else self._token_balance(row.asset)
        assumed = NATIVE_GAS if row.asset.is_native else TOKEN_GAS
        if not self._is_funded(row, facts, tokens, assumed):
            return self._wait(row, "The hot wallet is short of funds")
        gas_limit = self._gas_limit(row)
        if gas_limit is None or gas_limit > (CALL_GAS_MAX if row.call_data else GAS_MAX):
            hot_wallets.finish(row, _Status.FAILED, at, reason=_reverted(row))
            return 0
        failpoint("send.K2")
        return self._commit(row.pk, facts, facts.offer, gas_limit, tokens, at)

    def _commit(self, pk: uuid.UUID, facts: Facts, offer: Offer, gas_limit: int, tokens: int | None, at: datetime) -> int:
        """Under the wallet's lock: check again what may have changed, take the next nonce, sign, keep the bytes."""
        with transaction.atomic():
            wallet = HotWallet.objects.select_for_update().get(chain=self.chain)
            locked = OutgoingTransaction.objects.select_for_update(of=("self",)).select_related("asset", "receives_asset")
            row = locked.filter(pk=pk, status=_Status.REQUESTED).first()
            if row is None or wallet.halted_at is not None:
                return 0
            known_on_chain = max(facts.nonce, facts.pending_nonce)
            if known_on_chain > wallet.next_nonce:
                hot_wallets.halt_behind(wallet, known_on_chain, at)
                return 0
            if limits.refusal(row, self.chain, at) or not self._is_funded(row, facts, tokens, gas_limit):
                return 0  # another signature came between: the next run decides
            nonce = wallet.next_nonce
            HotWallet.objects.filter(pk=wallet.pk).update(next_nonce=F("next_nonce") + 1)
            failpoint("send.K3")
            row.nonce, row.gas_limit, row.from_address = nonce, gas_limit, wallet.address
            candidate = self._candidate(row, offer, at)
            failpoint("send.K4")
            OUTGOING.move(
                row,
                _Status.SIGNED,
                nonce=nonce,
                gas_limit=gas_limit,
                from_address=wallet.address,
                tx_hash=candidate.tx_hash,
                signed_at=at,
                reason="",
            )
        return 1

    def _is_funded(self, row: OutgoingTransaction, facts: Facts, tokens: int | None, gas_limit: int) -> bool:
        """Whether the wallet holds the amount and its gas after everything signed and not yet mined."""
        if facts.offer is None:
            return False
        promised = balances.promised(self.chain.pk, self.key.address, facts.nonce)
        native = row.amount_atomic if row.asset.is_native else 0
        if promised.native_atomic + native + gas_limit * facts.offer.max_fee_wei > facts.native_atomic:
            return False
        return tokens is None or promised.tokens_atomic.get(row.asset_id, 0) + row.amount_atomic <= tokens

    def _wait(self, row: OutgoingTransaction, reason: str) -> int:
        if row.reason != reason:
            OutgoingTransaction.objects.filter(pk=row.pk, status=_Status.REQUESTED).update(reason=reason)
            log.warning("outgoing_waits", outgoing=str(row.pk), chain=self.chain.pk, reason=reason)
        return 0

    # --- a replacement at the same nonce ----------------------------------------------------------

    def _stuck(self, at: datetime) -> list[OutgoingTransaction]:
        """The first in line, when its newest candidate has waited too long. Those behind it wait for it."""
        in_flight = OutgoingTransaction.objects.filter(chain=self.chain, status__in=IN_FLIGHT, gas_limit__isnull=False, undone_count=0)
        in_flight = in_flight.exclude(purpose=_Purpose.SWEEP)
        late = in_flight.order_by("nonce").select_related("asset")[:BATCH_MAX]
        return [row for row in late if not row.candidates.filter(signed_at__gt=at - self.patience).exists()]

    def _replace(self, row: OutgoingTransaction, facts: Facts, at: datetime) -> int:
        with transaction.atomic():
            wallet = HotWallet.objects.select_for_update().get(chain=self.chain)
            newest = SignedTransaction.objects.filter(outgoing=row, outgoing__status__in=IN_FLIGHT).last()
            if wallet.halted_at is not None or newest is None or newest.signed_at > at - self.patience:
                return 0
            offer = fees.replacing(Offer(newest.max_fee_wei, newest.priority_fee_wei), facts.offer, self.ceiling_wei)
            if offer is None or row.candidates.count() >= CANDIDATES_MAX:
                return 0
            candidate = self._candidate(row, offer, at)
            OutgoingTransaction.objects.filter(pk=row.pk).update(tx_hash=candidate.tx_hash)
        log.warning("outgoing_replaced", outgoing=str(row.pk), chain=self.chain.pk, nonce=row.nonce, max_fee_wei=offer.max_fee_wei)
        return 1

    def _candidate(self, row: OutgoingTransaction, offer: Offer, at: datetime) -> SignedTransaction:
        return signed_candidate(row, self.key, self.chain, offer, at)


def _reverted(row: OutgoingTransaction) -> str:
    """Why it would be mined in vain."""
    if row.purpose == _Purpose.X402:
        return "The token refuses the authorization"
    return "The exchange refuses the swap" if row.call_data else "The recipient refuses the transfer"


def signed_candidate(row: OutgoingTransaction, key: HotKey, chain: Chain, offer: Offer, at: datetime) -> SignedTransaction:
    """The bytes for the row's nonce and gas, kept. Inside the transaction that gave it the nonce."""
    to, value, data = call_of(row)
    if row.nonce is None or row.gas_limit is None:
        raise ValueError(f"{row.pk} has no nonce or no gas limit yet")
    fees_wei = {"max_fee_wei": offer.max_fee_wei, "priority_fee_wei": offer.priority_fee_wei}
    unsigned = Transaction(chain.chain_id, row.nonce, to, value, data, row.gas_limit, **fees_wei)
    signed = unsigned.signed(key.signing)
    return SignedTransaction.objects.create(
        outgoing=row,
        tx_hash=signed.tx_hash,
        raw=signed.raw,
        max_fee_wei=offer.max_fee_wei,
        priority_fee_wei=offer.priority_fee_wei,
        signed_at=at,
    )
