"""/billing/invoice/{token}: what the customer's page reads, and how it gets something to pay.
Public, from any origin."""

from collections.abc import Mapping
from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.composites import InvoiceWithPayment, invoice_with_payment
from apps.api.plumbing.refusals import AnyError, ErrorShape, ErrorText, Refused
from apps.api.plumbing.views import ApiView
from apps.billing.invoices.payment_intents import InvoiceNotFound, shown_payment, start_payment
from apps.billing.models import Invoice
from apps.billing.selectors import by_token, read_parts
from apps.core.errors import Failure


class HostedInvoiceView(ApiView):
    """The invoice as its customer sees it, with its latest payment."""

    missing = InvoiceNotFound()
    shapes: ClassVar[Mapping[type[Failure], ErrorShape]] = {InvoiceNotFound: ErrorText}
    answers = {"GET": InvoiceWithPayment}

    def get(self, request: Request, token: str) -> Response:
        payment = shown_payment(self._invoice(token))
        return Response(invoice_with_payment(read_parts(self._invoice(token)), payment))

    def _invoice(self, token: str) -> Invoice:
        invoice = by_token(token)
        if invoice is None:
            raise self.missing
        return invoice


class StartPayment(ApiView):
    """Something to pay the invoice with: its payable intent, or a new one for what is left."""

    shapes: ClassVar[Mapping[type[Failure], ErrorShape]] = {InvoiceNotFound: ErrorText}
    bodies = {"POST": None}
    answers = {"POST": InvoiceWithPayment}
    also = {"POST": {200: None}}
    statuses = {"POST": 201}
    further = {"POST": {403: Refused("The store can't take new payments", AnyError)}}

    def post(self, request: Request, token: str) -> Response:
        invoice, payment, is_new = start_payment(token)
        return Response(invoice_with_payment(invoice, payment), status=201 if is_new else 200)
