"""The hot wallets of a chain as the signer has them for one round, and which of them a transaction
leaves from.

It is chosen when it is signed, and never changes afterward: what is sent again are the same bytes.
"""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog
from django.conf import settings

from apps.assets.models import Chain
from apps.chain.encoding.transactions import Delegation
from apps.chain.keys.keystores import HotKey
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.providers.base import KeystoreError, Nodes
from apps.chain.sending import balances, hot_wallets
from apps.chain.sending.balances import CommittedAmounts
from apps.chain.sending.fee_coins import FeeCoin, unit_wei
from apps.chain.sending.fees import FeeOffer
from apps.chain.sending.permits import PERMIT2
from apps.chain.sending.transfer_gas import TransferGas
from apps.chain.states import TAKES_NO_TOKENS
from apps.core.errors import ErrorCode

log = structlog.get_logger(__name__)
_Purpose = OutgoingTransaction.Purpose
# The exchange knows the first wallet of a chain: it holds the allowances, and gets what is bought.
# Payers' permits name it, too, and batches of sweeps are by its contract.
OF_THE_FIRST = (_Purpose.SWAP, _Purpose.APPROVAL, _Purpose.SWEEP_BATCH)


@dataclass(frozen=True)
class WalletState:
    """A wallet's state on the chain at one block. `pending_nonce` counts the unmined too."""

    nonce: int
    pending_nonce: int
    fee_wei: int
    tokens_atomic: Mapping[str, int] = field(default_factory=dict)

    @property
    def known_nonce(self) -> int:
        """Last nonce that the chain knows, mined or not."""
        return max(self.nonce, self.pending_nonce)


class WalletRest:
    """A wallet's rest after everything signed and not yet mined. Made and used under its lock."""

    def __init__(
        self, state: WalletState, promised: CommittedAmounts, max_fee_wei: int, gas: TransferGas
    ) -> None:
        self._fee_wei = state.fee_wei - promised.fee_wei - promised.count * gas.beside_wei
        self._beside_wei = gas.beside_wei
        self._tokens = {
            asset: amount - promised.tokens_atomic.get(asset, 0)
            for asset, amount in state.tokens_atomic.items()
        }
        self._max_fee_wei = max_fee_wei

    def takes(self, row: OutgoingTransaction, gas_limit: int) -> bool:
        """True if the amount and its gas are there; then they are taken."""
        amount = 0 if row.purpose in TAKES_NO_TOKENS else row.amount_atomic
        paid_wei = amount * unit_wei(row.asset) if row.asset.pays_fees else 0
        fee_wei = paid_wei + gas_limit * self._max_fee_wei + self._beside_wei
        tokens = 0 if row.asset.pays_fees else amount
        if fee_wei > self._fee_wei or tokens > self._tokens.get(row.asset_id, 0):
            return False
        self._fee_wei -= fee_wei
        if tokens:
            self._tokens[row.asset_id] -= tokens
        return True

    def bears(self, gas_limit: int) -> bool:
        """True if so much gas could be paid."""
        return gas_limit * self._max_fee_wei + self._beside_wei <= self._fee_wei

    def left(self, row: OutgoingTransaction) -> int:
        """Of the row's asset."""
        if row.asset.pays_fees:
            return self._fee_wei // unit_wei(row.asset)
        return self._tokens.get(row.asset_id, 0)


@dataclass
class SigningLane:
    """A hot wallet, its key, and what the chain says of it. `is_stuck` when its next transaction
    has waited too long to be mined."""

    wallet: HotWallet
    key: HotKey
    state: WalletState
    is_stuck: bool = False
    # Assets whose token refuses this wallet: they leave from another one while there is one.
    refused_asset_ids: Collection[str] = ()

    @property
    def is_open(self) -> bool:
        """As it was when the round began; asked again under its lock."""
        return self.wallet.halted_at is None

    def purse(self, max_fee_wei: int, gas: TransferGas) -> WalletRest:
        promised = balances.promised(self.wallet.chain_id, self.wallet.address, self.state.nonce)
        return WalletRest(self.state, promised, max_fee_wei, gas)


@dataclass(frozen=True)
class Batch:
    """State of a round: the chain's wallets, halted ones too, the offered fees, the gas of
    transfers, and the time."""

    lanes: Sequence[SigningLane]
    offer: FeeOffer
    gas: TransferGas
    at: datetime
    # Of each batch of sweeps, what its addresses sign.
    delegations: dict[uuid.UUID, Mapping[str, Delegation]] = field(default_factory=dict)
    signed_calls: dict[uuid.UUID, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Places:
    """Rows that each lane can pay for, by the key of its wallet; and rows that no lane can."""

    rows: Mapping[str, list[OutgoingTransaction]]
    short: Sequence[OutgoingTransaction]


def places(
    lanes: Sequence[SigningLane],
    rows: Sequence[OutgoingTransaction],
    max_fee_wei: int,
    gas: TransferGas,
) -> Places:
    """For each row the lane with the fewest unmined transactions that could pay for it and its gas
    as it is; one that is stuck comes last. Cold storage takes from the one with the most."""
    purses = {lane.wallet.pk: lane.purse(max_fee_wei, gas) for lane in lanes}
    unmined = {lane.wallet.pk: lane.wallet.next_nonce - lane.state.nonce for lane in lanes}
    placed: dict[str, list[OutgoingTransaction]] = {lane.wallet.pk: [] for lane in lanes}
    short = []
    for row in rows:
        gas_limit = gas.of(is_native=row.asset.is_native)
        for lane in _in_turn(lanes, row, purses, unmined):
            if purses[lane.wallet.pk].takes(row, gas_limit):
                placed[lane.wallet.pk].append(row)
                unmined[lane.wallet.pk] += 1
                break
        else:
            short.append(row)
    return Places(placed, short)


def _in_turn(
    lanes: Sequence[SigningLane],
    row: OutgoingTransaction,
    purses: Mapping[str, WalletRest],
    unmined: Mapping[str, int],
) -> list[SigningLane]:
    """Those that may send the row, the best first."""
    if row.purpose in OF_THE_FIRST or row.to_address == PERMIT2:
        return [lane for lane in lanes if lane.wallet.number == 0]
    if row.purpose == _Purpose.COLD:
        return sorted(lanes, key=lambda lane: -purses[lane.wallet.pk].left(row))
    return sorted(
        lanes,
        key=lambda lane: (
            row.asset_id in lane.refused_asset_ids,
            lane.is_stuck,
            unmined[lane.wallet.pk],
            lane.wallet.number,
        ),
    )


def note_gas(
    open_lanes: Sequence[SigningLane], offer: FeeOffer, gas: TransferGas, at: datetime
) -> None:
    """Of several wallets, which can't pay for gas: what they would send leaves from another one, so
    that nothing else tells it."""
    for lane in open_lanes:
        since = lane.wallet.without_gas_since
        is_without = not lane.purse(offer.max_fee_wei, gas).bears(gas.token)
        if is_without == (since is not None):
            continue
        HotWallet.objects.filter(pk=lane.wallet.pk).update(
            without_gas_since=at if is_without else None
        )
        if is_without:
            log.warning("hot_wallet_without_gas", chain=lane.wallet.pk)


def state_of(answers: Sequence[Any], tokens: Collection[str], coin: FeeCoin) -> WalletState:
    """Reads the answers about one wallet; its tokens in the order of the assets."""
    used, pending, held, *rest = answers
    held_tokens = {
        asset: balances.read_tokens(answer) for asset, answer in zip(tokens, rest, strict=True)
    }
    return WalletState(int(used, 16), int(pending, 16), coin.wei(held), held_tokens)


def ensure_wallets(
    chain: Chain, key_of: Callable[[int], HotKey], nodes: Nodes, at: datetime
) -> list[tuple[HotWallet, HotKey]]:
    """The chain's wallets and their keys, in the order of their numbers: as many as SIGNER_LANES
    says, and those that were there before. A wrong key halts its wallet.

    Raises KeystoreError and RpcError.
    """
    rows = {row.number: row for row in HotWallet.objects.filter(chain=chain)}
    numbers = sorted({*range(settings.SIGNER_LANES.get(chain.pk, 1)), *rows})
    keys = {number: key_of(number) for number in numbers}
    if len({key.address for key in keys.values()}) < len(keys):
        raise KeystoreError(
            ErrorCode.MALFORMED, f"Two hot wallets of {chain.name} would have the same key"
        )
    wallets = []
    for number, key in keys.items():
        wallet = rows.get(number) or _new(chain, number, key.address, nodes)
        if wallet.address != key.address and wallet.halted_at is None:
            hot_wallets.halt(wallet, "The signer holds the key of another wallet", at)
            wallet.refresh_from_db()
        wallets.append((wallet, key))
    return wallets


def _new(chain: Chain, number: int, address: str, nodes: Nodes) -> HotWallet:
    """The first begins at the nonce that the chain tells. Others begin at none, so that one which
    was used before, as after a restore of an older backup, is halted and read."""
    used = 0 if number else int(nodes.call("eth_getTransactionCount", [address, "pending"]), 16)
    wallet, _ = HotWallet.objects.get_or_create(
        chain=chain, number=number, defaults={"address": address, "next_nonce": used}
    )
    return wallet
