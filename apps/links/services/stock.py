"""Sold and held pieces of a link. Counted under the lock of the link's row, so that no two buyers
get the last one."""

import uuid
from datetime import datetime

from apps.links.models import LinkPayment, PaymentLink
from apps.payments import states

_UNPAID = (states.EXPIRED, states.FAILED, states.REFUNDED)


def locked_link(id: uuid.UUID) -> PaymentLink:
    """The link, locked for a payment at it or a change of it."""
    row: PaymentLink = (
        PaymentLink.objects.select_for_update(no_key=True, of=("self",))
        .select_related("store")
        .get(pk=id)
    )
    return row


def taken(link: PaymentLink, at: datetime) -> int:
    """Pieces that are sold, or held by an open payment. The link's row is locked.

    A payment that ended without having been completed never completes, so its piece is given back
    for good; one that was completed and refunded later counts as sold.
    """
    holding = LinkPayment.objects.filter(link=link, released_at=None)
    holding.filter(payment__status__in=_UNPAID, payment__completed_at=None).update(released_at=at)
    return holding.count()
