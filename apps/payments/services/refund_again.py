"""Comparison of a refund request with a refund under way.

The document answers such a request with the record that is there. Who asked for other coins, or for
another place, must be able to see that they were not sent.
"""

from collections.abc import Sequence

from apps.chain.networks.families import stored
from apps.core import money
from apps.core.errors import Failure
from apps.core.messages.invalid import Invalid
from apps.payments.models import Payment, Refund
from apps.payments.requests import RefundRequest
from apps.payments.selectors import received_by
from apps.payments.services.refund_shares import LIVE_STATUSES, requested_atomic


def is_other(payment: Payment, request: RefundRequest, under_way: Sequence[Refund]) -> bool:
    """Another asset, destination or amount. Nothing named means all of it, back to its payers."""
    if request.asset_id is not None and {refund.asset_id for refund in under_way} != {
        request.asset_id
    }:
        return True
    if not all(_goes_to_requested_address(payment, request, refund) for refund in under_way):
        return True
    return _is_another_amount(payment, request, under_way)


def _goes_to_requested_address(payment: Payment, request: RefundRequest, refund: Refund) -> bool:
    if request.destination_address is not None:
        return refund.destination_address == stored(request.destination_address)
    received = [
        intake for intake in received_by(payment) if intake.address.asset_id == refund.asset_id
    ]
    payers = {stored(deposit.from_address) for intake in received for deposit in intake.deposits}
    return refund.destination_address in payers


def _is_another_amount(
    payment: Payment, request: RefundRequest, under_way: Sequence[Refund]
) -> bool:
    if request.settlement_amount is not None:
        return _is_another_worth(payment, request, under_way)
    if request.amount is not None:
        asset = under_way[0].asset
        amount_atomic = money.atomic_from_decimal(request.amount, asset.atomic_decimals)
        return amount_atomic != sum(refund.amount_atomic for refund in under_way)
    for intake in received_by(payment):
        if request.asset_id not in (None, intake.address.asset_id):
            continue
        rows = Refund.objects.filter(payment=payment, asset_id=intake.address.asset_id)
        amounts = rows.filter(status__in=LIVE_STATUSES).values_list("amount_atomic", flat=True)
        if sum(amounts) < intake.confirmed_atomic:
            return True
    return False


def _is_another_worth(
    payment: Payment, request: RefundRequest, under_way: Sequence[Refund]
) -> bool:
    """Compare with what the request would have asked for when those under way were made."""
    sent = sum(refund.amount_atomic for refund in under_way)
    assets = {refund.asset_id for refund in under_way}
    (intake, *others) = (
        intake for intake in received_by(payment) if intake.address.asset_id in assets
    )
    rows = Refund.objects.filter(payment=payment, asset_id=intake.address.asset_id)
    earlier = rows.filter(status__in=LIVE_STATUSES).exclude(pk__in=[row.pk for row in under_way])
    left = intake.confirmed_atomic - sum(earlier.values_list("amount_atomic", flat=True))
    try:
        return bool(others) or requested_atomic(payment, intake, request, left) != sent
    except (Failure, Invalid):
        return True
