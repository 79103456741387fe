"""Whether a request that meets a refund under way asks for something else than what is under way.

The document answers such a request with the record that is there. Who asked for other coins, or for
another place, must be able to see that they were not sent.
"""

from collections.abc import Sequence

from apps.core import money
from apps.payments.models import Payment, Refund
from apps.payments.selectors import received_by
from apps.payments.services.refund_shares import LIVE_STATUSES, Wish


def is_other(payment: Payment, wish: Wish, under_way: Sequence[Refund]) -> bool:
    """Another asset, destination or amount. Nothing named means all of it, back to its payers."""
    if wish.asset_id is not None and {one.asset_id for one in under_way} != {wish.asset_id}:
        return True
    if not all(_goes_where_asked(payment, wish, one) for one in under_way):
        return True
    return _is_another_amount(payment, wish, under_way)


def _goes_where_asked(payment: Payment, wish: Wish, refund: Refund) -> bool:
    if wish.destination_address is not None:
        return refund.destination_address == wish.destination_address.lower()
    received = [one for one in received_by(payment) if one.address.asset_id == refund.asset_id]
    payers = {deposit.from_address.lower() for one in received for deposit in one.deposits}
    return refund.destination_address in payers


def _is_another_amount(payment: Payment, wish: Wish, under_way: Sequence[Refund]) -> bool:
    if wish.amount is not None:
        asset = under_way[0].asset
        asked = money.atomic_from_decimal(wish.amount, asset.atomic_decimals)
        return asked != sum(one.amount_atomic for one in under_way)
    for one in received_by(payment):
        if wish.asset_id not in (None, one.address.asset_id):
            continue
        rows = Refund.objects.filter(payment=payment, asset_id=one.address.asset_id)
        sent = rows.filter(status__in=LIVE_STATUSES).values_list("amount_atomic", flat=True)
        if sum(sent) < one.confirmed_atomic:
            return True
    return False
