"""Settings of a store's invoices: those of staff, and those of its owner."""

from typing import ClassVar

from django.db import models

from apps.core.models import Owned
from apps.stores.models.settings import StoreSettings


class InvoiceSettings(StoreSettings):
    """Default due date of a store's invoices."""

    invoice_due_days = models.PositiveSmallIntegerField(default=7)

    labels: ClassVar = {"invoice_due_days": "Invoices are due after (days)"}


class DocumentSettings(Owned):
    """Settings of a store in a mode for the numbers of invoices and credit notes, and for automatic
    credit notes. A store without the row said nothing."""

    # Empty: nobody ever chose one, and numbers go on as INV-0001 and CN-0001.
    invoice_prefix = models.CharField(max_length=20, default="", blank=True)
    credit_note_prefix = models.CharField(max_length=20, default="", blank=True)
    # The year in the store's zone follows the prefix, and each year begins with 1.
    restarts_yearly = models.BooleanField(default=False)
    # A void or a refund makes a credit note; null: where the store has set up its taxes.
    credits_automatically = models.BooleanField(null=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["store", "mode"], name="document_settings_once"),
            models.CheckConstraint(
                condition=models.Q(invoice_prefix="", credit_note_prefix="", restarts_yearly=False)
                | (
                    ~models.Q(invoice_prefix="")
                    & ~models.Q(credit_note_prefix="")
                    & ~models.Q(invoice_prefix=models.F("credit_note_prefix"))
                ),
                name="document_settings_prefixes",
            ),
        ]
