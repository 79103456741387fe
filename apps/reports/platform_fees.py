"""A platform's income from its sub-merchants' payments, by the platform's own entries."""

import uuid
from collections.abc import Iterable

from apps.core.models import Viewer
from apps.core.money import Fiat
from apps.ledger.models import Entry
from apps.reports.bookings import bookings_of


def platform_fees_of(
    platform: Viewer, currency: str, payment_ids: Iterable[uuid.UUID]
) -> dict[uuid.UUID, Fiat]:
    """By payment, less what refunds gave back, worth what it was when it was booked; without those
    that brought nothing or whose coin had no rate. Two questions for all.

    `currency` is that of what serves no payment that the platform may see.
    """
    rows = Entry.objects.filter(
        account__store=platform.store_id,
        account__mode=platform.mode,
        role="platform_fee",
        movement__reference__in=list(payment_ids),
    )
    columns = rows.order_by("id").values_list("pk", "movement__reference", "amount_atomic")
    entries = [(pk, reference, amount) for pk, reference, amount in columns if reference]
    if not entries:
        return {}
    values = bookings_of(platform.store_id, platform.mode, currency, [pk for pk, _, _ in entries])
    fees: dict[uuid.UUID, Fiat] = {}
    unknown = set[uuid.UUID]()
    for pk, payment_id, amount_atomic in entries:
        worth = values[pk].worth(int(amount_atomic))
        if worth is None:
            unknown.add(payment_id)
        else:
            fees[payment_id] = fees[payment_id] + worth if payment_id in fees else worth
    return {payment_id: fee for payment_id, fee in fees.items() if payment_id not in unknown}
