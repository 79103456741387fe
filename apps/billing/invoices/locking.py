"""The row of an invoice, locked. A cycle's invoice is locked after its subscription, always in this
order."""

import uuid

from apps.billing.models import Invoice, Subscription


def locked_invoice(invoice_id: uuid.UUID) -> Invoice:
    """The row with its store and customer. Only inside a transaction."""
    subscription_id = Invoice.objects.values_list("subscription_id", flat=True).get(pk=invoice_id)
    if subscription_id is not None:
        list(Subscription.objects.select_for_update().filter(pk=subscription_id).values_list("pk"))
    rows = Invoice.objects.select_for_update(of=("self",)).select_related("store", "customer")
    invoice: Invoice = rows.get(pk=invoice_id)
    return invoice
