"""Creating a payment by hand: the form, then the link with its QR code."""

from typing import Any

from django.http import HttpResponse

from apps.core.literal import Invalid
from apps.core.web import status_of
from apps.dashboard import form_keys
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, sentences, show
from apps.payments.documents.parts import hosted_url
from apps.payments.models import Payment
from apps.payments.requests import EXPIRES_IN_DEFAULT, payment_request
from apps.payments.selectors import payments_seen_by
from apps.payments.services.create import create_payment
from apps.stores.models import Currency

_TEXTS = ("amount", "currency", "title", "description", "order_id", "success_url")
_FEE = {"customer": True, "store": False, "": None}
LIFETIMES = {900: "15 minutes", 3600: "1 hour", 21600: "6 hours", 86400: "24 hours"}


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        given = {"currency": request.access.store.settlement_currency, "expires_in": str(EXPIRES_IN_DEFAULT), **form_keys.new()}
        return _form(request, given, [])
    given = {name: request.POST.get(name, "").strip() for name in (*_TEXTS, "expires_in", "fee", form_keys.NAME)}
    try:
        key = f"dashboard-{form_keys.of(given)}"
        asked = payment_request(request.access.mode).read(_read(given))
        payment, _ = create_payment(request.access, asked, key)
    except Refusals as refusal:
        return _form(request, given, sentences(refusal), status_of(refusal))
    return go("payment_link", payment.pk)


def show_link(request: PageRequest, id: str) -> HttpResponse:
    payment: Payment = find(payments_seen_by(request.access), id)
    return show(request, "dashboard/payments/link.html", {"payment": payment, "url": hosted_url(payment)})


def _read(given: dict[str, str]) -> dict[str, Any]:
    """The form as the service takes it: what was left empty is not sent."""
    if given["fee"] not in _FEE or given["expires_in"] not in map(str, LIFETIMES):
        raise Invalid("fee", "choose_value")
    sent: dict[str, Any] = {name: given[name].replace("\r\n", "\n") for name in _TEXTS if given[name]}
    return {**sent, "expires_in": int(given["expires_in"]), "customer_pays_fee": _FEE[given["fee"]]}


def _form(request: PageRequest, given: dict[str, str], errors: list[str], status: int = 200) -> HttpResponse:
    context = {"given": given, "errors": errors, "currencies": Currency.choices, "lifetimes": {str(k): v for k, v in LIFETIMES.items()}}
    return show(request, "dashboard/payments/create.html", context, status=status)
