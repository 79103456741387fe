"""Replacements of a hot wallet's transaction, at its nonce."""

from dataclasses import replace

import structlog

from apps.chain.models import OutgoingTransaction
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.sending import fees, gas, refused_bytes
from apps.chain.sending.fee_coins import unit_wei
from apps.chain.sending.fees import FeeOffer
from apps.chain.sending.refused_bytes import Terms, words_of
from apps.chain.sending.signing_lanes import SigningLane
from apps.chain.sending.transfer_gas import TransferGas

log = structlog.get_logger(__name__)


def terms_of(
    row: OutgoingTransaction,
    lane: SigningLane,
    today: FeeOffer | None,
    transfer: TransferGas,
    nodes: Nodes,
) -> Terms | None:
    """Dearer; or, where nodes have refused its bytes, with another limit and what the wallet can
    pay. None when nothing helps now, or a node says nothing of it. Raises RpcError when none
    answers."""
    try:
        return _terms(row, lane, today, transfer, nodes)
    except RpcError as error:
        if not error.is_refusal:
            raise
        log.warning("outgoing_not_estimated", outgoing=str(row.pk), error=str(error))
        return None


def _terms(
    row: OutgoingTransaction,
    lane: SigningLane,
    today: FeeOffer | None,
    transfer: TransferGas,
    nodes: Nodes,
) -> Terms | None:
    newest = row.candidates.last()
    if newest is None or row.gas_limit is None:
        return None
    ceiling_wei = fees.ceiling_of(lane.wallet.chain)
    old = Terms(row.gas_limit, FeeOffer(newest.max_fee_wei, newest.priority_fee_wei), newest.pk)
    if not newest.refused_count:
        dearer = fees.replacing(old.offer, today, ceiling_wei)
        return None if dearer is None else replace(old, offer=dearer)
    fresh = gas.limits_of([row], lane.wallet.address, nodes, transfer)[row.pk].limit
    amount = row.amount_atomic * unit_wei(row.asset) if row.asset.pays_fees else 0
    return refused_bytes.terms(
        old,
        words_of(newest.refusal),
        today=today,
        ceiling_wei=ceiling_wei,
        fresh_limit=fresh,
        most_limit=gas.most(row, transfer),
        spare_wei=lane.state.fee_wei - amount - transfer.beside_wei,
    )
