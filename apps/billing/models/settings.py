"""Staff's settings of a store's invoices."""

from typing import ClassVar

from django.db import models

from apps.stores.models.settings import StoreSettings


class InvoiceSettings(StoreSettings):
    """Default due date of a store's invoices."""

    invoice_due_days = models.PositiveSmallIntegerField(default=7)

    labels: ClassVar = {"invoice_due_days": "Invoices are due after (days)"}
