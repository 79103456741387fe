"""News of a payment for its page: a short text that is another one as soon as there is some."""

import uuid
from collections.abc import Collection
from datetime import timedelta

from django.db import connection

from apps.core import clock
from apps.core.db import tenancy
from apps.payments.models import Payment

# What was seen before is news no more.
SEEN_FOR = timedelta(days=2)
# Sightings that wait and that have ended, and deposits that are there and that count or failed.
_COUNTS = """
    SELECT place.payment_id, 'seen', found.status = 'waiting', count(*)
    FROM payments_paymentaddress place JOIN chain_sighting found USING (address_id)
    WHERE place.payment_id = ANY(%(ids)s) AND found.seen_at > %(since)s
    GROUP BY 1, 3
    UNION ALL
    SELECT place.payment_id, 'came', deposit.status = 'confirming', count(*)
    FROM payments_paymentaddress place JOIN chain_deposit deposit USING (address_id)
    WHERE place.payment_id = ANY(%(busy)s)
    GROUP BY 1, 3
    ORDER BY 1, 2, 3
"""
# As long as nothing came for it.
_IDLE = (Payment.Status.PENDING,)


def beats_of(payments: Collection[tuple[uuid.UUID, str, str | None]]) -> dict[str, str]:
    """Of payments, each with its status and reason: the text of each, by id."""
    texts = {str(pk): f"{status} {reason or ''}".strip() for pk, status, reason in payments}
    ids = [pk for pk, _, _ in payments]
    busy = [pk for pk, status, _ in payments if status not in _IDLE]
    since = clock.real_now() - SEEN_FOR
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, {"ids": ids, "busy": busy, "since": since})
        for pk, kind, is_open, count in cursor.fetchall():
            texts[str(pk)] += f" {kind}{'+' if is_open else '-'}{count}"
    return texts


def beat_of(payment: Payment) -> str:
    return beats_of([(payment.pk, payment.status, payment.state_reason)])[str(payment.pk)]


def beats_of_all(keys: Collection[str]) -> dict[str, str]:
    """Of payments by id, of whichever stores: their pages have asked with their links."""
    with tenancy.everyone("pages of payments wait for news"):
        rows = Payment.objects.filter(pk__in=keys).values_list("pk", "status", "state_reason")
        return beats_of([*rows])
