"""What staff have set about a store's invoices."""

from typing import ClassVar

from django.db import models

from apps.stores.settings_models import StoreSettings


class InvoiceSettings(StoreSettings):
    """When an invoice is due, unless it says so itself."""

    invoice_due_days = models.PositiveSmallIntegerField(default=7)

    labels: ClassVar = {"invoice_due_days": "Invoices are due after (days)"}
