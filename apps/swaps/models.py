"""Swaps of a store's balance from one asset into another, their history, and which incoming
payments are swapped by themselves.

A swap's status changes only in services.progress. What it sells is reserved from its creation to
its end.
"""

from django.db import models

from apps.core.models import AtomicField, OptionalAtomicField, Owned


class Swap(Owned):
    """A sale of `sell_amount_atomic` for another asset. `payment` is set when an incoming payment
    caused it."""

    class Status(models.TextChoices):
        PENDING = "pending"
        SUBMITTED = "submitted"
        COMPLETED = "completed"
        FAILED = "failed"

    status = models.CharField(max_length=9, choices=Status.choices, default=Status.PENDING)
    source_asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    buy_asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    sell_amount_atomic = AtomicField()
    expected_buy_amount_atomic = AtomicField()
    min_buy_amount_atomic = AtomicField()
    actual_buy_amount_atomic = OptionalAtomicField(null=True)
    slippage_bps = models.PositiveSmallIntegerField()
    provider = models.CharField(max_length=20)
    tx_hash = models.CharField(max_length=66, null=True)
    failure_reason = models.CharField(max_length=200, null=True)
    payment = models.ForeignKey(
        "payments.Payment", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    updated_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)
    idempotency_caller = models.CharField(max_length=50, blank=True, default="")
    idempotency_key = models.CharField(max_length=255)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(sell_amount_atomic__gt=0), name="swap_sells_something"
            ),
            models.CheckConstraint(
                condition=~models.Q(source_asset=models.F("buy_asset")), name="swap_changes_asset"
            ),
            models.CheckConstraint(
                condition=models.Q(status="completed", actual_buy_amount_atomic__isnull=False)
                | (~models.Q(status="completed") & models.Q(actual_buy_amount_atomic__isnull=True)),
                name="swap_bought_when_completed",
            ),
            models.UniqueConstraint(
                fields=["store", "mode", "idempotency_caller", "idempotency_key"],
                name="swap_idempotency_key_once",
            ),
            models.UniqueConstraint(
                fields=["payment", "source_asset"],
                condition=models.Q(payment__isnull=False),
                name="swap_once_per_payment",
            ),
        ]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"]),
            models.Index(
                fields=["store", "mode", "status", "-created_at", "-id"],
                name="swap_of_status",
            ),
            models.Index(
                fields=["created_at"],
                condition=models.Q(status__in=["pending", "submitted"]),
                name="swap_open",
            ),
            models.Index(
                fields=["store", "mode", "tx_hash"],
                condition=models.Q(tx_hash__isnull=False),
                name="swap_by_hash",
            ),
        ]

    @property
    def is_automatic(self) -> bool:
        return self.payment_id is not None


class SwapStep(models.Model):
    """A line of a swap's history."""

    swap = models.ForeignKey(Swap, on_delete=models.PROTECT, related_name="steps")
    from_status = models.CharField(max_length=9, null=True)
    to_status = models.CharField(max_length=9)
    note = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]


class AutoSwap(Owned):
    """Into which asset a store's payments are swapped when they complete. Payments completed before
    `since` are left alone."""

    target_asset = models.ForeignKey(
        "assets.Asset", null=True, on_delete=models.PROTECT, related_name="+"
    )
    since = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["store", "mode"], name="auto_swap_once_per_mode")
        ]
