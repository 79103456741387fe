"""The `data.object` of a test delivery, of the very class that the real event has.

Anyone who records an event makes its sample; settings say which app that is, because the apps
that record events are above this one. The last two events nobody records yet:
their objects are reported here.
"""

from collections.abc import Callable
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string

from apps.core.messages.documents import Document
from apps.webhooks.catalogue import family_of
from apps.webhooks.documents import PayoutEvent, SweepEvent

SAMPLE_ID = "00000000-0000-4000-8000-000000000001"
SAMPLE_AT = "2026-01-01T12:00:00.000000Z"
_PAYOUT_STATUS = {"created": "pending", "confirmed": "confirmed", "failed": "failed"}


def sample(event_type: str) -> Document:
    """A made-up object for any event that can be subscribed to."""
    make = cast(
        Callable[[str], Document], import_string(settings.EVENT_SAMPLES[family_of(event_type)])
    )
    return make(event_type)


def payout(event_type: str) -> PayoutEvent:
    status = _PAYOUT_STATUS[event_type.rpartition(".")[2]]
    return PayoutEvent(
        id=SAMPLE_ID, status=status, amount_atomic="10000000000000000", created_at=SAMPLE_AT
    )


def fee_sweep(event_type: str) -> SweepEvent:
    status = event_type.rpartition(".")[2]
    return SweepEvent(
        id=SAMPLE_ID,
        status=status,
        amount_atomic="100000000000000",
        asset_id="SETH",
        created_at=SAMPLE_AT,
    )
