"""E-invoices that go to buyers through a network."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.billing.credit_notes import CreditNoteView
from apps.api.billing.invoices import InvoiceView
from apps.billing.documents.deliveries import EInvoiceDeliveryDocument, delivery_document
from apps.billing.invoices import delivering
from apps.billing.requests import DeliveryRequest


class InvoiceDeliveries(InvoiceView):
    """Send the invoice to its buyer through a network, once however often it is asked for, or list
    its deliveries and those of its credit notes, newest first. 422 when something is missing."""

    wrapper = "delivery"
    bodies = {"POST": DeliveryRequest}
    answers = {"GET": list[EInvoiceDeliveryDocument], "POST": EInvoiceDeliveryDocument}
    statuses = {"POST": 201}

    def get(self, request: Request, id: str) -> Response:
        rows = delivering.deliveries_of(self.invoice(id))
        return Response([delivery_document(row) for row in rows])

    def post(self, request: Request, id: str) -> Response:
        invoice = self.invoice(id)
        asked = self.read(request, DeliveryRequest)
        row = delivering.deliver(self.access, invoice, asked.network)
        return Response(delivery_document(row), status=201)


class CreditNoteDeliveries(CreditNoteView):
    """Send the credit note to its buyer through a network, once however often it is asked for. 422
    when something is missing."""

    wrapper = "delivery"
    bodies = {"POST": DeliveryRequest}
    answers = {"POST": EInvoiceDeliveryDocument}
    statuses = {"POST": 201}

    def post(self, request: Request, id: str) -> Response:
        note = self.credit_note(id)
        asked = self.read(request, DeliveryRequest)
        row = delivering.deliver(self.access, note.invoice, asked.network, note)
        return Response(delivery_document(row), status=201)
