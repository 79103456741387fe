"""Invoices: their lines, what they charge of tax, their payments and history.

The database numbers invoices without gaps, locks what was finalized, and bills a cycle once (unique
period_key).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.db import models

from apps.billing.models.billing import Customer, DiscountType, Subscription
from apps.billing.models.tax import (
    TaxCategory,
    percent_of,
    rate_column,
    rate_goes_with_category,
    reason_goes_with_category,
)
from apps.core.ids import IdField
from apps.core.models import RowWithFormKey, once_per_form
from apps.core.text.days import zone_named
from apps.stores.models import Currency


class Invoice(RowWithFormKey):
    """A customer's debt. A draft can be changed; afterwards its totals, lines and number are
    final."""

    class Status(models.TextChoices):
        DRAFT = "draft"
        OPEN = "open"
        PAID = "paid"
        VOID = "void"
        UNCOLLECTIBLE = "uncollectible"

    DiscountType = DiscountType

    customer = models.ForeignKey(
        Customer, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    subscription = models.ForeignKey(
        Subscription, null=True, on_delete=models.PROTECT, related_name="+"
    )
    period_key = models.CharField(max_length=80, null=True, unique=True)
    status = models.CharField(max_length=13, choices=Status.choices, default=Status.DRAFT)
    number = models.PositiveIntegerField(null=True)
    # The series of its own prefix, and the number in it; null: INV- and `number`.
    series = models.CharField(max_length=30, null=True)
    series_number = models.IntegerField(null=True)
    custom_number = models.CharField(max_length=100, null=True)
    public_token = models.CharField(max_length=64, null=True, unique=True)
    po_number = models.CharField(max_length=100, null=True)
    # Instead of the customer's.
    buyer_reference = models.CharField(max_length=100, null=True)
    currency = models.CharField(max_length=3, choices=Currency.choices)
    description = models.TextField(null=True)
    notes = models.TextField(null=True)
    footer = models.TextField(null=True)
    metadata = models.JSONField(default=dict)
    discount_type = models.CharField(max_length=7, choices=DiscountType.choices, null=True)
    discount_value = models.BigIntegerField(null=True)
    # One rate without a category for lines that have none; never beside `tax_rate`.
    tax_rate_bps = models.PositiveIntegerField(null=True)
    tax_rate = rate_column()
    # The usual case by which its taxes were chosen; null: they were named, or there are none.
    tax_case = models.CharField(max_length=20, null=True)
    subtotal_cents = models.BigIntegerField(default=0)
    discount_cents = models.BigIntegerField(default=0)
    tax_cents = models.BigIntegerField(default=0)
    total_cents = models.BigIntegerField(default=0)
    amount_paid_cents = models.BigIntegerField(default=0)
    # The part of what is paid that was the customer's credit.
    credit_applied_cents = models.BigIntegerField(default=0, db_default=0)
    refunded_cents = models.BigIntegerField(default=0)
    needs_attention = models.CharField(max_length=30, null=True)
    due_at = models.DateTimeField(null=True)
    # In which its days are named, wherever they are: the store's when it was made; empty: UTC.
    time_zone = models.CharField(max_length=64, default="", db_default="", blank=True)
    # The days in that zone on which it was issued, and first and last delivered.
    issued_on = models.DateField(null=True)
    supplied_from = models.DateField(null=True)
    supplied_until = models.DateField(null=True)
    # Both parties as they were when it was finalized (apps.billing.invoices.seller_buyer); null: a
    # draft, or one from before these were kept.
    seller = models.JSONField(null=True)
    buyer = models.JSONField(null=True)
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
            models.CheckConstraint(
                condition=models.Q(tax_rate_bps__isnull=True) | models.Q(tax_rate__isnull=True),
                name="invoice_one_rate",
            ),
            models.CheckConstraint(
                condition=models.Q(supplied_from__isnull=True, supplied_until__isnull=True)
                | models.Q(
                    supplied_from__isnull=False,
                    supplied_until__isnull=False,
                    supplied_until__gte=models.F("supplied_from"),
                ),
                name="invoice_supplied_forward",
            ),
            models.UniqueConstraint(fields=["store", "mode", "number"], name="invoice_number_once"),
            models.UniqueConstraint(
                fields=["store", "mode", "custom_number"], name="invoice_custom_number_once"
            ),
            models.UniqueConstraint(
                fields=["store", "mode", "series", "series_number"],
                condition=models.Q(series__isnull=False),
                name="invoice_series_number_once",
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
            # What a customer tells support, of a store that nobody knows.
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
            models.Index(
                fields=["series", "series_number", "-created_at"],
                condition=models.Q(series__isnull=False),
                name="invoice_series_of_all",
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
    def zone(self) -> ZoneInfo:
        return zone_named(self.time_zone)

    @property
    def charged_taxes(self) -> "list[InvoiceTax]":
        """Charges by category and rate. An invoice from before these were written has one rate of
        its own at most."""
        rows = list(self.taxes.all())
        if rows or self.tax_rate_bps is None:
            return rows
        return [
            InvoiceTax(
                invoice=self,
                position=0,
                category=TaxCategory.STANDARD if self.tax_rate_bps else TaxCategory.ZERO,
                rate_bps=self.tax_rate_bps,
                discount_cents=self.discount_cents,
                base_cents=self.subtotal_cents - self.discount_cents,
                tax_cents=self.tax_cents,
            )
        ]

    @property
    def due_day(self) -> date | None:
        return None if self.due_at is None else self.due_at.astimezone(self.zone).date()

    @property
    def owed_cents(self) -> int:
        """Cents that money for the invoice pays: none once it is void."""
        return 0 if self.status == self.Status.VOID else self.total_cents

    @property
    def sent_cents(self) -> int:
        """Cents that its own payments brought."""
        return self.amount_paid_cents - self.credit_applied_cents

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
    # The part of the amount that is tax, where prices hold it.
    tax_included_cents = models.BigIntegerField(default=0, db_default=0)
    # The rate that was named for this line, and what the line is charged by; null: no rate.
    tax_rate = rate_column()
    tax_category = models.CharField(max_length=2, choices=TaxCategory.choices, null=True)
    tax_rate_bps = models.PositiveIntegerField(null=True)
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
            models.CheckConstraint(
                condition=models.Q(tax_included_cents__gte=0)
                & models.Q(tax_included_cents__lte=models.F("amount_cents")),
                name="invoice_line_includes_a_part",
            ),
            models.CheckConstraint(
                condition=models.Q(tax_category__isnull=True, tax_rate_bps__isnull=True)
                | (
                    models.Q(tax_category__isnull=False, tax_rate_bps__isnull=False)
                    & rate_goes_with_category("tax_category", "tax_rate_bps")
                ),
                name="invoice_line_rate_goes_with_category",
            ),
            models.UniqueConstraint(
                fields=["invoice", "position"], name="invoice_line_position_once"
            ),
        ]

    @property
    def net_cents(self) -> int:
        """The amount without the tax that it holds."""
        return self.amount_cents - self.tax_included_cents


class InvoiceTax(models.Model):
    """Charge of an invoice for one category at one rate, in the order of its lines (BG-23 of EN
    16931): the base is the net of these lines less their part of the discount."""

    id = IdField()
    invoice = models.ForeignKey(
        Invoice, on_delete=models.CASCADE, related_name="taxes", db_index=False
    )
    position = models.PositiveSmallIntegerField()
    category = models.CharField(max_length=2, choices=TaxCategory.choices)
    rate_bps = models.PositiveIntegerField()
    name = models.CharField(max_length=100, default="", blank=True)
    # The lines' prices held the tax: it was taken out of them, and is at most a cent from the
    # base times the rate.
    inclusive = models.BooleanField(default=False)
    discount_cents = models.BigIntegerField()
    base_cents = models.BigIntegerField()
    tax_cents = models.BigIntegerField()
    reason = models.CharField(max_length=300, default="", blank=True)
    reason_code = models.CharField(max_length=30, default="", blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["invoice", "category", "rate_bps"], name="invoice_tax_once"
            ),
            models.UniqueConstraint(
                fields=["invoice", "position"], name="invoice_tax_position_once"
            ),
            models.CheckConstraint(
                condition=rate_goes_with_category("category", "rate_bps"),
                name="invoice_tax_rate_goes_with_category",
            ),
            models.CheckConstraint(
                condition=reason_goes_with_category("category"), name="invoice_tax_reason"
            ),
            models.CheckConstraint(
                condition=models.Q(discount_cents__gte=0, base_cents__gte=0, tax_cents__gte=0),
                name="invoice_tax_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(rate_bps__gt=0) | models.Q(tax_cents=0),
                name="invoice_tax_of_nothing",
            ),
        ]

    @property
    def percent(self) -> str:
        return percent_of(self.rate_bps)


@dataclass(frozen=True)
class InvoiceParts:
    """Lines and taxes of an invoice, read or just saved."""

    lines: Sequence[InvoiceLine]
    taxes: Sequence[InvoiceTax]


class InvoiceCounter(models.Model):
    """The last number that a store gave an invoice in a mode; its row lock puts finalizing in
    order."""

    store = models.ForeignKey(
        "stores.Store", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    mode = models.CharField(max_length=4)
    last_number = models.PositiveIntegerField(default=0)
    # Of credit notes, which have a series of their own.
    last_credit_note = models.PositiveIntegerField(default=0, db_default=0)

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
        """Credit of the invoice from this payment, in cents."""
        return self.counted_cents + self.late_cents


class InvoiceChange(models.Model):
    """A line of an invoice's history, in order of id."""

    invoice = models.ForeignKey(Invoice, on_delete=models.CASCADE, related_name="changes")
    change = models.CharField(max_length=40)
    from_status = models.CharField(max_length=13, null=True)
    to_status = models.CharField(max_length=13)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
