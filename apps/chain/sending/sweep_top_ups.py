"""Gas for a token's sweep that was signed and that the base fee has outrun: the hot wallet adds
what an offer of today needs, and the sweep is signed again at the same nonce.

Never more often than TOP_UPS_MAX for a sweep, nor when it would cost more than it brings.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet

from apps.assets.models import Asset, Chain
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import fees, sweep_costs
from apps.chain.sending.fees import FeeOffer
from apps.chain.sending.signer import CANDIDATES_MAX
from apps.chain.sending.sweep_costs import SweepPrice
from apps.chain.states import IN_FLIGHT

TOP_UPS_MAX = 3
_Purpose = OutgoingTransaction.Purpose


def stuck(chain: Chain, at: datetime) -> "QuerySet[OutgoingTransaction]":
    """Sweeps of tokens that were signed so long ago that they may be signed again."""
    patience = timedelta(seconds=settings.SIGNER_STUCK_SECONDS)
    rows = OutgoingTransaction.objects.filter(
        chain=chain, purpose=_Purpose.SWEEP, batch=None, status__in=IN_FLIGHT, undone_count=0
    )
    rows = rows.exclude(asset__pays_fees=True)
    rows = rows.exclude(candidates__signed_at__gt=at - patience)
    return rows.select_related("asset", "chain").order_by("signed_at", "pk")


def missing(row: OutgoingTransaction, native: Asset, price: SweepPrice, held_wei: int) -> int:
    """The gas money (in wei) that its address lacks for a replacement; none for one that could
    still be mined as it is, or that isn't worth it."""
    newest = row.candidates.last()
    if newest is None or row.gas_limit is None or newest.max_fee_wei >= price.least_fee_wei:
        return 0
    dearer = fees.replacing(
        FeeOffer(newest.max_fee_wei, newest.priority_fee_wei),
        price.offer,
        fees.ceiling_of(row.chain),
    )
    cost = sweep_costs.in_coins(row.asset, native, price.token_cost(row.gas_limit))
    if (
        dearer is None
        or cost is None
        or not sweep_costs.is_worth(row.asset, row.amount_atomic, cost, is_wanted=True)
        or row.candidates.count() >= CANDIDATES_MAX
    ):
        return 0
    return max(0, row.gas_limit * dearer.max_fee_wei + price.gas.beside_wei - held_wei)


def may_have_more(row: OutgoingTransaction) -> bool:
    """Under the address's lock: none is on its way, and it had not all that a sweep gets."""
    gas = OutgoingTransaction.objects.filter(
        chain=row.chain_id, purpose=_Purpose.SWEEP_GAS, to_address=row.from_address
    )
    ended = (OutgoingTransaction.Status.CONFIRMED, OutgoingTransaction.Status.FAILED)
    is_there = OutgoingTransaction.objects.filter(pk=row.pk, status__in=IN_FLIGHT).exists()
    more = gas.filter(requested_at__gt=row.signed_at)
    return is_there and not gas.exclude(status__in=ended).exists() and more.count() < TOP_UPS_MAX
