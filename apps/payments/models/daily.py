"""Daily sums of the books of stores, kept for reports and platforms (apps.payments.daily_sums)."""

from django.db import models

from apps.core.models import AtomicField


class DailySum(models.Model):
    """Sum of the entries of a store's account over a UTC day, by the currency of the payments that
    they serve; empty for none. Of the entries up to the account's place.

    The day's entries are between the first and the last, beside those of other days.
    """

    account = models.ForeignKey(
        "ledger.Account", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    day = models.DateField()
    currency = models.CharField(max_length=3, blank=True, default="")
    entries = models.PositiveIntegerField()
    amount_atomic = AtomicField()
    platform_fees = models.PositiveIntegerField()
    platform_fee_atomic = AtomicField()
    first_id = models.BigIntegerField(null=True)
    last_id = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "day", "currency"], name="daily_sum_once")
        ]

    def __str__(self) -> str:
        return f"{self.account_id}, {self.day}"


class DailySumPlace(models.Model):
    """Up to which entry of an account its daily sums go; 0 before the first."""

    account = models.OneToOneField(
        "ledger.Account", primary_key=True, on_delete=models.PROTECT, related_name="+"
    )
    newest_id = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.account_id)
