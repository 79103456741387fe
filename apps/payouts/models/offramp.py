"""Orders of off-ramps."""

from django.db import models

from apps.payouts.models.payouts import Payout


class OfframpOrder(models.Model):
    """One attempt of a bank payout, written before its off-ramp is asked, by workers alone. Until
    `failed_at` the off-ramp may have taken the order, and nothing of it is given back."""

    payout = models.ForeignKey(Payout, on_delete=models.PROTECT, related_name="+", db_index=False)
    attempt = models.PositiveSmallIntegerField()
    asked_at = models.DateTimeField()
    failed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["payout", "attempt"], name="offramp_order_once")
        ]
