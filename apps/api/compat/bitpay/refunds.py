"""BitPay's refunds: request, list and read. They are sent at once to who paid."""

from decimal import Decimal

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.compat.bitpay import documents
from apps.api.compat.bitpay.invoices import InvoiceView
from apps.api.compat.bitpay.requests import RefundOrder
from apps.api.compat.bitpay.views import WRONG_STATE, MissingRecord
from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import Schema, is_uuid
from apps.core.messages.invalid import Invalid
from apps.payments import selectors
from apps.payments.models import Payment, Refund
from apps.payments.requests import RefundRequest
from apps.payments.services.refund import request_refund


class NoPreviews(Failure):
    message = "preview isn't supported: refunds are sent immediately"


class OtherCurrency(Failure):
    message = "currency must be that of the invoice"


class RefundView(InvoiceView):
    resource = "02"
    names = {"settlement_amount": "amount"}

    def request_for(self, payment: Payment, order: RefundOrder) -> Response:
        if order.preview:
            raise NoPreviews
        if order.currency not in (None, payment.settlement_currency):
            raise OtherCurrency
        asked = RefundRequest.read({"settlement_amount": order.amount})
        answer = request_refund(self.access, payment, asked, self.key_for(order.guid))
        row = answer.refunds[0]
        shown = selectors.refunds_visible_to(self.access).get(pk=row.pk)
        return self.told(refund_document(shown, order.reference), "merchant/refund")

    def _kind_of(self, failure: Failure) -> str:
        is_of_state = failure.kind == RefusalKind.INVALID and not failure.field
        return WRONG_STATE if is_of_state else super()._kind_of(failure)


def refund_document(row: Refund, reference: str | None = None) -> Schema:
    """Document of a refund with its `locked_rate`."""
    rate: Decimal | None = getattr(row, "locked_rate", None)
    return documents.refund(row, rate, reference)


class InvoiceRefunds(RefundView):
    """The older request for a refund."""

    bodies = {"POST": RefundOrder}

    def post(self, request: Request, invoice_id: str) -> Response:
        payment = self.payment(invoice_id)
        return self.request_for(payment, self.read(request, RefundOrder))


class Refunds(RefundView):
    """Refund an invoice, or list its refunds."""

    bodies = {"POST": RefundOrder}

    def post(self, request: Request) -> Response:
        order = self.read(request, RefundOrder)
        if order.invoiceId is None:
            raise Invalid("invoiceId", "required")
        return self.request_for(self.payment(order.invoiceId), order)

    def get(self, request: Request) -> Response:
        payment = self.payment(request._request.GET.get("invoiceId", ""))
        rows = selectors.refunds_visible_to(self.access).filter(payment=payment)
        return self.told([refund_document(row) for row in rows], "merchant/refund")


class RefundById(RefundView):
    """Read a refund."""

    def get(self, request: Request, refund_id: str) -> Response:
        rows = selectors.refunds_visible_to(self.access)
        row = rows.filter(pk=refund_id).first() if is_uuid(refund_id) else None
        if row is None:
            raise MissingRecord("Refund")
        return self.told(refund_document(row), "merchant/refund")
