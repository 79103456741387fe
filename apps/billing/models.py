"""What is sold, to whom, and what is owed: products, prices, customers, subscriptions and invoices.

The database numbers invoices without gaps, locks what was finalized, and bills a cycle once (unique
period_key). Cents are hundredths of the major unit in every currency.
"""

from datetime import datetime

from django.db import models
from django.db.models.functions import Lower

from apps.billing.settings_models import InvoiceSettings as InvoiceSettings  # a model of this app
from apps.core.ids import IdField
from apps.core.models import Formed, once_per_form
from apps.core.money import Fiat
from apps.core.regions import in_english
from apps.stores.models import Currency


class Product(Formed):
    """The thing sold."""

    name = models.CharField(max_length=255)
    description = models.TextField(null=True)
    active = models.BooleanField(default=True)
    metadata = models.JSONField(default=dict)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [once_per_form("product")]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"], name="product_newest"),
            models.Index(fields=["store", "mode", "name"], name="product_by_name"),
        ]


class Interval(models.TextChoices):
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    YEARLY = "yearly"


class Price(Formed):
    """What a product costs per interval. Only `active` ever changes."""

    # No other index begins with it.
    store = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="+", db_index=False)
    unit_amount_cents = models.BigIntegerField()
    currency = models.CharField(max_length=3, choices=Currency.choices)
    interval = models.CharField(max_length=7, choices=Interval.choices)
    interval_count = models.PositiveSmallIntegerField(default=1)
    active = models.BooleanField(default=True)
    metadata = models.JSONField(default=dict)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(unit_amount_cents__gte=0), name="price_not_negative"
            ),
            models.CheckConstraint(
                condition=models.Q(interval_count__gte=1, interval_count__lte=365),
                name="price_interval_count",
            ),
            once_per_form("price"),
        ]
        indexes = [models.Index(fields=["product", "-created_at"], name="price_newest")]

    def __str__(self) -> str:
        times = f" × {self.interval_count}" if self.interval_count > 1 else ""
        amount = in_english(Fiat(self.unit_amount_cents, self.currency))
        return f"{amount} {self.interval}{times}"

    @property
    def cycle(self) -> tuple[str, int, str]:
        """What all prices of one subscription share."""
        return self.interval, self.interval_count, self.currency


class Customer(Formed):
    """Who is billed. A deleted one keeps its row, its invoices and its email address."""

    email = models.EmailField(max_length=254)
    # In small letters, kept by a trigger: an index finds it beneath the policies.
    email_key = models.CharField(max_length=254, null=True, editable=False, db_collation="C")
    name = models.CharField(max_length=255, null=True)
    phone = models.CharField(max_length=50, null=True)
    address = models.JSONField(null=True)
    # Which the customer chose on a page.
    language = models.CharField(max_length=10, default="", db_default="", blank=True)
    metadata = models.JSONField(default=dict)
    deleted_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "store", "mode", Lower("email"), name="customer_email_once_per_store"
            ),
            once_per_form("customer"),
        ]
        indexes = [
            models.Index(
                fields=["store", "mode", "-created_at"],
                condition=models.Q(deleted_at=None),
                name="customer_newest",
            ),
            models.Index(fields=["store", "mode", "email"], name="customer_by_email"),
            models.Index(fields=["store", "mode", "email_key"], name="customer_by_email_key"),
            models.Index(fields=["email"], name="customer_of_all"),
            models.Index(
                fields=["name"],
                condition=models.Q(name__isnull=False),
                name="customer_name_of_all",
            ),
            models.Index(
                fields=["store", "mode", "name", "-created_at"],
                condition=models.Q(name__isnull=False),
                name="customer_of_name",
            ),
        ]


class Subscription(Formed):
    """A customer on one or more prices. `price` and `quantity` are the anchor; add-ons are items.

    Periods follow one another; months are counted on `anchor_day`. `next_step_at` is never later
    than the next thing that time does to it, and null when time does nothing.
    """

    class Status(models.TextChoices):
        TRIALING = "trialing"
        ACTIVE = "active"
        PAST_DUE = "past_due", "Past due"
        PAUSED = "paused"
        CANCELED = "canceled"

    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="+")
    price = models.ForeignKey(Price, on_delete=models.PROTECT, related_name="+")
    quantity = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=8, choices=Status.choices)
    started_at = models.DateTimeField()
    anchor_day = models.PositiveSmallIntegerField()
    current_period_start = models.DateTimeField()
    current_period_end = models.DateTimeField()
    next_billing_at = models.DateTimeField(null=True)
    next_step_at = models.DateTimeField(null=True)
    trial_end = models.DateTimeField(null=True)
    cancel_at_period_end = models.BooleanField(default=False)
    cancel_at = models.DateTimeField(null=True)
    canceled_at = models.DateTimeField(null=True)
    paused_at = models.DateTimeField(null=True)
    failed_cycle_count = models.PositiveIntegerField(default=0)
    grace_cycles = models.PositiveIntegerField(default=1)
    metadata = models.JSONField(default=dict)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(quantity__gte=1), name="subscription_quantity_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(current_period_end__gt=models.F("current_period_start")),
                name="subscription_period_is_forward",
            ),
            models.CheckConstraint(
                condition=models.Q(anchor_day__gte=1, anchor_day__lte=31),
                name="subscription_anchor_is_day",
            ),
            once_per_form("subscription"),
        ]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"], name="subscription_newest"),
            models.Index(
                fields=["store", "mode", "status", "-created_at", "-id"],
                name="subscription_of_status",
            ),
            models.Index(fields=["-created_at", "-id"], name="subscription_newest_of_all"),
            models.Index(
                fields=["next_step_at"],
                condition=models.Q(next_step_at__isnull=False),
                name="subscription_due",
            ),
            models.Index(
                fields=["store", "next_step_at"],
                condition=models.Q(next_step_at__isnull=False, mode="test"),
                name="subscription_due_in_test",
            ),
            models.Index(
                fields=["store", "mode", "-updated_at"],
                condition=models.Q(status="past_due"),
                name="subscription_past_due",
            ),
        ]


class SubscriptionItem(models.Model):
    """An add-on of a subscription, billed in the same cycle as its anchor."""

    id = IdField()
    subscription = models.ForeignKey(Subscription, on_delete=models.PROTECT, related_name="add_ons")
    price = models.ForeignKey(Price, on_delete=models.PROTECT, related_name="+")
    quantity = models.PositiveIntegerField()
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(quantity__gte=1), name="subscription_item_quantity_positive"
            )
        ]


class SubscriptionChange(models.Model):
    """One line of a subscription's history, in order of id."""

    subscription = models.ForeignKey(Subscription, on_delete=models.PROTECT, related_name="changes")
    change = models.CharField(max_length=40)
    from_status = models.CharField(max_length=8, null=True)
    to_status = models.CharField(max_length=8)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]


class Invoice(Formed):
    """What a customer owes. A draft can be changed; afterwards its totals, lines and number stand
    for good."""

    class Status(models.TextChoices):
        DRAFT = "draft"
        OPEN = "open"
        PAID = "paid"
        VOID = "void"
        UNCOLLECTIBLE = "uncollectible"

    class DiscountType(models.TextChoices):
        AMOUNT = "amount"
        PERCENT = "percent"

    customer = models.ForeignKey(
        Customer, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    subscription = models.ForeignKey(
        Subscription, null=True, on_delete=models.PROTECT, related_name="+"
    )
    period_key = models.CharField(max_length=80, null=True, unique=True)
    status = models.CharField(max_length=13, choices=Status.choices, default=Status.DRAFT)
    number = models.PositiveIntegerField(null=True)
    custom_number = models.CharField(max_length=100, null=True)
    public_token = models.CharField(max_length=64, null=True, unique=True)
    po_number = models.CharField(max_length=100, null=True)
    currency = models.CharField(max_length=3, choices=Currency.choices)
    description = models.TextField(null=True)
    notes = models.TextField(null=True)
    footer = models.TextField(null=True)
    metadata = models.JSONField(default=dict)
    discount_type = models.CharField(max_length=7, choices=DiscountType.choices, null=True)
    discount_value = models.BigIntegerField(null=True)
    tax_rate_bps = models.PositiveIntegerField(null=True)
    subtotal_cents = models.BigIntegerField(default=0)
    discount_cents = models.BigIntegerField(default=0)
    tax_cents = models.BigIntegerField(default=0)
    total_cents = models.BigIntegerField(default=0)
    amount_paid_cents = models.BigIntegerField(default=0)
    refunded_cents = models.BigIntegerField(default=0)
    needs_attention = models.CharField(max_length=30, null=True)
    due_at = models.DateTimeField(null=True)
    due_judged_at = models.DateTimeField(null=True)  # when its cycle was found unpaid, or let off
    due_waits_until = models.DateTimeField(null=True)  # when it is judged again: it is being paid
    next_letter_at = models.DateTimeField(null=True)  # when its customer is next reminded of it
    finalized_at = models.DateTimeField(null=True)
    paid_at = models.DateTimeField(null=True)
    voided_at = models.DateTimeField(null=True)
    uncollectible_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    total_cents=models.F("subtotal_cents")
                    - models.F("discount_cents")
                    + models.F("tax_cents")
                ),
                name="invoice_totals_add_up",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    subtotal_cents__gte=0,
                    discount_cents__gte=0,
                    tax_cents__gte=0,
                    total_cents__gte=0,
                ),
                name="invoice_totals_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    number__isnull=True,
                    public_token__isnull=True,
                    finalized_at__isnull=True,
                    status__in=["draft", "void"],
                )
                | models.Q(
                    number__isnull=False,
                    public_token__isnull=False,
                    finalized_at__isnull=False,
                    status__in=["open", "paid", "void", "uncollectible"],
                ),
                name="invoice_numbered_when_finalized",
            ),
            models.UniqueConstraint(fields=["store", "mode", "number"], name="invoice_number_once"),
            models.UniqueConstraint(
                fields=["store", "mode", "custom_number"], name="invoice_custom_number_once"
            ),
            once_per_form("invoice"),
        ]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"], name="invoice_newest"),
            models.Index(
                fields=["store", "mode", "status", "-created_at", "-id"],
                name="invoice_of_status",
            ),
            models.Index(fields=["-created_at", "-id"], name="invoice_newest_of_all"),
            # What support is told, of a store that nobody knows.
            models.Index(
                fields=["number", "-created_at"],
                condition=models.Q(number__isnull=False),
                name="invoice_number_of_all",
            ),
            models.Index(
                fields=["custom_number", "-created_at"],
                condition=models.Q(custom_number__isnull=False),
                name="invoice_custom_number_of_all",
            ),
            models.Index(fields=["customer", "-created_at"], name="invoice_of_customer"),
            models.Index(
                fields=["subscription", "due_at"],
                condition=models.Q(status="open"),
                name="invoice_open_cycle",
            ),
            models.Index(
                fields=["next_letter_at"],
                condition=models.Q(next_letter_at__isnull=False),
                name="invoice_letter_due",
            ),
            models.Index(
                fields=["store", "next_letter_at"],
                condition=models.Q(next_letter_at__isnull=False, mode="test"),
                name="invoice_letter_due_in_test",
            ),
            # What is owed is added up from it alone.
            models.Index(
                fields=["store", "mode", "due_at"],
                include=["currency", "total_cents", "amount_paid_cents"],
                condition=models.Q(status="open"),
                name="invoice_left",
            ),
            models.Index(
                fields=["store", "mode", "-updated_at"],
                condition=models.Q(needs_attention__isnull=False),
                name="invoice_flagged",
            ),
        ]

    @property
    def left_cents(self) -> int:
        """The rest that isn't paid; zero when more has come."""
        return max(0, self.total_cents - self.amount_paid_cents)

    @property
    def excess_cents(self) -> int:
        """The part beyond the total that wasn't given back."""
        return max(0, self.amount_paid_cents - self.refunded_cents - self.total_cents)

    def is_past_due(self, now: datetime) -> bool:
        return self.status == self.Status.OPEN and self.due_at is not None and self.due_at < now


class InvoiceLine(models.Model):
    """A line of an invoice, in order of `position`."""

    id = IdField()
    invoice = models.ForeignKey(
        Invoice, on_delete=models.CASCADE, related_name="lines", db_index=False
    )
    description = models.CharField(max_length=500)
    quantity = models.PositiveIntegerField()
    unit_amount_cents = models.BigIntegerField()
    amount_cents = models.BigIntegerField()
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    amount_cents=models.F("quantity") * models.F("unit_amount_cents")
                ),
                name="invoice_line_adds_up",
            ),
            models.UniqueConstraint(
                fields=["invoice", "position"], name="invoice_line_position_once"
            ),
        ]


class InvoiceCounter(models.Model):
    """The last number that a store gave an invoice in a mode; its row lock puts finalizing in
    order."""

    store = models.ForeignKey(
        "stores.Store", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    mode = models.CharField(max_length=4)
    last_number = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["store", "mode"], name="invoice_counter_once")
        ]


class InvoicePayment(models.Model):
    """A payment intent made for an invoice. `counted_at` is when what it brought was added to the
    invoice; what came after its end and was accepted is added as `late_cents`."""

    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="payments")
    payment = models.OneToOneField("payments.Payment", on_delete=models.PROTECT, related_name="+")
    counted_cents = models.BigIntegerField(default=0)
    counted_at = models.DateTimeField(null=True)
    late_cents = models.BigIntegerField(default=0)
    late_seen_at = models.DateTimeField(null=True)  # the last acceptance that `late_cents` includes
    refunded_cents = models.BigIntegerField(default=0)
    # The last refund that `refunded_cents` includes.
    refund_seen_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(
                fields=["payment"],
                condition=models.Q(counted_at=None),
                name="invoice_payment_waiting",
            )
        ]

    @property
    def brought_cents(self) -> int:
        """What the invoice has of it."""
        return self.counted_cents + self.late_cents


class InvoiceChange(models.Model):
    """One line of an invoice's history, in order of id."""

    invoice = models.ForeignKey(Invoice, on_delete=models.CASCADE, related_name="changes")
    change = models.CharField(max_length=40)
    from_status = models.CharField(max_length=13, null=True)
    to_status = models.CharField(max_length=13)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
