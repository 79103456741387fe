"""Products, prices, customers and subscriptions. Cents are hundredths of the major unit in every
currency."""

from zoneinfo import ZoneInfo

from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_noop

from apps.billing.models.tax import SupplyType, rate_column
from apps.core.ids import IdField
from apps.core.models import RowWithFormKey, once_per_form
from apps.core.money import Fiat
from apps.core.text.days import zone_named
from apps.core.text.regions import in_english
from apps.stores.models import Currency


class Product(RowWithFormKey):
    """The thing sold."""

    name = models.CharField(max_length=255)
    description = models.TextField(null=True)
    active = models.BooleanField(default=True)
    tax_rate = rate_column()
    supply_type = models.CharField(max_length=7, choices=SupplyType.choices, null=True)
    metadata = models.JSONField(default=dict)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [once_per_form("product")]
        indexes = [
            models.Index(fields=["store", "mode", "-created_at"], name="product_newest"),
            models.Index(fields=["store", "mode", "name"], name="product_by_name"),
        ]


class DiscountType(models.TextChoices):
    AMOUNT = "amount"
    PERCENT = "percent"


class Interval(models.TextChoices):
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    YEARLY = "yearly"


class Price(RowWithFormKey):
    """A product's price per interval. Only `active` ever changes."""

    # No other index begins with it.
    store = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="+", db_index=False)
    unit_amount_cents = models.BigIntegerField()
    currency = models.CharField(max_length=3, choices=Currency.choices)
    interval = models.CharField(max_length=7, choices=Interval.choices)
    interval_count = models.PositiveSmallIntegerField(default=1)
    active = models.BooleanField(default=True)
    tax_rate = rate_column()
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
        """The part that all prices of one subscription share."""
        return self.interval, self.interval_count, self.currency


class Customer(RowWithFormKey):
    """A billed customer. A deleted one keeps its row, its invoices and its email address."""

    email = models.EmailField(max_length=254)
    # In small letters, kept by a trigger: an index finds it beneath the policies.
    email_key = models.CharField(max_length=254, null=True, editable=False, db_collation="C")
    name = models.CharField(max_length=255, null=True)
    phone = models.CharField(max_length=50, null=True)
    address = models.JSONField(null=True)
    # ISO 3166-1; the country of the free-form address counts where it is null.
    country = models.CharField(max_length=2, null=True)
    vat_number = models.CharField(max_length=20, null=True)
    tax_rate = rate_column()
    # What it wants to read on every invoice, in Germany its "Leitweg-ID".
    buyer_reference = models.CharField(max_length=100, null=True)
    # Where it receives e-invoices: a number after the code of its list (EAS), "0208:0123456789".
    electronic_address = models.CharField(max_length=100, null=True)
    # The XML that its emails have beside the PDF; null: the PDF alone.
    e_invoice_format = models.CharField(max_length=20, null=True)
    # When a registry is next asked about its VAT number; null: it needn't be.
    vat_check_at = models.DateTimeField(null=True)
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
            models.Index(
                fields=["vat_check_at"],
                condition=models.Q(vat_check_at__isnull=False),
                name="customer_vat_check_due",
            ),
        ]


class Subscription(RowWithFormKey):
    """A customer on one or more prices. `price` and `quantity` are the anchor; add-ons are items.

    Periods follow one another; months are counted on `anchor_day`. `next_step_at` is never later
    than the next thing that time does to it, and null when time does nothing.
    """

    class Status(models.TextChoices):
        TRIALING = "trialing"
        ACTIVE = "active"
        PAST_DUE = "past_due", gettext_noop("Past due")
        PAUSED = "paused"
        CANCELED = "canceled"

    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="+")
    price = models.ForeignKey(Price, on_delete=models.PROTECT, related_name="+")
    quantity = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=8, choices=Status.choices)
    started_at = models.DateTimeField()
    anchor_day = models.PositiveSmallIntegerField()
    # In which its days are counted: the store's when it began; empty: UTC.
    time_zone = models.CharField(max_length=64, default="", db_default="", blank=True)
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
    # Of each cycle's invoice.
    tax_rate = rate_column()
    discount_type = models.CharField(max_length=7, choices=DiscountType.choices, null=True)
    discount_value = models.BigIntegerField(null=True)
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

    @property
    def zone(self) -> ZoneInfo:
        return zone_named(self.time_zone)


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
    """A line of a subscription's history, in order of id."""

    subscription = models.ForeignKey(Subscription, on_delete=models.PROTECT, related_name="changes")
    change = models.CharField(max_length=40)
    from_status = models.CharField(max_length=8, null=True)
    to_status = models.CharField(max_length=8)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
