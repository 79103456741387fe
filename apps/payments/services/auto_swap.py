"""Effect of an automatic swap on its payment: the app of swaps decides, the payment shows it."""

from datetime import datetime

from django.db.models import Case, F, Value, When

from apps.payments import states
from apps.payments.models import Payment

PENDING = "pending"
COMPLETED = "completed"
FAILED = "failed"
SKIPPED = "skipped"


def note_auto_swap(payment: Payment, status: str, at: datetime) -> bool:
    """Show how far a payment's automatic swap is; False when it showed that already. Its funds are
    settled once it has ended."""
    label = "processing" if status == PENDING else "completed"
    rows = Payment.objects.filter(pk=payment.pk).exclude(auto_swap_status=status)
    changed = rows.update(
        auto_swap_status=status,
        settlement_status=Case(
            When(status=states.COMPLETED, then=Value(label)), default=F("settlement_status")
        ),
        updated_at=at,
        reconciliation_due=True,
    )
    return bool(changed)
