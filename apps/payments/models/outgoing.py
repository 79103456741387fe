"""Outgoing coins of payments: refunds, returned transfers and withdrawals."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_noop

from apps.core.ids import IdField
from apps.core.models import ADDRESS_LENGTH, AtomicField, Owned
from apps.payments.models.payments import Payment
from apps.stores.models.person_fields import optional_person


class Refund(Owned):
    """Coins on their way back. Each asset, paying address and source of a request is a record of
    its own, distinguished by `part`."""

    class Status(models.TextChoices):
        PENDING = "pending"
        SUBMITTED = "submitted"
        CONFIRMED = "confirmed"
        FAILED = "failed"

    class Reason(models.TextChoices):
        MERCHANT_REQUESTED = "merchant_requested", gettext_noop("Requested by the merchant")
        FAILED_UNDERPAID = "failed_underpaid", gettext_noop("Failed, underpaid")
        FAILED_OVERPAID = "failed_overpaid", gettext_noop("Failed, overpaid")

    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="+", db_index=False)
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.PENDING)
    reason = models.CharField(max_length=18, choices=Reason.choices)
    destination_address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    amount_atomic = AtomicField()
    is_from_held = models.BooleanField()
    is_simulated = models.BooleanField()
    tx_hash = models.CharField(max_length=66, null=True)
    attempts = models.PositiveIntegerField(default=0)
    failure_reason = models.CharField(max_length=200, null=True)
    submitted_at = models.DateTimeField(null=True)
    # By the machine's clock, whatever the store's says.
    submitted_real_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    idempotency_caller = models.CharField(max_length=50, blank=True, default="")
    idempotency_key = models.CharField(max_length=255, null=True)
    part = models.PositiveSmallIntegerField(default=0)
    # Of whose sender nobody knew a key: the share that it sends (decision 531).
    held = models.ForeignKey(
        "HeldRefund", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gt=0), name="refund_is_positive"
            ),
            models.UniqueConstraint(
                fields=["held"],
                condition=models.Q(held__isnull=False) & ~models.Q(status="failed"),
                name="refund_of_held_once",
            ),
            models.UniqueConstraint(
                fields=["store", "mode", "idempotency_caller", "idempotency_key", "asset", "part"],
                condition=models.Q(idempotency_key__isnull=False),
                name="refund_idempotency_key_once",
            ),
            models.UniqueConstraint(
                fields=["payment", "asset", "part", "reason"],
                condition=models.Q(reason__startswith="failed_"),
                name="refund_automatic_once",
            ),
        ]
        indexes = [
            models.Index(fields=["payment", "-created_at"]),
            models.Index(fields=["store", "mode", "-created_at"], name="refund_of_store"),
            models.Index(
                fields=["store", "mode", "tx_hash"],
                condition=models.Q(tx_hash__isnull=False),
                name="refund_by_hash",
            ),
            models.Index(
                fields=["store", "mode", "status", "-created_at", "-id"],
                name="refund_of_status",
            ),
            # Searched for: by staff in all stores, by merchants in theirs.
            models.Index(fields=["destination_address"], name="refund_by_address"),
            # Few: what of late deposits has gone back (apps.payments.attention).
            models.Index(
                fields=["payment"],
                condition=models.Q(is_from_held=True),
                name="refund_from_held",
            ),
            models.Index(
                fields=["submitted_real_at"],
                condition=models.Q(status__in=["pending", "submitted"]),
                name="refund_open",
            ),
        ]


class TransferReturn(Owned):
    """An unmatched transfer on its way back to who sent it: held for the payment of its address,
    then reserved, then gone.

    No refund of the payment: the payment's status and what of it can be refunded stay as they are.
    """

    # No other index begins with it.
    store = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    transfer = models.ForeignKey(
        "chain.UnmatchedTransfer", on_delete=models.PROTECT, related_name="+"
    )
    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="+")
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    destination_address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    amount_atomic = AtomicField()
    is_simulated = models.BooleanField()
    status = models.CharField(
        max_length=9, choices=Refund.Status.choices, default=Refund.Status.PENDING
    )
    tx_hash = models.CharField(max_length=66, null=True)
    failure_reason = models.CharField(max_length=200, null=True)
    submitted_at = models.DateTimeField(null=True)
    # By the machine's clock, whatever the store's says.
    submitted_real_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    # To an address that the merchant entered, not to the sender.
    is_elsewhere = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gt=0), name="transfer_return_is_positive"
            ),
            models.UniqueConstraint(
                fields=["transfer"],
                condition=~models.Q(status="failed"),
                name="transfer_return_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=models.Q(status__in=["pending", "submitted"]),
                name="transfer_return_open",
            )
        ]


class Withdrawal(models.Model):
    """Earnings that the operator takes out: asked for by one member of staff, let go by another.
    The reference makes it happen once."""

    class Status(models.TextChoices):
        REQUESTED = "requested"
        APPROVED = "approved"  # set aside in the books, and on its way
        CONFIRMED = "confirmed"
        REJECTED = "rejected"
        FAILED = "failed"  # it couldn't be sent, and is earnings again

    id = IdField()
    reference = models.CharField(max_length=100, unique=True)
    mode = models.CharField(max_length=4)
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    amount_atomic = AtomicField()
    to_address = models.CharField(max_length=ADDRESS_LENGTH, db_collation="C")
    reason = models.CharField(max_length=200)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.REQUESTED)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    requested_at = models.DateTimeField()
    decided_by = optional_person()
    decided_at = models.DateTimeField(null=True, blank=True)
    # Of the sender, by the worker.
    is_requested = models.BooleanField(default=False, db_default=False)
    tx_hash = models.CharField(max_length=66, blank=True)
    failure_reason = models.CharField(max_length=200, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gt=0), name="withdrawal_is_positive"
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="withdrawal_has_reason"),
            # The person who asked may take it back, and never let it go.
            models.CheckConstraint(
                condition=models.Q(status__in=["requested", "rejected"])
                | (
                    models.Q(decided_by__isnull=False, decided_at__isnull=False)
                    & ~models.Q(decided_by=models.F("requested_by"))
                ),
                name="withdrawal_takes_two",
            ),
        ]

    def __str__(self) -> str:
        return self.reference
