"""Paying at the checkout: the order is placed, and its customer sent to the payment page."""

from typing import Any

from django.utils.translation import gettext as _
from oscar.apps.payment.exceptions import GatewayError
from oscar.core.loading import get_model
from payments import PaymentError, PaymentStatus, RedirectNeeded

from .models import Payment

VARIANT = "tillgate"
SOURCE = {"code": "tillgate", "defaults": {"name": "Tillgate"}}
REFUND = {"code": "refund", "defaults": {"name": "Refund"}}


class TillgateCheckout:
    """Goes before PaymentDetailsView of `checkout.views`. A shop with other ways to pay calls
    `pay_with_tillgate` from its own `handle_payment`."""

    payment_page = ""

    def handle_payment(self, order_number: Any, total: Any, **kwargs: Any) -> None:
        super().handle_payment(order_number, total, **kwargs)
        self.pay_with_tillgate(order_number, total)

    def pay_with_tillgate(self, order_number: Any, total: Any) -> None:
        """Nobody knows the page before the order is placed. Asked for twice, it is the same."""
        if not total.incl_tax:
            return
        payment, _is_new = Payment.objects.get_or_create(
            variant=VARIANT,
            order_number=str(order_number),
            total=total.incl_tax,
            currency=total.currency,
            status=PaymentStatus.WAITING,
            defaults={
                "description": _("Order %s") % order_number,
                "billing_email": self._customer_email(),
            },
        )
        try:
            payment.get_form()
        except RedirectNeeded as there:
            self.payment_page = str(there)
        except PaymentError as error:
            raise GatewayError(str(error)) from error
        get_model("order", "PaymentEventType").objects.get_or_create(**REFUND)
        kind, _is_new = get_model("payment", "SourceType").objects.get_or_create(**SOURCE)
        self.add_payment_source(
            get_model("payment", "Source")(
                source_type=kind,
                currency=total.currency,
                amount_allocated=total.incl_tax,
                label=_("Crypto"),
            )
        )

    def _customer_email(self) -> str:
        if self.request.user.is_authenticated:
            return self.request.user.email
        return self.checkout_session.get_guest_email() or ""

    def get_success_url(self) -> str:
        return self.payment_page or super().get_success_url()
