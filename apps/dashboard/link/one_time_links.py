"""One-time links: a payment made by hand, then its link with the QR code."""

from django.http import HttpResponse
from django.utils.translation import gettext_noop

from apps.core.messages.fields import Invalid
from apps.core.money import text_from_cents
from apps.core.typed_amounts import cents_typed
from apps.core.web.forms import Form
from apps.dashboard.site import form_keys
from apps.dashboard.site.views import PageRequest, Refusals, find, go, show
from apps.payments.documents.parts import hosted_url
from apps.payments.models import Payment
from apps.payments.requests import EXPIRES_IN_DEFAULT, PaymentRequest, payment_request
from apps.payments.selectors import payments_visible_to, received_by
from apps.payments.services.create import create_payment
from apps.stores.models import Currency

_FEE = {"customer": True, "store": False, "": None}
LIFETIMES = {
    "900": gettext_noop("15 minutes"),
    "3600": gettext_noop("1 hour"),
    "21600": gettext_noop("6 hours"),
    "86400": gettext_noop("24 hours"),
}


class OneTimeLinkForm(Form):
    names = (
        "amount",
        "currency",
        "title",
        "description",
        "order_id",
        "expires_in",
        "fee",
        "success_url",
    )
    hidden = (form_keys.NAME,)
    inputs = {"customer_pays_fee": "fee"}
    labels = {
        "amount": gettext_noop("Amount"),
        "currency": gettext_noop("Currency"),
        "title": gettext_noop("Title"),
        "description": gettext_noop("Description"),
        "order_id": gettext_noop("Order ID"),
        "success_url": gettext_noop("The return URL"),
    }

    def request(self, mode: str) -> PaymentRequest:
        """The typed request. Raises Invalid."""
        form_keys.of(self.values)
        expires_in = self.values["expires_in"]
        fee = self.values["fee"]
        if expires_in not in LIFETIMES:
            raise Invalid("expires_in", "choose_value")
        if fee not in _FEE:
            raise Invalid("fee", "choose_value")
        typed = self.values["amount"]
        amount = (
            text_from_cents(cents_typed(typed, "amount", _known(self.values["currency"])))
            if typed
            else None
        )
        fields = {
            **self.sent,
            "amount": amount,
            "expires_in": int(expires_in),
            "customer_pays_fee": _FEE[fee],
        }
        return payment_request(mode).read(fields)

    @property
    def key(self) -> str:
        return f"dashboard-{self.values[form_keys.NAME]}"


def _known(currency: str) -> str:
    """Of a currency that isn't offered the amount is read as of any."""
    return currency if currency in Currency.values else ""


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        opened = {
            "currency": request.access.store.settlement_currency,
            "expires_in": str(EXPIRES_IN_DEFAULT),
            **form_keys.new(),
        }
        return _form(request, OneTimeLinkForm(opened))
    form = OneTimeLinkForm(request.POST.dict())
    try:
        payment, _ = create_payment(request.access, form.request(request.access.mode), form.key)
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    return go("payment_link", payment.pk)


def show_link(request: PageRequest, id: str) -> HttpResponse:
    payment: Payment = find(payments_visible_to(request.access), id)
    return show(
        request,
        "dashboard/one_time_links/detail.html",
        {
            "payment": payment,
            "url": hosted_url(payment),
            "has_received": any(intake.received_atomic for intake in received_by(payment)),
        },
    )


def _form(request: PageRequest, form: OneTimeLinkForm) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "currencies": Currency.choices,
        "lifetimes": LIFETIMES,
    }
    return show(request, "dashboard/one_time_links/create.html", context, status=form.status)
