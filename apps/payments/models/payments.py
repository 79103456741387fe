"""Payment intents, the deposit address per accepted asset, and the history of each intent.

Rates, fees and required amounts are locked at creation. The intent's status changes only through
services.change_status.
"""

import uuid
from datetime import datetime, timedelta

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import Substr
from django.utils.translation import gettext_noop

from apps.core.ids import IdField
from apps.core.models import AtomicField, OptionalAtomicField, Owned
from apps.stores.models import Currency

REFERENCE_LENGTH = 16
EXTENDED_MAX = timedelta(days=3)  # from when it was made to its latest deadline
PART_LENGTH = 3  # the letters of a reference that its index takes together
PART_PLACES = range(1, REFERENCE_LENGTH - PART_LENGTH + 2)
_OTHER_AMOUNT = frozenset({"processing_underpaid", "completed_underpaid", "completed_overpaid"})


class Payment(Owned):
    """A payment intent, priced in fiat."""

    class Status(models.TextChoices):
        PENDING = "pending"
        PROCESSING = "processing"
        COMPLETED = "completed"
        EXPIRED = "expired"
        FAILED = "failed"
        REFUNDED = "refunded"

    class Origin(models.TextChoices):
        """The credential or page that created a payment."""

        SECRET_KEY = "secret_key", gettext_noop("Secret key")
        PUBLISHABLE_KEY = "publishable_key", gettext_noop("Publishable key")
        SIGNED_AMOUNT = "signed_amount", gettext_noop("Publishable key, with a signed amount")
        APP = "app", gettext_noop("OAuth app")
        AGENT = "agent", gettext_noop("Agent")
        DASHBOARD = "dashboard", gettext_noop("Dashboard")
        HOSTED_PAGE = "hosted_page", gettext_noop("Payment link or invoice")

    class RefundState(models.TextChoices):
        NONE = "none"
        PARTIAL = "partial"
        FULL = "full"

    reference = models.CharField(max_length=REFERENCE_LENGTH, unique=True, db_collation="C")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    state_reason = models.CharField(max_length=30, null=True)
    settlement_amount_cents = models.BigIntegerField()
    settlement_currency = models.CharField(max_length=3, choices=Currency.choices)
    settlement_status = models.CharField(max_length=10, null=True)
    auto_swap_status = models.CharField(max_length=10, null=True)
    refund_state = models.CharField(
        max_length=7, choices=RefundState.choices, default=RefundState.NONE
    )
    expires_at = models.DateTimeField()
    # As it was made, of one that was given more time; the seals hold it.
    first_expires_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)

    customer_pays_fee = models.BooleanField()
    fee_fraction = models.DecimalField(max_digits=9, decimal_places=8)
    platform = models.ForeignKey(
        "stores.Store", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    platform_fee_fraction = models.DecimalField(max_digits=9, decimal_places=8, null=True)
    agent_credential_id = models.UUIDField(null=True)
    # A new quote has that of the first payment; null: made before it was kept.
    created_with = models.CharField(max_length=15, choices=Origin.choices, null=True)

    success_url = models.CharField(max_length=2048, null=True)
    failed_url = models.CharField(max_length=2048, null=True)
    order_id = models.CharField(max_length=255, null=True)
    title = models.CharField(max_length=150, null=True)
    description = models.CharField(max_length=500, null=True)
    image_url = models.CharField(max_length=2048, null=True)
    metadata = models.JSONField(default=dict)
    line_items = models.JSONField(default=list)

    idempotency_caller = models.CharField(max_length=50, blank=True, default="")
    idempotency_key = models.CharField(max_length=255, null=True)

    # In no index, so that a check writes none: ReconciliationTask finds them.
    reconciliation_status = models.CharField(max_length=20, null=True)
    reconciled_at = models.DateTimeField(null=True)
    reconciliation_due = models.BooleanField(default=False)

    # Set from above: somebody else's coins are on their way (services.hold).
    held_open_until = models.DateTimeField(null=True)
    # The coins that are on their way.
    held_open_assets = ArrayField(models.CharField(max_length=20), default=list, db_default=[])
    is_card_funded = models.BooleanField(default=False)
    card_shortfall_bps = models.PositiveSmallIntegerField(default=0)
    needs_attention = models.CharField(max_length=20, blank=True, default="")

    # What create has just made, so that answering reads nothing.
    fresh_addresses: "list[PaymentAddress] | None" = None

    @property
    def deadline(self) -> datetime:
        """Time at which an open intent is judged: its own deadline, or later while it is held
        open."""
        return max(self.expires_at, self.held_open_until or self.expires_at)

    @property
    def notable_reason(self) -> str | None:
        """Its reason where its status alone hides that another amount came than was due."""
        is_notable = self.state_reason in _OTHER_AMOUNT and not self.needs_attention
        return self.state_reason if is_notable else None

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(settlement_amount_cents__gt=0), name="payment_amount_is_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(first_expires_at=None)
                | models.Q(first_expires_at__lt=models.F("expires_at")),
                name="payment_is_extended_forward",
            ),
            models.CheckConstraint(
                condition=models.Q(first_expires_at=None)
                | models.Q(expires_at__lte=models.F("created_at") + EXTENDED_MAX),
                name="payment_is_extended_within_limits",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    status__in=[
                        "pending",
                        "processing",
                        "completed",
                        "expired",
                        "failed",
                        "refunded",
                    ]
                ),
                name="payment_status_is_known",
            ),
            models.UniqueConstraint(
                fields=["store", "mode", "idempotency_caller", "idempotency_key"],
                condition=models.Q(idempotency_key__isnull=False),
                name="payment_idempotency_key_once",
            ),
        ]
        indexes = [
            # Lists, their counts and the figures of days: an index alone answers them. The platform
            # is what the policy of the database asks.
            models.Index(
                fields=["store", "mode", "-created_at", "-id"],
                include=[
                    "platform",
                    "reference",
                    "status",
                    "settlement_currency",
                    "settlement_amount_cents",
                    "completed_at",
                ],
                name="payment_of_store",
            ),
            models.Index(
                fields=["store", "mode", "status", "-created_at", "-id"],
                include=["platform"],
                name="payment_in_status",
            ),
            models.Index(
                fields=["store", "mode", "order_id", "-created_at", "-id"],
                include=["platform"],
                condition=models.Q(order_id__isnull=False),
                name="payment_for_order",
            ),
            models.Index(
                fields=["platform", "mode", "-created_at"],
                condition=models.Q(platform__isnull=False),
                name="payment_of_platform",
            ),
            models.Index(
                fields=["platform", "mode", "status", "-created_at", "-id"],
                include=["store"],
                condition=models.Q(platform__isnull=False),
                name="payment_of_platform_in_status",
            ),
            models.Index(
                fields=["agent_credential_id", "-created_at", "-id"],
                condition=models.Q(agent_credential_id__isnull=False),
                name="payment_of_agent",
            ),
            # What a platform's merchants sold in a range, which an index alone adds up.
            models.Index(
                fields=["platform", "mode", "completed_at"],
                include=["store", "settlement_currency", "settlement_amount_cents"],
                condition=models.Q(platform__isnull=False, completed_at__isnull=False),
                name="payment_sold_of_platform",
            ),
            models.Index(
                fields=["expires_at"],
                condition=models.Q(status__in=["pending", "processing"]),
                name="payment_open",
            ),
            # What people search for (apps.payments.search).
            models.Index(
                fields=["store", "mode", "title", "-created_at"],
                condition=models.Q(title__isnull=False),
                name="payment_of_title",
            ),
            models.Index(
                fields=["store", "mode", "settlement_amount_cents", "-created_at"],
                include=["platform"],
                name="payment_at_amount",
            ),
            # What a customer tells support, of a store that nobody knows.
            models.Index(
                fields=["order_id", "-created_at"],
                condition=models.Q(order_id__isnull=False),
                name="payment_order_of_all",
            ),
            models.Index(
                fields=["title", "-created_at"],
                condition=models.Q(title__isnull=False),
                name="payment_title_of_all",
            ),
            # What needs a person (apps.payments.attention).
            models.Index(
                fields=["store", "mode", "-created_at"],
                condition=~models.Q(needs_attention=""),
                name="payment_flagged",
            ),
            models.Index(
                fields=["store", "mode", "-completed_at"],
                condition=models.Q(state_reason="completed_overpaid", refund_state="none"),
                name="payment_overpaid",
            ),
            models.Index(
                fields=["store", "mode", "-completed_at"],
                condition=models.Q(state_reason="completed_underpaid", refund_state="none"),
                name="payment_underpaid",
            ),
            models.Index(
                fields=["store", "mode", "-created_at"],
                condition=models.Q(state_reason="processing_underpaid", status="processing"),
                name="payment_short",
            ),
            # What an automatic swap may be due for, and what has one under way.
            models.Index(
                fields=["store", "mode", "completed_at"],
                condition=models.Q(status="completed", auto_swap_status__isnull=True),
                name="payment_unswapped",
            ),
            models.Index(
                fields=["completed_at"],
                condition=models.Q(auto_swap_status="pending"),
                name="payment_swapping",
            ),
            models.Index(
                fields=["store", "expires_at"],
                condition=models.Q(status__in=["pending", "processing"], mode="test"),
                name="payment_open_in_test",
            ),
        ]


class ReconciliationTask(models.Model):
    """A payment that waits for its check, or whose check found it disputed: few of all there are.
    Kept by triggers on payments, and written by nobody else."""

    payment = models.OneToOneField(
        Payment,
        on_delete=models.DO_NOTHING,
        primary_key=True,
        related_name="+",
        db_constraint=False,
    )
    is_due = models.BooleanField()
    is_disputed = models.BooleanField()


class PaymentReference(models.Model):
    """A payment's reference once more, where an index has each three letters of it in a row. A new
    version of a payment would write them all again, and this row has none. Kept by a trigger on
    payments, and written by nobody else."""

    payment = models.OneToOneField(
        Payment,
        on_delete=models.DO_NOTHING,
        primary_key=True,
        related_name="+",
        db_constraint=False,
    )
    reference = models.CharField(max_length=REFERENCE_LENGTH, db_collation="C")

    class Meta:
        indexes = [
            GinIndex(
                models.Func(
                    *(Substr("reference", place, PART_LENGTH) for place in PART_PLACES),
                    template="ARRAY[%(expressions)s]",
                    output_field=ArrayField(models.TextField()),
                ),
                fastupdate=False,
                name="payment_reference_parts",
            )
        ]

    def __str__(self) -> str:
        return self.reference


class PaymentAddress(models.Model):
    """Address for one asset of an intent. `required_atomic` is the total the customer sends, fee
    included."""

    id = IdField()
    payment = models.ForeignKey(
        Payment, on_delete=models.PROTECT, related_name="addresses", db_index=False
    )
    asset = models.ForeignKey("assets.Asset", on_delete=models.PROTECT, related_name="+")
    address = models.OneToOneField("chain.Address", on_delete=models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField()
    # The merchant's wallet that the address is of; null where the service holds what comes.
    own_wallet = models.ForeignKey(
        "chain.OwnWallet",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,  # a trigger asks for more than that it is there
    )
    required_atomic = AtomicField()
    # Comes on top of it with a signature that the service carries out, for the network's fee: it is
    # the store's, and no overpayment.
    surcharge_atomic = AtomicField(default=0, db_default=0)
    base_atomic = OptionalAtomicField(null=True)
    fee_atomic = OptionalAtomicField(null=True)
    exchange_rate = models.DecimalField(max_digits=38, decimal_places=18)
    rate_source = models.CharField(max_length=20)
    required_confirmations = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    derivation_index: int | None = None  # on its way into chain.Address

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["payment", "asset"], name="payment_address_once_per_asset"
            )
        ]


class PaymentEvent(models.Model):
    """A line of an intent's history, in order of `sequence`."""

    # No unique rule: nobody looks a line up by it.
    id = models.UUIDField(default=uuid.uuid4, editable=False)
    sequence = models.BigAutoField(primary_key=True)
    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="events")
    event_type = models.CharField(max_length=40)
    from_status = models.CharField(max_length=10, null=True)
    to_status = models.CharField(max_length=10, null=True)
    payload = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["sequence"]


class LateDeposit(models.Model):
    """A deposit that the rules of its intent don't count: it came after the deadline or the end, or
    in another coin. Held, until it is refunded or the merchant accepts it.

    `is_late` is false of one that came in time. An accepted one with `is_counted` counts toward the
    intent, which was open then. `store` and `mode` are the payment's, so that an index finds what
    waits in a store.
    """

    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="late_deposits")
    deposit = models.OneToOneField("chain.Deposit", on_delete=models.PROTECT, related_name="+")
    store = models.ForeignKey(
        "stores.Store", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    mode = models.CharField(max_length=4, blank=True, default="", db_default="")
    created_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    is_late = models.BooleanField(default=True, db_default=True)
    is_counted = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(is_counted=False) | models.Q(accepted_at__isnull=False),
                name="late_deposit_counts_once_accepted",
            )
        ]
        indexes = [
            models.Index(
                fields=["store", "mode", "-created_at"],
                condition=models.Q(accepted_at=None),
                name="late_deposit_waiting",
            )
        ]


class Renewal(models.Model):
    """A customer came too late and asked for a new quote: the same order, at the rates of then.
    Each expired intent has one at most."""

    earlier = models.OneToOneField(Payment, on_delete=models.PROTECT, related_name="+")
    later = models.OneToOneField(Payment, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(earlier=models.F("later")), name="renewal_is_of_another"
            )
        ]


class PaymentNet(models.Model):
    """Net of a completed payment after fees and refunds, as of its last reconciliation; shown while
    none is due.

    Store, mode and time are the payment's, so that an index alone adds a range up.
    """

    payment = models.OneToOneField(
        Payment, primary_key=True, on_delete=models.PROTECT, related_name="+"
    )
    store = models.ForeignKey(
        "stores.Store", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    mode = models.CharField(max_length=4)
    created_at = models.DateTimeField()
    net_cents = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(
                fields=["store", "mode", "created_at"],
                include=["payment", "net_cents"],
                name="payment_net_of_range",
            )
        ]


class PaymentSeal(models.Model):
    """A hash over what was locked of the payments made up to a line of history, and over the seal
    before (apps.payments.seals)."""

    number = models.BigIntegerField(primary_key=True)
    sealed_at = models.DateTimeField()
    upto = models.BigIntegerField()
    count = models.PositiveIntegerField()
    audit_seal = models.CharField(max_length=84, blank=True)
    previous = models.CharField(max_length=64)
    seal = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.number}:{self.seal}"


class TestPayment(Owned):
    """A payment that the service's own test wallet makes; the rows of a store's last 24 hours are
    its allowance."""

    __test__ = False

    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="+")
    amount_atomic = AtomicField()
    # Of the sender, by the worker.
    is_requested = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            models.Index(fields=["store", "created_at"]),
            models.Index(
                fields=["created_at"],
                condition=models.Q(is_requested=False),
                name="test_payment_unrequested",
            ),
        ]
