"""That somebody looked at a payment's checkout."""

from django.db import models

from apps.payments.models.payments import Payment


class CheckoutView(models.Model):
    """The first time that a browser showed the checkout of an intent to somebody who isn't signed
    in to the dashboard, by the time of the store."""

    payment = models.OneToOneField(
        Payment, primary_key=True, on_delete=models.PROTECT, related_name="+"
    )
    viewed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.payment_id}, {self.viewed_at}"
