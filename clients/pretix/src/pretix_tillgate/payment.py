"""The provider: the customer pays on Tillgate's hosted checkout, and the payment follows what
Tillgate says of it (`following`). In its `info` a payment keeps which payment of Tillgate it is."""

import hashlib
from decimal import Decimal
from typing import Any

import tillgate
from django import forms
from django.conf import settings as django_settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _
from pretix.base.forms import SecretKeySettingsField
from pretix.base.models import Order, OrderPayment, OrderRefund
from pretix.base.payment import BasePaymentProvider, PaymentException
from pretix.multidomain.urlreverse import eventreverse_absolute

IDENTIFIER = "tillgate"
CURRENCIES = ("USD", "EUR", "GBP", "HKD", "SGD", "JPY", "DKK", "CHF", "SEK", "NOK")
INTENTS = ("processing", "completed", "expired", "failed", "refunded")
TRANSACTIONS = ("confirming", "confirmed", "failed")
EVENTS = [
    *(f"payment_intent.{name}" for name in INTENTS),
    *(f"transaction.{name}" for name in TRANSACTIONS),
    "refund.failed",
]
SCOPES = _(
    "With the scopes payments:read, payments:write, refunds:write and webhooks:write. A test key"
    " sells in the test mode of your shop only, a live key outside of it."
)
PENDING = {
    "processing": _("Your payment has been seen and waits for its confirmations."),
    "processing_underpaid": _("A part has arrived. Please send the rest."),
    "expired": _("Time was up before anything arrived."),
    "failed": _("The payment failed. What you sent is returned to you."),
}


class Tillgate(BasePaymentProvider):
    identifier = IDENTIFIER
    verbose_name = _("Crypto payments (Tillgate)")
    public_name = _("Crypto")
    execute_payment_needs_user = True
    abort_pending_allowed = True  # Tillgate refuses to cancel what money has come for.

    @property
    def settings_form_fields(self) -> dict[str, forms.Field]:
        secret = _("Leave it empty, and saving registers the webhook.")
        return {
            "base_url": forms.URLField(label=_("Server address"), assume_scheme="https"),
            "api_key": SecretKeySettingsField(label=_("Secret API key"), help_text=SCOPES),
            "signing_secret": SecretKeySettingsField(
                label=_("Signing secret of the webhook"), required=False, help_text=secret
            ),
            **super().settings_form_fields,
        }

    def settings_form_clean(self, cleaned_data: dict[str, Any]) -> dict[str, Any]:
        """Registers the webhook when the method is turned on without a secret."""
        url, key, secret = (
            f"payment_{IDENTIFIER}_{name}" for name in ("base_url", "api_key", "signing_secret")
        )
        if not cleaned_data.get(key) or cleaned_data.get(secret):
            return cleaned_data
        is_kept = set(cleaned_data[key]) == {"*"}
        given = self.settings.get("api_key") if is_kept else cleaned_data[key]
        try:
            made = tillgate.Client(given, cleaned_data[url]).webhook_endpoints.create(
                url=eventreverse_absolute(self.event, "plugins:pretix_tillgate:webhook"),
                subscribed_events=EVENTS,
            )
        except tillgate.Error as error:
            text = _("Tillgate can't register the webhook: {error}").format(error=error)
            raise ValidationError(text) from error
        return {**cleaned_data, secret: made.signing_secret}

    @property
    def is_test(self) -> bool:
        return "_test_" in (self.settings.get("api_key") or "")[:16]

    @property
    def test_mode_message(self) -> str | None:
        return _("Tillgate is in test mode: no coins are needed.") if self.is_test else None

    def client(self) -> tillgate.Client:
        known = self.settings.get("api_key"), self.settings.get("base_url")
        return tillgate.Client(*known, timeout=10)

    def is_allowed(self, request: HttpRequest, total: Decimal | None = None) -> bool:
        """A test key sells nothing in a shop that is live, nor a live key in test mode."""
        fits = self.is_test == self.event.testmode and self.event.currency in CURRENCIES
        return fits and super().is_allowed(request, total)

    def order_change_allowed(self, order: Order, request: HttpRequest | None = None) -> bool:
        return self.is_test == order.testmode and super().order_change_allowed(order, request)

    def payment_is_valid_session(self, request: HttpRequest) -> bool:
        return True

    def payment_form_render(self, *_args: Any, **_kwargs: Any) -> str:
        return _("Once you have placed your order, you pay with your wallet.")

    checkout_confirm_render = payment_form_render

    def execute_payment(self, request: HttpRequest, payment: OrderPayment) -> str:
        """To the payment page; the same one however often it is asked for."""
        order = payment.order
        if self.is_test != order.testmode:
            raise PaymentException(_("This payment method isn't available for this order."))
        place = {"order": order.code, "secret": order.secret, "number": payment.pk}
        way_back = eventreverse_absolute(self.event, "plugins:pretix_tillgate:return", place)
        try:
            made = self.client().payments.create(
                amount=self.amount(payment.amount),
                currency=self.event.currency,
                title=f"{self.event.name} {order.code}"[:100],
                order_id=payment.full_id,
                success_url=way_back,
                failed_url=way_back,
                metadata={"pretix": self.mark(payment), "customer_email": order.email or ""},
                idempotency_key=self.mark(payment),
            )
        except tillgate.Error as error:
            text = _("The payment can't be made right now. Please try again.")
            raise PaymentException(text) from error
        if "id" not in payment.info_data:
            payment.info_data = identity(made)
            payment.save(update_fields=["info"])
        return payment.info_data["hosted_url"]

    def amount(self, amount: Decimal) -> str:
        places = django_settings.CURRENCY_PLACES.get(self.event.currency, 2)
        return str(amount.quantize(Decimal(1).scaleb(-places)))

    def mark(self, payment: OrderPayment) -> str:
        """Tells a payment from those of every other pretix; new quotes have it, too."""
        parts = f"{payment.global_id} {payment.pk} {payment.order.secret}"
        return f"{payment.pk} {hashlib.sha256(parts.encode()).hexdigest()[:40]}"

    def payment_pending_render(self, request: HttpRequest, payment: OrderPayment) -> str:
        if not (info := payment.info_data):
            return ""
        text = PENDING.get(info.get("reason")) or PENDING.get(info.get("status"), "")
        link = format_html('<a href="{}">{}</a>', info["hosted_url"], _("Open the payment page"))
        return format_html("<p>{} {}</p>", text, link)

    def payment_control_render(self, request: HttpRequest, payment: OrderPayment) -> str:
        info = payment.info_data
        rows = {_("Reference"): "reference", _("Paid"): "paid", _("Please look"): "note"}
        shown = [(name, info[field]) for name, field in rows.items() if info.get(field)]
        return format_html_join("", "<dl><dt>{}</dt><dd>{}</dd></dl>", shown)

    def matching_id(self, payment: OrderPayment) -> str | None:
        return payment.info_data.get("reference")

    def cancel_payment(self, payment: OrderPayment) -> None:
        """Its page can't be paid any more; refused when something has come already."""
        if remote := payment.info_data.get("id"):
            try:
                self.client().payments.cancel(remote)
            except tillgate.Error as error:
                if payment.info_data.get("status") not in ("expired", "failed"):
                    raise PaymentException(str(error)) from error
        super().cancel_payment(payment)

    def payment_refund_supported(self, payment: OrderPayment) -> bool:
        """The first refund of a payment is its last."""
        going_on = ("created", "transit", "done")
        return not payment.refunds.filter(state__in=going_on).exists()

    payment_partial_refund_supported = payment_refund_supported

    def execute_refund(self, refund: OrderRefund) -> None:
        """Sent now, and done once it has confirmed: until then the refund is in transit."""
        payment = refund.payment
        try:
            (sent, *_rest) = self.client().refunds.create(
                payment.info_data["id"],
                settlement_amount=self.amount(refund.amount),
                idempotency_key=f"{self.mark(payment)} {refund.local_id}",
            )
        except tillgate.Error as error:
            raise PaymentException(str(error)) from error
        others = payment.refunds.exclude(pk=refund.pk)
        if sent.refund_in_progress or sent.id in [one.info_data.get("id") for one in others]:
            raise PaymentException(_("Another refund of this payment is in progress."))
        refund.info_data = {"id": sent.id}
        refund.state = OrderRefund.REFUND_STATE_TRANSIT
        refund.save(update_fields=["info", "state"])
        if sent.status == "confirmed":
            refund.done()


def identity(remote: Any) -> dict[str, str]:
    """A payment of Tillgate, as a pretix payment remembers it."""
    return {name: getattr(remote, name) for name in ("id", "reference", "hosted_url", "status")}
