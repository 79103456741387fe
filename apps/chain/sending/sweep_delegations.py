"""The signer's part of sweeps that the hot wallet pays for. Of a batch of them, what addresses sign
so that the wallet's contract may empty them, or have an amount, for the one transaction that
carries it.

The signer makes each signature itself, for the wallet's own contract, one network and one nonce;
none is kept but in signed bytes.
"""

import uuid
from collections.abc import Mapping, Sequence

from apps.chain.encoding.transactions import Delegation
from apps.chain.keys.secp256k1 import SigningKey
from apps.chain.keys.seeds import Seed
from apps.chain.models import Address, OutgoingTransaction, SignedTransaction
from apps.chain.networks.evm import sweepers
from apps.chain.providers.base import Nodes
from apps.chain.reasons import Reason, Refusal, because
from apps.chain.sending import hot_wallets, lanes, sweep_authorizations
from apps.chain.sending.refused_bytes import Words, words_of
from apps.chain.sending.signing_lanes import Batch, SigningLane
from apps.chain.sending.sweep_batches import DELEGATING, parts_of, states_of
from apps.chain.states import OUTGOING
from apps.core.machine import Step

_Status = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose
_WaitsFor = OutgoingTransaction.WaitsFor


def strange_gas(rows: Sequence[OutgoingTransaction], seed: Seed) -> dict[uuid.UUID, Refusal]:
    """Gas of sweeps for addresses that only our records call ours: the seed has no key for them."""
    gas_rows = [row for row in rows if row.purpose == _Purpose.SWEEP_GAS]
    addresses = Address.objects.in_bulk({row.to_address for row in gas_rows})
    return {
        row.pk: Refusal(_Status.REVIEW, Reason.NO_KEY)
        for row in gas_rows
        if (ours := addresses.get(row.to_address))
        and seed.deposit_key(ours.mode, ours.index).address != ours.pk
    }


def delegating(
    rows: Sequence[OutgoingTransaction], lane: SigningLane, batch: Batch, seed: Seed, nodes: Nodes
) -> list[OutgoingTransaction]:
    """The rows, with what the addresses of batches sign. A batch with an address whose nonce isn't
    as recorded fails, so that each is asked for by itself; on a late node it waits. Raises
    RpcError."""
    ready = []
    for row in rows:
        if row.purpose == _Purpose.SWEEP_BATCH:
            try:
                given = _given(row, lane.wallet.address, seed, nodes)
            except KeyError:
                hot_wallets.finish(row, _Status.FAILED, batch.at, Reason.NO_KEY)
                continue
            except Doubtful as doubt:
                if doubt.is_ahead:
                    hot_wallets.finish(row, _Status.FAILED, batch.at, Reason.NONCE_AHEAD)
                else:
                    lanes.wait([row], Reason.NETWORK_SILENT, _WaitsFor.NETWORK, batch.at)
                continue
            batch.delegations[row.pk] = given
            batch.signed_calls[row.pk] = row.signed_call
            row.delegations = list(given.values())
        ready.append(row)
    return ready


class Doubtful(Exception):
    """The chain's count of an address's nonces isn't ours. It is ahead, or the node is late."""

    def __init__(self, *, is_ahead: bool) -> None:
        super().__init__()
        self.is_ahead = is_ahead


def _given(
    batch: OutgoingTransaction, wallet: str, seed: Seed, nodes: Nodes
) -> Mapping[str, Delegation]:
    """The delegations that a batch carries; one whose addresses sign transfers gets its call
    instead. Raises as `_delegations`."""
    if not sweep_authorizations.is_by_signature(batch):
        return _delegations(batch, wallet, seed, nodes)
    batch.signed_call = _signed_call(batch, seed)
    return {}


def _signed_call(batch: OutgoingTransaction, seed: Seed) -> str:
    """Raises KeyError."""
    parts = parts_of(batch)
    keys = _keys(batch, [part.from_address for part in parts], seed)
    return sweep_authorizations.call_of(batch, parts, keys)


def _delegations(
    batch: OutgoingTransaction, wallet: str, seed: Seed, nodes: Nodes
) -> dict[str, Delegation]:
    """Delegations of those of its addresses that have not delegated to the wallet's contract yet.
    Raises RpcError, Doubtful, and KeyError for an address that the seed has no key for."""
    holders = [part.from_address for part in parts_of(batch)]
    keys = _keys(batch, holders, seed)
    states = states_of(batch.chain_id, holders, nodes)
    wanting = [holder for holder in holders if states[holder].code != sweepers.delegated(wallet)]
    for holder in wanting:
        state = states[holder]
        if state.used != state.recorded:
            raise Doubtful(is_ahead=state.used > state.recorded)
    number = batch.chain.chain_id
    return {
        holder: sweepers.delegation(wallet, number, states[holder].recorded, keys[holder])
        for holder in wanting
    }


def sign_again(batch: OutgoingTransaction, wallet: str, seed: Seed) -> None:
    """Sign for a replacement what was signed before."""
    if sweep_authorizations.is_by_signature(batch):
        batch.signed_call = _signed_call(batch, seed)
    else:
        batch.delegations = _delegated_again(batch, wallet, seed)


def _delegated_again(batch: OutgoingTransaction, wallet: str, seed: Seed) -> list[Delegation]:
    """Delegations of the batch for a replacement. None once nodes have refused a transaction that
    carries some, for no reason that another price or limit mends: what then can't be moved fails,
    and the wallet's line goes on."""
    newest: SignedTransaction | None = batch.candidates.last()
    if newest is None or not newest.raw.startswith(DELEGATING):
        return []
    if newest.refused_count and words_of(newest.refusal) is Words.OTHER:
        return []
    nonces = {part.from_address: part.nonce for part in parts_of(batch) if part.nonce is not None}
    keys = _keys(batch, list(nonces), seed)
    number = batch.chain.chain_id
    return [
        sweepers.delegation(wallet, number, nonce, keys[holder]) for holder, nonce in nonces.items()
    ]


def _keys(batch: OutgoingTransaction, holders: Sequence[str], seed: Seed) -> dict[str, SigningKey]:
    """By address. Raises KeyError."""
    addresses = Address.objects.in_bulk(holders)
    keys = {}
    for holder in holders:
        key = seed.deposit_key(batch.mode, addresses[holder].index)
        if key.address != holder:
            raise KeyError(holder)
        keys[holder] = key
    return keys


def sign_parts(row: OutgoingTransaction, batch: Batch) -> None:
    """Inside the transaction that gives the batch its nonce: its parts are signed with it, and
    those that delegate take a nonce of their address."""
    given, at = batch.delegations[row.pk], batch.at
    row.delegations, row.signed_call = list(given.values()), batch.signed_calls[row.pk]
    for part in row.parts.select_for_update().order_by("from_address"):
        OUTGOING.change_locked(
            part,
            Step(_Status.SIGNED),
            at=at,
            nonce=given[part.from_address].nonce if part.from_address in given else None,
            signed_at=at,
            not_before=None,
            **because(None),
        )
