"""BitPay's invoices: create, list, read and cancel. An invoice is a payment, and its id the
payment's reference."""

from datetime import UTC, datetime, time

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.compat.bitpay import documents
from apps.api.compat.bitpay.requests import InvoiceRequest
from apps.api.compat.bitpay.views import WRONG_STATE, BitPayView, MissingRecord
from apps.core import list_pages
from apps.core.errors import Failure
from apps.payments import selectors
from apps.payments.models import Payment
from apps.payments.proceeds import received_by_payment
from apps.payments.services.cancel import NotCancelable, cancel_for_merchant
from apps.payments.services.create import create_payment
from apps.webhooks import notices
from apps.webhooks import selectors as webhook_selectors
from apps.webhooks.models import Endpoint
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint

TAKEN_MAX = 100


class InvoiceView(BitPayView):
    resource = "01"
    names = {
        "amount": "price",
        "success_url": "redirectURL",
        "failed_url": "closeURL",
        "order_id": "orderId",
        "title": "itemDesc",
        "url": "notificationURL",
    }

    def payment(self, invoice_id: str) -> Payment:
        payment = selectors.payment_visible_to(self.access, self.access.store, invoice_id)
        if payment is None:
            raise MissingRecord("Invoice")
        return payment

    def payment_of_guid(self, guid: str) -> Payment:
        rows: QuerySet[Payment] = selectors.payments_visible_to(self.access)
        payment = (
            rows.filter(
                idempotency_caller=self.access.caller, idempotency_key=f"bitpay-guid-{guid}"
            ).first()
            if selectors.is_storable(guid)
            else None
        )
        if payment is None:
            raise MissingRecord("Invoice")
        return payment

    def document(self, payment: Payment) -> Response:
        return self.told(documents.invoice(payment, selectors.received_by(payment), self.token))

    def canceled(self, payment: Payment) -> Response:
        return self.document(cancel_for_merchant(payment))

    def _kind_of(self, failure: Failure) -> str:
        return WRONG_STATE if isinstance(failure, NotCancelable) else super()._kind_of(failure)


class Invoices(InvoiceView):
    """Create an invoice, or list them newest first."""

    bodies = {"POST": InvoiceRequest}

    def post(self, request: Request) -> Response:
        order = self.read(request, InvoiceRequest)
        address = order.notificationURL
        endpoint_id = self._endpoint_of(address) if address else ""
        asked = order.payment(self.access.mode, endpoint_id)
        payment, _ = create_payment(self.access, asked, self.key_for(order.guid))
        return self.document(payment)

    def _endpoint_of(self, address: str) -> str:
        """The id of the endpoint of notices to this address, which may be new."""
        rows = webhook_selectors.endpoints(self.access)
        found = rows.filter(format=Endpoint.Format.BITPAY, url=address).first()
        if found is None:
            order = EndpointRequest(url=address, subscribed_events=list(notices.EVENTS))
            registered = register_endpoint(self.access, order, format=Endpoint.Format.BITPAY)
            found = registered.endpoint
        return str(found.pk)

    def get(self, request: Request) -> Response:
        query = request._request.GET
        rows = selectors.payments_visible_to(self.access)
        order = query.get("orderId", "")
        if order:
            rows = rows.filter(order_id=order) if selectors.is_storable(order) else rows.none()
        status = query.get("status", "")
        if status:
            rows = rows.filter(status__in=documents.STATUSES.get(status, ()))
        for name, lookup, hour in (
            ("dateStart", "created_at__gte", time.min),
            ("dateEnd", "created_at__lte", time.max),
        ):
            moment = _moment(query.get(name, ""), hour)
            if moment is not None:
                rows = rows.filter(**{lookup: moment})
        first, size = (
            _number(query.get(name, ""), default)
            for name, default in (("offset", 0), ("limit", TAKEN_MAX))
        )
        page = list(
            list_pages.part(rows, first, min(size, TAKEN_MAX))
            .select_related("store")
            .order_by("-created_at", "-id")
        )
        came = dict(received_by_payment(page))
        told = [documents.invoice(payment, came[payment.pk], self.token) for payment in page]
        return self.told([row for row in told if not status or row["status"] == status])


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default


def _moment(text: str, hour: time) -> datetime | None:
    """A day, with this hour, or a moment; in UTC where no zone is named."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) <= len("2026-01-01"):
        moment = datetime.combine(moment.date(), hour)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class InvoiceById(InvoiceView):
    """Read an invoice, or cancel one that nothing has come for."""

    def get(self, request: Request, invoice_id: str) -> Response:
        return self.document(self.payment(invoice_id))

    def delete(self, request: Request, invoice_id: str) -> Response:
        return self.canceled(self.payment(invoice_id))


class InvoiceByGuid(InvoiceView):
    """Read or cancel an invoice by the name that its client has given it."""

    def get(self, request: Request, guid: str) -> Response:
        return self.document(self.payment_of_guid(guid))

    def delete(self, request: Request, guid: str) -> Response:
        return self.canceled(self.payment_of_guid(guid))
