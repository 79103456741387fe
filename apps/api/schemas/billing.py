"""What is answered about an invoice to its customer."""

from apps.api.plumbing.shapes import null, plus
from apps.api.schemas.payments import CHECKOUT
from apps.billing.documents.invoices import HostedInvoice
from apps.core.documents import schema_of
from apps.core.literal import Schema

HOSTED = plus(schema_of(HostedInvoice), payment=null(CHECKOUT))

ANSWERS: dict[str, Schema] = {
    "GET billing/invoice/<str:token>": HOSTED,
    "POST billing/invoice/<str:token>/payment_intent": HOSTED,
}
