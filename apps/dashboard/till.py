"""The point of sale: an amount keyed in at the counter, the code that the customer scans, and what
becomes of the payment."""

from django.contrib import messages
from django.http import HttpResponse

from apps.core.messages.fields import Invalid
from apps.core.money import Bps, decimal_from_atomic
from apps.core.web.forms import Form
from apps.dashboard import form_keys
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, is_htmx, show
from apps.links.models import Till
from apps.links.requests import (
    NOTE_MAX,
    TIPS_MAX,
    SaleRequest,
    TillRequest,
    cents_typed,
    smallest_cents,
)
from apps.links.selectors import till_of
from apps.links.services.till import change_till, start_sale, tip_cents
from apps.payments.documents.checkout import (
    CheckoutAddress,
    CheckoutFacts,
    checkout_facts,
)
from apps.payments.documents.order import order_of
from apps.payments.documents.parts import hosted_url
from apps.payments.models import Payment
from apps.payments.selectors import payments_visible_to
from apps.payments.services.expire import expire_if_due
from apps.payments.services.prices import progress_of
from apps.stores.models import Currency

CUSTOM = "custom"


class SaleForm(Form):
    """`tip` is a share in basis points, empty for none, or CUSTOM for the amount that is typed
    beside it."""

    names = ("amount", "currency", "tip", "tip_amount", "note")
    hidden = (form_keys.NAME,)
    inputs = {"tip": "tip_amount"}
    labels = {"amount": "The amount", "tip": "The tip", "note": "The note"}

    def request(self, till: Till) -> SaleRequest:
        """Raises Invalid."""
        key = form_keys.of(self.values)
        values = self.values
        if not values["amount"]:
            raise Invalid("amount", "required")
        cents = cents_typed(values["amount"], "amount")
        return SaleRequest(
            amount_cents=cents,
            currency=values["currency"],
            tip_cents=self._tip(cents, till),
            note=values["note"],
            form_key=key,
        )

    def _tip(self, cents: int, till: Till) -> int:
        choice = self.values["tip"]
        if not choice or not till.tip_bps:
            return 0
        if choice == CUSTOM:
            typed = self.values["tip_amount"]
            return cents_typed(typed, "tip") if typed else 0
        if choice not in map(str, till.tip_bps):
            raise Invalid("tip", "choose_value")
        return tip_cents(cents, Bps(int(choice)), self.values["currency"])


def index(request: PageRequest) -> HttpResponse:
    """The till; a POST starts a sale."""
    till = till_of(request.access.store)
    if request.method == "GET":
        return _till(request, SaleForm({"currency": till.currency, **form_keys.new()}), till)
    form = SaleForm.from_post(request.POST)
    try:
        sale = start_sale(request.access, form.request(till))
    except Refusals as refusal:
        return _till(request, form.refuse(refusal), till)
    return go("till_sale", sale.pk)


def _till(request: PageRequest, form: SaleForm, till: Till) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "till": till,
        "tips": [(str(bps), decimal_from_atomic(bps, 2)) for bps in till.tip_bps],
        "custom": CUSTOM,
        "currencies": [(code, smallest_cents(code)) for code in Currency.values],
        "keys": ("1", "2", "3", "4", "5", "6", "7", "8", "9", ".", "0"),
        "note_max": NOTE_MAX,
    }
    return show(request, "dashboard/till/till.html", context, status=form.status)


def sale(request: PageRequest, id: str) -> HttpResponse:
    """What the customer scans and then what has arrived; looked at again while it is open."""
    row: Payment = find(payments_visible_to(request.access), id)
    payment = expire_if_due(row)
    facts = checkout_facts(payment, request.access.now())
    url = hosted_url(payment)
    chosen = _chosen(facts, request.GET.get("asset", ""))
    context = {
        "payment": payment,
        "facts": facts,
        "bill": progress_of(facts),
        "url": url,
        "chosen": chosen,
        "code": url if chosen is None else chosen.qr_text,
        "order": order_of(payment),
        "query": f"?asset={chosen.asset.asset_id}" if chosen is not None else "",
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(
        request, "dashboard/till/_sale.html" if part else "dashboard/till/sale.html", context
    )


def _chosen(facts: CheckoutFacts, asset_id: str) -> CheckoutAddress | None:
    """The coin that was chosen at the counter; none: the customer chooses on their own phone."""
    return next(
        (address for address in facts.payment_addresses if address.asset.asset_id == asset_id), None
    )


class TillForm(Form):
    names = ("currency", "tips")
    labels = {"tips": "Each tip"}

    def request(self) -> TillRequest:
        """Raises Invalid."""
        parts = [
            tip.strip().removesuffix("%").strip()
            for tip in self.values["tips"].replace(";", ",").split(",")
        ]
        tips = [tip for tip in parts if tip]
        if len(tips) > TIPS_MAX:
            raise Invalid("tips", "too_many_items", maximum=TIPS_MAX)
        # Hundredths of a percent are what cents are to an amount.
        return TillRequest(
            currency=self.values["currency"], tip_bps=[cents_typed(tip, "tips") for tip in tips]
        )


def settings(request: PageRequest) -> HttpResponse:
    till = till_of(request.access.store)
    if request.method == "GET":
        values = {
            "currency": till.currency,
            "tips": ", ".join(decimal_from_atomic(bps, 2) for bps in till.tip_bps),
        }
        return _settings(request, TillForm(values))
    form = TillForm.from_post(request.POST)
    try:
        change_till(request.access, form.request())
    except Refusals as refusal:
        return _settings(request, form.refuse(refusal))
    messages.success(request, "Changes saved.")
    return go("till")


def _settings(request: PageRequest, form: TillForm) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "currencies": Currency.choices,
        "tips_max": TIPS_MAX,
    }
    return show(request, "dashboard/till/settings.html", context, status=form.status)
