"""Destinations of a store, payouts with their history, the schedules that make them, and staff's
caps.

A payout's status changes only through services.moves; `funds` says where its coins are in the
books.
"""

from django.db import models
from django.utils.translation import gettext_noop

from apps.core.models import ADDRESS_LENGTH, AtomicField, OptionalAtomicField, Owned
from apps.payouts.models.approvals import ApprovalRule, PayoutApproval
from apps.payouts.models.batches import PayoutBatch, PayoutBatchLine
from apps.payouts.models.settings import PayoutSettings, PaysNetworkFee
from apps.payouts.models.wallet_networks import WalletNetwork
from apps.stores.models.person_fields import optional_person

__all__ = [
    "ApprovalRule",
    "Destination",
    "OfframpCallback",
    "Payout",
    "PayoutApproval",
    "PayoutBatch",
    "PayoutBatchLine",
    "PayoutSettings",
    "PayoutTransition",
    "PaysNetworkFee",
    "Schedule",
    "ScheduleRun",
    "StorePayoutCap",
    "WalletNetwork",
]


_NETWORKS = [(network.value, network.full_name) for network in WalletNetwork]


class Destination(Owned):
    """A saved wallet or bank account. Its account number is sealed; `account_hint` is what people
    may see of it."""

    class Kind(models.TextChoices):
        WALLET = "wallet"
        BANK = "bank"

    kind = models.CharField(max_length=6, choices=Kind.choices)
    label = models.CharField(max_length=100, blank=True)
    network = models.CharField(max_length=20, choices=_NETWORKS, blank=True)
    address = models.CharField(max_length=ADDRESS_LENGTH, blank=True, db_collation="C")
    currency = models.CharField(max_length=3, blank=True)
    holder = models.CharField(max_length=200, blank=True)
    account_sealed = models.TextField(blank=True)
    account_hint = models.CharField(max_length=8, blank=True)
    verified_at = models.DateTimeField(null=True, blank=True)
    rejected_at = models.DateTimeField(null=True, blank=True)  # by staff, who said why
    rejection_reason = models.CharField(max_length=500, blank=True, default="", db_default="")
    # New till then, for stores that ask for review of new ones.
    cools_until = models.DateTimeField()
    # Nothing is sent to it before; null: at once.
    usable_from = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    SECRETS = ("account_sealed",)

    class Meta:
        base_manager_name = "objects"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    kind="wallet", address__regex=r"^[0-9A-Za-z]{14,128}$", currency=""
                )
                | (models.Q(kind="bank", address="") & ~models.Q(currency="")),
                name="destination_is_wallet_or_bank",
            ),
            models.UniqueConstraint(
                fields=["store", "mode", "network", "address"],
                condition=models.Q(kind="wallet", removed_at=None),
                name="destination_wallet_once",
            ),
        ]
        indexes = [
            models.Index(fields=["store", "mode", "created_at"]),
            models.Index(
                fields=["store", "mode", "label"],
                condition=~models.Q(label=""),
                name="destination_by_label",
            ),
            models.Index(
                fields=["store", "mode", "address"],
                condition=~models.Q(address=""),
                name="destination_by_address",
            ),
            models.Index(
                fields=["store", "mode", "-created_at"],
                condition=models.Q(kind="bank", verified_at=None, removed_at=None),
                name="destination_unverified",
            ),
            # What staff search for and decide, over all stores.
            models.Index(
                fields=["address"], condition=~models.Q(address=""), name="destination_of_all"
            ),
            models.Index(
                fields=["created_at"],
                condition=models.Q(kind="bank", verified_at=None, removed_at=None),
                name="destination_to_verify",
            ),
        ]

    @property
    def status(self) -> str:
        """Of a bank account: what its review has come to; a wallet needs none."""
        if self.removed_at is not None:
            return "removed"
        if self.is_wallet or self.verified_at is not None:
            return "verified"
        return "rejected" if self.rejected_at is not None else "pending"

    @property
    def is_wallet(self) -> bool:
        return self.kind == self.Kind.WALLET

    @property
    def account_name(self) -> str:
        """A bank account, by what people know of it."""
        return f"{self.currency} account ending in {self.account_hint}"

    def __str__(self) -> str:
        return self.address or f"{self.holder}, {self.account_name}"

    @property
    def account_place(self) -> str:
        return f"payouts_destination:{self.pk}:account_sealed"


class Schedule(Owned):
    """Pays an asset's whole balance out again and again. `anchor_day` is the day of month that
    monthly steps keep."""

    class Frequency(models.TextChoices):
        DAILY = "daily"
        WEEKLY = "weekly"
        MONTHLY = "monthly"

    # No other index begins with it.
    store = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    frequency = models.CharField(max_length=7, choices=Frequency.choices)
    destination = models.ForeignKey(
        Destination, null=True, on_delete=models.PROTECT, related_name="+"
    )
    # Of schedules made with a raw address.
    destination_address = models.CharField(max_length=ADDRESS_LENGTH, null=True, db_collation="C")
    swap_target_asset = models.ForeignKey(
        "assets.Asset", null=True, on_delete=models.PROTECT, related_name="+"
    )
    minimum_fiat_cents = models.BigIntegerField(null=True)
    minimum_fiat_currency = models.CharField(max_length=3, default="USD")
    next_payout_at = models.DateTimeField()
    anchor_day = models.PositiveSmallIntegerField()
    last_payout_at = models.DateTimeField(null=True)
    last_skip_reason = models.CharField(max_length=21, null=True)
    last_failure = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    # It doesn't run before; null: at once.
    usable_from = models.DateTimeField(null=True, blank=True)
    # Who named its destination, or made the credential that did; null: nobody knows.
    maker = optional_person()
    deleted_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["store", "mode", "asset"],
                condition=models.Q(deleted_at=None),
                name="schedule_once_per_asset",
            ),
            models.CheckConstraint(
                condition=models.Q(destination__isnull=False, destination_address__isnull=True)
                | models.Q(destination__isnull=True, destination_address__isnull=False),
                name="schedule_has_one_destination",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_payout_at"],
                condition=models.Q(is_active=True, deleted_at=None),
                name="schedule_due",
            )
        ]

    @property
    def destination_type(self) -> str:
        if self.destination is None:
            return "legacy"
        return "crypto" if self.destination.is_wallet else "fiat"


class ScheduleRun(models.Model):
    """An evaluation of a schedule. A due time has one row for ever, so it is never paid twice; a
    run by hand has no due time."""

    schedule = models.ForeignKey(Schedule, on_delete=models.PROTECT, related_name="runs")
    due_at = models.DateTimeField(null=True)
    at = models.DateTimeField()
    skip_reason = models.CharField(max_length=21, null=True)
    failure = models.CharField(max_length=200, blank=True)
    amount_atomic = OptionalAtomicField(null=True)
    is_swapping = models.BooleanField(default=False)
    swap = models.ForeignKey("swaps.Swap", null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["schedule", "due_at"],
                condition=models.Q(due_at__isnull=False),
                name="schedule_due_time_once",
            )
        ]
        indexes = [
            models.Index(
                fields=["id"], condition=models.Q(is_swapping=True), name="schedule_run_swapping"
            )
        ]


class Payout(Owned):
    """Money on its way out of a store. `is_simulated` is null until it is decided; gas is in the
    chain's own coin."""

    class Status(models.TextChoices):
        PENDING = "pending"
        SUBMITTED = "submitted"
        CONFIRMED = "confirmed"
        FAILED = "failed"
        RETRYING = "retrying"
        REQUIRES_REVIEW = "requires_review", gettext_noop("Requires review")

    class Rail(models.TextChoices):
        CRYPTO = "crypto"
        FIAT_MANUAL = "fiat_manual", "Bank, manual"
        FIAT_AUTOSWAP = "fiat_autoswap", "Bank, auto-swap"

    class Funds(models.TextChoices):
        RESERVED = "reserved"
        CLEARING = "clearing"  # handed to the off-ramp
        PAID = "paid"
        RETURNED = "returned"

    class FailureCode(models.TextChoices):
        INSUFFICIENT_FUNDS = "insufficient_funds", gettext_noop("Insufficient funds")
        DESTINATION_INVALID = "destination_invalid", gettext_noop("Invalid destination")
        TEMPORARILY_UNAVAILABLE = "temporarily_unavailable", gettext_noop("Temporarily unavailable")
        UNKNOWN = "unknown"

    NEEDS_APPROVER = gettext_noop(
        "More than one person moves alone"
    )  # the reason of a review by the store

    status = models.CharField(max_length=15, choices=Status.choices, default=Status.PENDING)
    funds = models.CharField(max_length=8, choices=Funds.choices, default=Funds.RESERVED)
    rail = models.CharField(max_length=13, choices=Rail.choices)
    schedule = models.ForeignKey(
        Schedule, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    amount_atomic = AtomicField()
    # What the store bears of the network fee, out of the amount.
    withheld_atomic = AtomicField(default=0)
    destination = models.ForeignKey(
        Destination, null=True, on_delete=models.PROTECT, related_name="+"
    )
    destination_address = models.CharField(max_length=ADDRESS_LENGTH, null=True, db_collation="C")
    is_simulated = models.BooleanField(null=True)
    bears_network_fee = models.BooleanField(default=False)
    network_fee_atomic = OptionalAtomicField(null=True)
    tx_hash = models.CharField(max_length=66, null=True)
    provider = models.CharField(max_length=20, blank=True)
    provider_tx_id = models.CharField(max_length=100, null=True)
    fiat_currency = models.CharField(max_length=3, null=True)
    paid_fiat_amount_cents = models.BigIntegerField(null=True)
    paid_fee_cents = models.BigIntegerField(null=True)
    paid_fx_rate = models.DecimalField(max_digits=38, decimal_places=18, null=True)
    paid_external_reference = models.CharField(max_length=100, null=True)
    paid_at = models.DateTimeField(null=True)
    failure_code = models.CharField(max_length=23, choices=FailureCode.choices, null=True)
    failure_reason = models.CharField(max_length=200, null=True)
    review_reason = models.CharField(max_length=200, blank=True)
    # A code of states.WAITS.
    pending_reason = models.CharField(max_length=20, blank=True, default="", db_default="")
    # Gas of reverted attempts, in the chain's coin: what the store was charged, and what it had not
    # enough for.
    failed_gas_atomic = AtomicField(default=0, db_default=0)
    failed_gas_due_atomic = AtomicField(default=0, db_default=0)
    attempts = models.PositiveSmallIntegerField(default=0)  # that ended in a definite failure
    retries = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True)
    is_outcome_unknown = models.BooleanField(default=False)
    submitted_at = models.DateTimeField(null=True)
    # By the machine's clock, whatever the store's says.
    submitted_real_at = models.DateTimeField(null=True)
    # When the off-ramp was last asked, by the machine's clock; null: ask at once.
    asked_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    agent_credential_id = models.UUIDField(null=True)
    # Who asked for it, or made the credential that did; null: nobody knows.
    maker = optional_person()
    approval = models.ForeignKey(
        PayoutApproval, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    # In the currency of the store's rule of approval, where it has one.
    worth_cents = models.BigIntegerField(null=True)
    idempotency_caller = models.CharField(max_length=50, blank=True, default="")
    idempotency_key = models.CharField(max_length=255)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(amount_atomic__gt=0), name="payout_is_positive"
            ),
            models.CheckConstraint(
                condition=~models.Q(status="confirmed") | models.Q(funds__in=["paid", "clearing"]),
                name="payout_confirmed_is_paid",
            ),
            models.CheckConstraint(
                condition=~models.Q(funds="returned") | models.Q(status="failed"),
                name="payout_returned_has_failed",
            ),
            models.UniqueConstraint(
                fields=["store", "mode", "idempotency_caller", "idempotency_key"],
                name="payout_idempotency_key_once",
            ),
        ]
        indexes = [
            # The list's totals are read from it alone.
            models.Index(
                fields=["store", "mode", "-created_at", "-id"],
                include=["asset", "amount_atomic", "funds"],
                name="payout_newest",
            ),
            models.Index(fields=["store", "mode", "asset", "created_at"], name="payout_by_day"),
            models.Index(
                fields=["store", "mode", "tx_hash"],
                condition=models.Q(tx_hash__isnull=False),
                name="payout_by_hash",
            ),
            models.Index(
                fields=["store", "mode", "destination_address"],
                condition=models.Q(destination_address__isnull=False),
                name="payout_by_address",
            ),
            models.Index(
                fields=["store", "mode", "status", "-created_at", "-id"],
                name="payout_of_status",
            ),
            models.Index(
                fields=["retry_at"],
                condition=models.Q(status="failed", retry_at__isnull=False),
                name="payout_to_retry",
            ),
            models.Index(
                fields=["schedule", "-created_at"],
                condition=models.Q(schedule__isnull=False),
                name="payout_of_schedule",
            ),
            models.Index(
                fields=["approval"],
                condition=models.Q(approval__isnull=False),
                name="payout_of_approval",
            ),
            models.Index(
                fields=["agent_credential_id", "-created_at", "-id"],
                condition=models.Q(agent_credential_id__isnull=False),
                name="payout_of_agent",
            ),
            models.Index(
                fields=["created_at"],
                condition=models.Q(funds__in=["reserved", "clearing"]),
                name="payout_open",
            ),
            models.Index(
                fields=["created_at"],
                condition=models.Q(status="requires_review"),
                name="payout_reviews",
            ),
            models.Index(
                fields=["destination_address"],
                condition=models.Q(destination_address__isnull=False),
                name="payout_to_address",
            ),
            models.Index(
                fields=["mode", "created_at"],
                condition=models.Q(status__in=["pending", "retrying"]),
                name="payout_waiting",
            ),
            models.Index(
                fields=["store", "mode", "destination_address"],
                condition=models.Q(failed_gas_atomic__gt=0) | models.Q(failed_gas_due_atomic__gt=0),
                name="payout_failed_in_vain",
            ),
        ]

    @property
    def is_crypto(self) -> bool:
        return self.rail == self.Rail.CRYPTO

    @property
    def waits_for_approver(self) -> bool:
        """True if a second person of the store has to decide, who is none of the staff."""
        return (
            self.status == self.Status.REQUIRES_REVIEW and self.review_reason == self.NEEDS_APPROVER
        )

    @property
    def shown_status(self) -> str:
        """Its status as people read it, by the names of badges."""
        return "awaiting_approval" if self.waits_for_approver else self.status

    @property
    def sent_atomic(self) -> int:
        """Amount for the recipient."""
        return self.amount_atomic - self.withheld_atomic


class PayoutTransition(models.Model):
    """A line of a payout's history; every change of status has one."""

    payout = models.ForeignKey(Payout, on_delete=models.PROTECT, related_name="transitions")
    from_status = models.CharField(max_length=15, null=True)
    to_status = models.CharField(max_length=15)
    note = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]


class StorePayoutCap(models.Model):
    """The most of an asset that a store may pay out at once and per UTC day, set by staff; null is
    no limit."""

    store = models.ForeignKey(
        "stores.Store", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    per_tx_atomic = OptionalAtomicField(null=True, blank=True)
    daily_atomic = OptionalAtomicField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["store", "asset"], name="payout_cap_once_per_asset")
        ]

    def __str__(self) -> str:
        return f"{self.store} {self.asset_id}"


class OfframpCallback(models.Model):
    """A message of an off-ramp that has been taken; one that comes again does nothing."""

    provider = models.CharField(max_length=20)
    event_id = models.CharField(max_length=100)
    received_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "event_id"], name="offramp_callback_once")
        ]
