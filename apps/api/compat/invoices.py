"""BTCPay Server's invoices: create, list, read, mark and refund.

An invoice is a payment, and its id the payment's reference."""

from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal

from django.http import QueryDict
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.compat import documents
from apps.api.compat.requests import (
    Amount,
    InvoiceRequest,
    RefundOrder,
    StatusRequest,
    new_key,
)
from apps.api.compat.views import GreenfieldView, MissingRecord, NotOnTheseTerms
from apps.assets.models import Asset
from apps.core import list_pages, money
from apps.core.messages.fields import Invalid, Schema
from apps.payments import selectors
from apps.payments.models import Payment
from apps.payments.proceeds import asset_ids_by_payment, received_by_payment
from apps.payments.requests import RefundRequest
from apps.payments.selectors import received_by
from apps.payments.services.cancel import cancel_for_merchant
from apps.payments.services.create import answer_refused, create_payment
from apps.payments.services.prices import UnsupportedCurrency
from apps.payments.services.refund import request_refund
from apps.payments.services.shortfall import accept_shortfall

TAKEN_MAX = 100
TAKEN_DEFAULT = 50


class InvoiceView(GreenfieldView):
    names = {
        "currency": "currency",
        "success_url": "checkout.redirectURL",
        "redirectURL": "checkout.redirectURL",
        "expirationMinutes": "checkout.expirationMinutes",
        "expires_in": "checkout.expirationMinutes",
        "order_id": "metadata.orderId",
        "title": "metadata.itemDesc",
        "settlement_amount": "customAmount",
    }

    def payment(self, invoice_id: str) -> Payment:
        payment = selectors.payment_visible_to(self.access, self.access.store, invoice_id)
        if payment is None:
            raise MissingRecord("invoice")
        return payment


class Invoices(InvoiceView):
    """Create an invoice, or list them newest first."""

    bodies = {"POST": InvoiceRequest}

    def post(self, request: Request, store_id: str) -> Response:
        key = self.idempotency_key(request)
        if self.body(request).get("amount") is None:
            refusal = Invalid("amount", "required")
            payment = answer_refused(self.access, refusal, key)
        else:
            order = self.read(request, InvoiceRequest)
            asked = order.payment(self.access.mode, self.access.store.settlement_currency)
            try:
                payment, _ = create_payment(self.access, asked, key)
            except UnsupportedCurrency as unsupported:
                raise NotOnTheseTerms(unsupported.text, field="currency") from None
        return Response(_document(payment))

    def get(self, request: Request, store_id: str) -> Response:
        query = request._request.GET
        rows = selectors.payments_visible_to(self.access)
        orders = query.getlist("orderId")
        if orders:
            rows = rows.filter(order_id__in=[text for text in orders if "\x00" not in text])
        wanted = {text.lower() for text in query.getlist("status")} & documents.STATUSES.keys()
        if wanted:
            ours = {status for text in wanted for status in documents.STATUSES[text]}
            rows = rows.filter(status__in=ours)
        for name, lookup in (("startDate", "created_at__gte"), ("endDate", "created_at__lte")):
            moment = _moment(query.get(name, ""))
            if moment is not None:
                rows = rows.filter(**{lookup: moment})
        text = query.get("textSearch", "")
        if text:
            rows = selectors.search(rows, text)
        first = _number(query, "skip", 0)
        size = min(_number(query, "take", TAKEN_DEFAULT), TAKEN_MAX)
        page = list(
            list_pages.part(rows, first, size)
            .select_related("store")
            .order_by("-created_at", "-id")
        )
        came, coins = dict(received_by_payment(page)), asset_ids_by_payment(page)
        answered = [
            documents.invoice(payment, came[payment.pk], coins[payment.pk]) for payment in page
        ]
        if wanted:
            answered = [row for row in answered if str(row["status"]).lower() in wanted]
        return Response(answered)


def _document(payment: Payment) -> Schema:
    received = received_by(payment)
    return documents.invoice(payment, received, [entry.address.asset_id for entry in received])


def _number(query: QueryDict, name: str, default: int) -> int:
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default


def _moment(text: str) -> datetime | None:
    """Unix seconds, as Greenfield has them."""
    if not text.isascii() or not text.isdigit() or len(text) > 11:
        return None
    return datetime.fromtimestamp(int(text), UTC)


class InvoiceById(InvoiceView):
    """Read an invoice."""

    def get(self, request: Request, store_id: str, invoice_id: str) -> Response:
        payment = self.payment(invoice_id)
        return Response(_document(payment))


class InvoicePaymentMethods(InvoiceView):
    """List the amounts that are due and that have come, by coin."""

    def get(self, request: Request, store_id: str, invoice_id: str) -> Response:
        payment = self.payment(invoice_id)
        return Response(
            [documents.payment_method(payment, intake) for intake in received_by(payment)]
        )


class InvoiceStatus(InvoiceView):
    """Mark an invoice invalid, as long as nothing has come, or an underpaid one settled, for a key
    with `refunds:write`."""

    bodies = {"POST": StatusRequest}

    def post(self, request: Request, store_id: str, invoice_id: str) -> Response:
        payment = self.payment(invoice_id)
        order = self.read(request, StatusRequest)
        if order.status == "Invalid":
            payment = cancel_for_merchant(payment)
        else:
            payment = accept_shortfall(payment, by=self.access)
        return Response(_document(payment))


class InvoiceRefund(InvoiceView):
    """Refund an invoice. It is sent at once to who paid: nobody has to claim it."""

    bodies = {"POST": RefundOrder}
    refuses_unknown = True

    def post(self, request: Request, store_id: str, invoice_id: str) -> Response:
        payment = self.payment(invoice_id)
        key = self.idempotency_key(request) or new_key()
        order = self.read(request, RefundOrder)
        answer = request_refund(self.access, payment, refund_request(payment, order), key)
        name = order.name or f"Refund {payment.reference}"
        refund = answer.refunds[0]
        return Response(documents.pull_payment(payment, refund, name, order.description or ""))


def refund_request(payment: Payment, order: RefundOrder) -> RefundRequest:
    """The coins or money to be sent back. Raises Invalid or NotOnTheseTerms."""
    asset_id = order.payoutMethodId or order.paymentMethod
    if asset_id is not None and not Asset.objects.filter(pk=asset_id).exists():
        raise Invalid("payoutMethodId", "inclusion")
    asked: dict[str, object] = {"asset_id": asset_id}
    match order.refundVariant:
        case "CurrentRate" | "OverpaidAmount":
            raise NotOnTheseTerms(
                f"{order.refundVariant} isn't supported; use RateThen, Fiat or Custom",
                field="refundVariant",
            )
        case "Custom":
            asked |= _custom(payment, order)
        case _ if order.subtractPercentage is not None:
            cents = _reduced(payment.settlement_amount_cents, order.subtractPercentage)
            asked["settlement_amount"] = money.text_from_cents(cents)
        case "Fiat":
            asked["settlement_amount"] = money.text_from_cents(payment.settlement_amount_cents)
    return RefundRequest.read(asked)


def _custom(payment: Payment, order: RefundOrder) -> dict[str, object]:
    if order.customAmount is None:
        raise Invalid("customAmount", "required")
    if order.subtractPercentage is not None:
        raise NotOnTheseTerms(
            "subtractPercentage can't be given with Custom", field="subtractPercentage"
        )
    currency = order.customCurrency or payment.settlement_currency
    if currency == payment.settlement_currency:
        return {"settlement_amount": Amount().check(order.customAmount, "customAmount")}
    coins = [
        intake.address.asset
        for intake in received_by(payment)
        if intake.confirmed_atomic and currency in (intake.address.asset_id, _symbol(intake))
    ]
    if len(coins) != 1:
        raise NotOnTheseTerms(
            "customCurrency must be the invoice's currency or the coin that was paid",
            field="customCurrency",
        )
    return {"amount": str(order.customAmount), "asset_id": coins[0].pk}


def _symbol(intake: selectors.Received) -> str:
    return str(intake.address.asset.coin_symbol)


def _reduced(cents: int, percentage: str) -> int:
    """So many percent less, rounded to the cent."""
    share = Decimal(100) - Decimal(percentage)
    if share <= 0:
        raise Invalid("subtractPercentage", "percent")
    return int((cents * share / 100).quantize(Decimal(1), ROUND_HALF_UP))
