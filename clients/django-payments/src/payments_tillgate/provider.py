"""The provider: the customer pays on Tillgate's hosted checkout, and the payment becomes what
Tillgate says of it. Events only say which one to read: they come twice, late and out of order."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import tillgate
from django.db.transaction import atomic
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from payments import PaymentError, PaymentStatus, RedirectNeeded, get_payment_model
from payments.core import BasicProvider
from payments.models import BasePayment

OPEN = (PaymentStatus.WAITING, PaymentStatus.INPUT)
UNPAID = (*OPEN, PaymentStatus.REJECTED)
PAID = (PaymentStatus.CONFIRMED, PaymentStatus.REFUNDED)
ENDED = ("expired", "failed", "refunded")
NOT_OURS = 200  # Whoever delivers it has nothing to repeat.


class TillgateProvider(BasicProvider):
    """Of a variant in PAYMENT_VARIANTS, with the address of the server, a secret key, and the
    signing secret of the webhook."""

    def __init__(self, base_url: str, api_key: str, signing_secret: str, **options: Any) -> None:
        super().__init__(**options)
        self.client = tillgate.Client(api_key, base_url, timeout=10)
        self.signing_secret = signing_secret

    def get_form(self, payment: BasePayment, data: Any = None) -> None:
        """To the payment page; the same one however often it is asked for."""
        if not payment.transaction_id:
            self._create(payment)
        raise RedirectNeeded(payment.attrs.hosted_url)

    def _create(self, payment: BasePayment) -> None:
        way_back = self.get_return_url(payment)
        try:
            made = self.client.payments.create(
                amount=_amount(payment.total, payment.currency),
                currency=payment.currency,
                title=payment.description[:100] or f"Payment {payment.pk}",
                order_id=str(getattr(payment, "order_number", payment.pk)),
                success_url=way_back,
                failed_url=way_back,
                metadata={
                    "django_payments": payment.token,
                    "customer_email": payment.billing_email,
                },
                idempotency_key=f"django-payments {payment.token}",
            )
        except tillgate.Error as error:
            raise PaymentError(str(error)) from error
        payment.transaction_id = made.id
        payment.attrs.hosted_url = made.hosted_url
        payment.save()

    def get_token_from_request(self, payment: BasePayment | None, request: HttpRequest) -> str:
        """The webhook, `…/process/<variant>/`. What isn't this shop's is answered with 200."""
        header = request.headers.get("Service-Signature")
        try:
            event = tillgate.webhooks.verify(request.body, header, self.signing_secret)
        except tillgate.webhooks.VerificationError as error:
            raise PaymentError(str(error), code=400) from error
        told = event.data.object
        token = str((told.get("metadata") or {}).get("django_payments", ""))
        if "payment_intent_id" not in told or not _known(token):
            raise PaymentError("Not a payment of this shop", code=NOT_OURS)
        request.tillgate_payment = told["payment_intent_id"]
        return token

    def process_data(self, payment: BasePayment, request: HttpRequest) -> HttpResponse:
        """A delivery, or the customer who comes back. Neither is believed: the payment is read."""
        delivered = getattr(request, "tillgate_payment", None)
        try:
            followed = self.follow(payment, delivered or payment.transaction_id)
        except tillgate.Error:
            if delivered:
                return HttpResponse("Later", status=503)
            followed = payment
        if delivered or request.method == "POST":
            return HttpResponse("OK")
        is_bad = followed.status in (PaymentStatus.REJECTED, PaymentStatus.CANCELLED)
        return redirect(followed.get_failure_url() if is_bad else followed.get_success_url())

    def catch_up(self, hours: int = 48) -> None:
        """Everything since then, in the way of deliveries."""
        since = (timezone.now() - timedelta(hours=hours)).timestamp()
        missed = {}
        for event in self.client.events.list(per_page=100):
            if event.created < since:
                break
            token = str((event.data.object.get("metadata") or {}).get("django_payments", ""))
            if "payment_intent_id" in event.data.object and (found := _known(token)):
                missed[event.data.object["payment_intent_id"]] = found
        for remote, payment in reversed(missed.items()):
            self.follow(payment, remote)

    @atomic
    def follow(self, payment: BasePayment, remote_id: str) -> BasePayment:
        remote = self.client.payments.retrieve(remote_id)
        payment = type(payment)._default_manager.select_for_update().get(pk=payment.pk)
        asked = (payment.token, payment.total, payment.currency)
        amount = Decimal(remote.settlement_amount)
        if (remote.metadata.get("django_payments"), amount, remote.settlement_currency) != asked:
            return payment
        may_be_paid = payment.status in (*UNPAID, PaymentStatus.CANCELLED)
        if _is_paid(payment, remote) and may_be_paid:
            payment.transaction_id = remote.id
            payment.captured_amount = payment.total
            payment.save()
            payment.change_status(PaymentStatus.CONFIRMED)
        if remote.id != payment.transaction_id:
            return payment
        if remote.status in ENDED and payment.status in OPEN:
            payment.change_status(PaymentStatus.REJECTED, remote.state_reason or remote.status)
        if payment.status in PAID:
            self._bring_refunds(payment, remote)
        return payment

    def _bring_refunds(self, payment: BasePayment, remote: Any) -> None:
        """Those begun in Tillgate; those begun here have been taken off already, and come back when
        they fail."""
        known, failed = _refunds(payment)
        is_news = False
        for sent in self.client.refunds.list(remote.id):
            if sent.id in known and sent.status == "failed" and sent.id not in failed:
                failed = [*failed, sent.id]
                is_news = True
                payment.captured_amount = payment.total
                payment.message = f"A refund failed: {sent.failure_reason}"
            elif sent.id not in known and sent.status == "confirmed":
                known = [*known, sent.id]
                payment.captured_amount -= _worth(payment, remote, sent)
        payment.attrs.refunds, payment.attrs.failed_refunds = known, failed
        payment.save()
        if payment.captured_amount <= 0 and payment.status == PaymentStatus.CONFIRMED:
            payment.change_status(PaymentStatus.REFUNDED)
        elif is_news and payment.status == PaymentStatus.REFUNDED:
            payment.change_status(PaymentStatus.CONFIRMED, payment.message)

    def refund(self, payment: BasePayment, amount: Decimal | None = None) -> Decimal:
        """The first refund of a payment is its last. It is under way when this returns."""
        wanted = payment.captured_amount if amount is None else amount
        known, _failed = _refunds(payment)
        try:
            (sent, *_rest) = self.client.refunds.create(
                payment.transaction_id,
                settlement_amount=_amount(wanted, payment.currency),
                idempotency_key=f"django-payments {payment.token} {len(known)}",
            )
        except tillgate.Error as error:
            raise PaymentError(str(error)) from error
        if sent.refund_in_progress or sent.id in known:
            raise PaymentError("Another refund of this payment is in progress")
        payment.attrs.refunds = [*known, sent.id]
        payment.save()
        return wanted

    def cancel(self, payment: BasePayment) -> None:
        """Its page can't be paid any more; refused when something has come already."""
        if payment.transaction_id:
            try:
                self.client.payments.cancel(payment.transaction_id)
            except tillgate.Error as error:
                raise PaymentError(str(error)) from error


def _known(token: str) -> BasePayment | None:
    return get_payment_model()._default_manager.filter(token=token).first() if token else None


def _amount(amount: Decimal, currency: str) -> str:
    return str(amount.quantize(Decimal(1 if currency == "JPY" else "0.01")))


def _refunds(payment: BasePayment) -> tuple[list[str], list[str]]:
    """IDs of those that are counted, and of those of them that failed."""
    return getattr(payment.attrs, "refunds", []), getattr(payment.attrs, "failed_refunds", [])


def _is_paid(payment: BasePayment, remote: Any) -> bool:
    """Completed once, even if refunded since; or late, and accepted in full."""
    was_completed = any(event.to_status == "completed" for event in remote.payment_events)
    return was_completed or Decimal(remote.accepted_late_amount) >= payment.total


def _worth(payment: BasePayment, remote: Any, sent: Any) -> Decimal:
    """Coins at the rate that was locked for the payment."""
    due = {
        address.supported_asset.asset_id: int(address.crypto_amount_atomic)
        for address in remote.payment_addresses
    }
    worth = payment.total * int(sent.amount_atomic) / (due.get(sent.asset_id) or 1)
    return min(payment.captured_amount, worth.quantize(Decimal("0.01")))
