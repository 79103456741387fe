"""Sums of payments by hour and of platforms' sales by day, month and newest thirty days, and what
has changed since (apps.payments.hourly_sums, apps.payments.sold_sums)."""

from typing import Any

from django.db import models


def _store(**options: Any) -> "models.ForeignKey[Any, Any]":
    """Store of the figures; their sources have the reference that the database keeps."""
    return models.ForeignKey(
        "stores.Store",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
        **options,
    )


class PaymentChange(models.Model):
    """Change that a payment, or its net, makes to its sums, until a job has added it. Written by
    triggers of the database, in the transaction of each change."""

    store = _store()
    mode = models.CharField(max_length=4)
    platform = _store(null=True)
    hour = models.DateTimeField()
    sold_on = models.DateField(null=True)
    currency = models.CharField(max_length=3)
    status = models.CharField(max_length=10)
    payments = models.SmallIntegerField()
    completed = models.SmallIntegerField()
    completed_cents = models.BigIntegerField()
    nets = models.SmallIntegerField()
    net_cents = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["store", "mode"], name="payment_change_of_store"),
            models.Index(
                fields=["platform", "mode"],
                condition=models.Q(platform__isnull=False, sold_on__isnull=False),
                name="payment_change_of_platform",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.store_id}, {self.hour}"


class HourlySum(models.Model):
    """Of the payments that a store made in an hour of UTC, in a currency, which have a status now:
    how many there are and have completed, and how many have a net, with the cents of both."""

    store = _store()
    mode = models.CharField(max_length=4)
    hour = models.DateTimeField()
    currency = models.CharField(max_length=3)
    status = models.CharField(max_length=10)
    payments = models.BigIntegerField()
    completed = models.BigIntegerField()
    completed_cents = models.BigIntegerField()
    nets = models.BigIntegerField()
    net_cents = models.BigIntegerField()

    class Meta:
        constraints = [
            # An index alone answers: rows of a store are hours apart.
            models.UniqueConstraint(
                fields=["store", "mode", "hour", "currency", "status"],
                include=["payments", "completed", "completed_cents", "nets", "net_cents"],
                name="hourly_sum_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.store_id}, {self.hour}"


class SoldSum(models.Model):
    """Of a platform's payments that completed on a UTC day, by merchant and currency: how many
    there are, and their cents."""

    platform = _store()
    mode = models.CharField(max_length=4)
    day = models.DateField()
    store = _store()
    currency = models.CharField(max_length=3)
    payments = models.BigIntegerField()
    cents = models.BigIntegerField()

    class Meta:
        constraints = [
            # A merchant's days lie together.
            models.UniqueConstraint(
                fields=["platform", "mode", "store", "day", "currency"],
                include=["payments", "cents"],
                name="sold_sum_of_merchant",
            )
        ]
        indexes = [
            # A day's merchants, the largest first.
            models.Index(
                fields=["platform", "mode", "day", "currency", "-cents", "store"],
                include=["payments"],
                name="sold_sum_by_cents",
            )
        ]

    def __str__(self) -> str:
        return f"{self.platform_id}, {self.day}"


class SoldSpan(models.Model):
    """The sums of a merchant's days of a month, which is the span's name (2026-03), or of the
    newest thirty days (recent). Written by a trigger of those sums, and by the job that moves the
    newest days on."""

    platform = _store()
    mode = models.CharField(max_length=4)
    span = models.CharField(max_length=7, db_collation="C")
    store = _store()
    currency = models.CharField(max_length=3)
    payments = models.BigIntegerField()
    cents = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["platform", "mode", "span", "store", "currency"], name="sold_span_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["platform", "mode", "span", "currency", "-cents", "store"],
                name="sold_span_by_cents",
            )
        ]

    def __str__(self) -> str:
        return f"{self.platform_id}, {self.span}"


class PlatformSum(models.Model):
    """Sales of all merchants of a platform on a UTC day, by currency. Written by the same
    trigger."""

    platform = _store()
    mode = models.CharField(max_length=4)
    day = models.DateField()
    currency = models.CharField(max_length=3)
    payments = models.BigIntegerField()
    cents = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["platform", "mode", "day", "currency"],
                include=["payments", "cents"],
                name="platform_sum_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.platform_id}, {self.day}"
