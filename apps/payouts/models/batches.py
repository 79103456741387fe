"""Payouts that a person asks for together: the uploaded list, and each of its lines.

A line is checked once, released with its list, and becomes one payout under a key of its own; what
goes wrong with it stays its own.
"""

from django.conf import settings
from django.db import models

from apps.core.models import ADDRESS_LENGTH, OptionalAtomicField, Owned


class PayoutBatch(Owned):
    """A list under review, or what became of it. `digest` is that of what its valid lines would
    send."""

    class Status(models.TextChoices):
        REVIEW = "review"
        RELEASED = "released"
        DISCARDED = "discarded"

    status = models.CharField(max_length=9, choices=Status.choices, default=Status.REVIEW)
    filename = models.CharField(max_length=100)
    digest = models.CharField(max_length=64)
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    released_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    released_at = models.DateTimeField(null=True)
    # A released one with new addresses waits till then.
    usable_from = models.DateTimeField(null=True, blank=True)
    approval = models.OneToOneField(
        "payouts.PayoutApproval", null=True, on_delete=models.PROTECT, related_name="batch"
    )
    form_key = models.CharField(max_length=32)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["store", "mode", "form_key"], name="payout_batch_form_once"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    status="released", released_at__isnull=False, released_by__isnull=False
                )
                | (models.Q(released_at=None, released_by=None) & ~models.Q(status="released")),
                name="payout_batch_released_by_somebody",
            ),
        ]
        indexes = [models.Index(fields=["store", "mode", "-created_at"])]

    def __str__(self) -> str:
        return self.filename


class PayoutBatchLine(models.Model):
    """A line. `number` is its place in the file; `problem` says why it can't be paid."""

    class Status(models.TextChoices):
        INVALID = "invalid"
        VALID = "valid"
        QUEUED = "queued"
        CREATED = "created"
        FAILED = "failed"

    batch = models.ForeignKey(
        PayoutBatch, on_delete=models.CASCADE, related_name="lines", db_index=False
    )
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=7, choices=Status.choices)
    asset = models.ForeignKey(
        "assets.Asset", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    amount_atomic = OptionalAtomicField(null=True)
    destination = models.ForeignKey(
        "payouts.Destination", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    address = models.CharField(max_length=ADDRESS_LENGTH, blank=True, db_collation="C")
    written = models.CharField(max_length=200)  # asset, amount and destination as the file has them
    label = models.CharField(max_length=100, blank=True)
    problem = models.CharField(max_length=200, blank=True)
    lookalike = models.CharField(max_length=ADDRESS_LENGTH, blank=True, db_collation="C")
    twin_number = models.PositiveIntegerField(null=True)  # an earlier line that sends the same
    payout = models.OneToOneField(
        "payouts.Payout", null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "number"], name="payout_batch_line_once"),
            models.CheckConstraint(
                condition=models.Q(status="invalid")
                | (
                    models.Q(asset__isnull=False, amount_atomic__gt=0)
                    & (models.Q(destination__isnull=False) | ~models.Q(address=""))
                ),
                name="payout_batch_line_can_be_paid",
            ),
            models.CheckConstraint(
                condition=models.Q(status="created", payout__isnull=False)
                | (models.Q(payout=None) & ~models.Q(status="created")),
                name="payout_batch_line_created_has_payout",
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=["invalid", "failed"]) & ~models.Q(problem="")
                | models.Q(status__in=["valid", "queued", "created"], problem=""),
                name="payout_batch_line_problem_is_told",
            ),
        ]
        indexes = [
            models.Index(
                fields=["number", "id"],
                condition=models.Q(status="queued"),
                name="payout_batch_line_queued",
            )
        ]

    def __str__(self) -> str:
        return f"line {self.number}"
