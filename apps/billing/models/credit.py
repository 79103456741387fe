"""Credit notes, and the credit of customers."""

from zoneinfo import ZoneInfo

from django.db import models
from django.utils.translation import gettext_noop

from apps.billing.models.billing import Customer
from apps.billing.models.invoices import Invoice
from apps.billing.models.tax import TaxCategory
from apps.core.ids import IdField
from apps.core.models import Owned, RowWithFormKey, once_per_form
from apps.stores.models import Currency


class CreditNote(RowWithFormKey):
    """The part of a finalized invoice, or the whole, that is taken back: final from the start, in a
    series of its own. Its day is in the zone of its invoice."""

    class Reason(models.TextChoices):
        VOID = "void", gettext_noop("The invoice was voided")
        REFUND = "refund", gettext_noop("Money was refunded")
        OTHER = "other", gettext_noop("Another reason")

    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="credit_notes")
    number = models.PositiveIntegerField()
    # The series of its own prefix, and the number in it; null: CN- and `number`.
    series = models.CharField(max_length=30, null=True)
    series_number = models.IntegerField(null=True)
    reason = models.CharField(max_length=6, choices=Reason.choices)
    # Of one that a refund made: what was refunded of the invoice until then, which is credited
    # once; null: a person made it, or a void.
    refunded_cents = models.BigIntegerField(null=True)
    memo = models.TextField(default="", blank=True)
    currency = models.CharField(max_length=3, choices=Currency.choices)
    net_cents = models.BigIntegerField()
    tax_cents = models.BigIntegerField()
    total_cents = models.BigIntegerField()
    issued_on = models.DateField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["store", "mode", "number"], name="credit_note_number_once"
            ),
            models.UniqueConstraint(
                fields=["store", "mode", "series", "series_number"],
                condition=models.Q(series__isnull=False),
                name="credit_note_series_number_once",
            ),
            models.UniqueConstraint(
                fields=["invoice", "refunded_cents"],
                condition=models.Q(refunded_cents__isnull=False),
                name="credit_note_once_per_refund",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    net_cents__gte=0,
                    tax_cents__gte=0,
                    total_cents__gt=0,
                    total_cents=models.F("net_cents") + models.F("tax_cents"),
                ),
                name="credit_note_adds_up",
            ),
            once_per_form("credit_note"),
        ]
        indexes = [models.Index(fields=["store", "mode", "-created_at"], name="credit_note_newest")]

    @property
    def zone(self) -> ZoneInfo:
        return self.invoice.zone


class CreditNoteLine(models.Model):
    """The part of a credit note that has one tax; `category` is empty where the invoice says
    none."""

    id = IdField()
    credit_note = models.ForeignKey(
        CreditNote, on_delete=models.PROTECT, related_name="lines", db_index=False
    )
    position = models.PositiveSmallIntegerField()
    category = models.CharField(max_length=2, choices=TaxCategory.choices, default="", blank=True)
    rate_bps = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=300, default="", blank=True)
    reason_code = models.CharField(max_length=30, default="", blank=True)
    net_cents = models.BigIntegerField()
    tax_cents = models.BigIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["credit_note", "position"], name="credit_note_line_position_once"
            ),
            models.CheckConstraint(
                condition=models.Q(net_cents__gte=0, tax_cents__gte=0),
                name="credit_note_line_not_negative",
            ),
        ]


class CustomerCreditLine(Owned):
    """A line of a customer's credit in one currency: money that came for an invoice beyond what is
    owed for it, or what of that was refunded or paid another invoice. The sum of a customer's lines
    is the balance, which the database keeps at zero or above. The coins stay in the store's
    balance."""

    class Kind(models.TextChoices):
        OVERPAID = "overpaid"
        REFUNDED = "refunded"
        APPLIED = "applied"

    customer = models.ForeignKey(
        Customer, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="credit_lines")
    currency = models.CharField(max_length=3, choices=Currency.choices)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    amount_cents = models.BigIntegerField()

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind="overpaid", amount_cents__gt=0)
                | models.Q(kind__in=["refunded", "applied"], amount_cents__lt=0),
                name="credit_line_goes_its_way",
            ),
            models.UniqueConstraint(
                fields=["invoice"],
                condition=models.Q(kind="applied"),
                name="credit_applied_once",
            ),
        ]
        indexes = [
            models.Index(fields=["customer", "currency", "created_at"], name="credit_of_customer")
        ]
