"""More time for a payment that money has come for: its quote stays locked, its deadline moves.

Never more than three days after it was made.
"""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction

from apps.access.access import Access
from apps.chain.models import Address, Deposit
from apps.core import clock
from apps.core.clock import iso
from apps.core.errors import Failure
from apps.payments import states
from apps.payments.models import Payment, PaymentEvent
from apps.payments.models.payments import EXTENDED_MAX
from apps.payments.selectors import Received, received_by
from apps.payments.services.change_status import locked_payment
from apps.payments.services.settle import settle_locked
from apps.stores.auditing import audit

EXTENDED = "payment.extended"
WATCHED_FOR = timedelta(days=1)


class NotExtendable(Failure):
    code = "not_extendable"
    message = "Only an open payment that money has arrived for can be given more time"


class TooLong(Failure):
    code = "extension_too_long"
    field = "expires_in"
    message = "A payment can be open for three days at most"


def extend_payment(payment: Payment, expires_in: int, *, by: Access) -> Payment:
    """Open for so many seconds from now; unchanged when it is open as long already. Raises
    NotExtendable or TooLong."""
    with transaction.atomic():
        locked = locked_payment(payment.pk)
        at = clock.now(locked.store, locked.mode)
        locked = settle_locked(locked, at)
        if not is_extendable(locked, received_by(locked)):
            raise NotExtendable
        expires_at = at + timedelta(seconds=expires_in)
        if expires_at > locked.created_at + EXTENDED_MAX:
            raise TooLong
        if expires_at <= locked.expires_at:
            return locked
        before = locked.expires_at
        locked.first_expires_at = locked.first_expires_at or before
        locked.expires_at = expires_at
        locked.updated_at = at
        locked.save(update_fields=["expires_at", "first_expires_at", "updated_at"])
        offset = timedelta(seconds=locked.store.test_offset_seconds if locked.mode == "test" else 0)
        addresses = Address.objects.filter(
            pk__in=locked.addresses.values("address_id"), native_chain__isnull=False
        )
        addresses.update(watch_balance_until=expires_at - offset + WATCHED_FOR)
        times = {"before": iso(before), "expires_at": iso(expires_at)}
        PaymentEvent.objects.create(
            payment=locked,
            event_type=EXTENDED,
            from_status=locked.status,
            to_status=locked.status,
            payload=times,
            created_at=at,
        )
        audit.record(
            EXTENDED,
            store=by.store_id,
            mode=locked.mode,
            target=locked,
            name=locked.reference,
            details=times,
        )
    return locked


def is_extendable(payment: Payment, received: Sequence[Received]) -> bool:
    """It is open, waits for more, and something has come for it, in whatever coin."""
    if payment.status == states.PROCESSING:
        return payment.state_reason == states.PROCESSING_UNDERPAID
    arrived = (deposit for intake in received for deposit in (*intake.deposits, *intake.unexpected))
    return payment.status == states.PENDING and any(
        deposit.status != Deposit.Status.FAILED for deposit in arrived
    )
