"""Refunds and cancellations that the dashboard asks for."""

from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.transaction import atomic
from django.utils.translation import gettext as _
from oscar.apps.payment import exceptions
from payments import PaymentError, PaymentStatus

from .checkout import REFUND
from .following import PAID
from .models import Payment


class TillgateEvents:
    """Goes before EventHandler of `order.processing`. A payment event of the type Refund sends
    coins back; the status of canceled orders closes the payment page."""

    def handle_payment_event(
        self,
        order: Any,
        event_type: Any,
        amount: Decimal,
        lines: Any = None,
        line_quantities: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Nothing is sent for lines that were refunded before."""
        told = (order, event_type, amount, lines, line_quantities)
        with atomic():
            rows = Payment.objects.select_for_update().filter(order_number=order.number)
            payment = rows.filter(status__in=PAID).first()
            if event_type.code == REFUND["code"] and payment is not None:
                self.validate_payment_event(*told, **kwargs)
                _refund(payment, amount)
                kwargs["reference"] = payment.token
            return super().handle_payment_event(*told, **kwargs)

    def handle_order_status_change(
        self, order: Any, new_status: str, note_msg: str | None = None
    ) -> None:
        super().handle_order_status_change(order, new_status, note_msg)
        if new_status != getattr(settings, "OSCAR_TILLGATE_CANCELED_STATUS", "Cancelled"):
            return
        for payment in Payment.objects.filter(order_number=order.number):
            if payment.status == PaymentStatus.WAITING:
                self._cancel(order, payment)
            elif payment.status == PaymentStatus.CONFIRMED:
                self.create_note(order, _("It was paid: refund the crypto payment"))

    def _cancel(self, order: Any, payment: Payment) -> None:
        """Leaves a payment alone that money has come for."""
        try:
            payment.cancel()
        except PaymentError as error:
            self.create_note(order, _("The crypto payment isn't canceled: %s") % error)


def _refund(payment: Payment, amount: Decimal) -> None:
    if not amount.is_finite() or amount <= 0 or amount != round(amount, 2):
        raise exceptions.PaymentError(_("Please choose a valid amount"))
    try:
        payment.refund(amount)
    except (PaymentError, ValueError) as error:
        raise exceptions.PaymentError(str(error)) from error
