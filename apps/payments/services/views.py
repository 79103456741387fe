"""The first look at a payment's checkout is written down once, no matter who looks again."""

from datetime import datetime

from apps.payments.models import CheckoutView, Payment


def note_viewed(payment: Payment, at: datetime) -> None:
    """Keep that somebody looks at the checkout now, by the store's time; later looks change
    nothing."""
    row = CheckoutView(payment_id=payment.pk, viewed_at=at)
    CheckoutView.objects.bulk_create([row], ignore_conflicts=True)
