"""The point of sale: what is sold is keyed in or chosen, and charged once, whatever becomes of the
connection.

The page is kept on the device (static/js/till_worker.js) so that it opens without a connection.
"""

from functools import cache
from urllib.parse import quote

from babel.numbers import get_decimal_symbol
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_noop

from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import Invalid
from apps.core.text.regions import own_locale
from apps.core.typed_amounts import cents_typed, whole_typed
from apps.core.web.forms import Form, sentences
from apps.core.web.refusals import status_of
from apps.dashboard.site import form_keys
from apps.dashboard.site.views import PageRequest, Refusals, go, show
from apps.links.models import Till, TillItem
from apps.links.requests import smallest_cents
from apps.links.services.sales import SALE, SaleDiffers, discard_sale, start_sale
from apps.links.till_requests import NOTE_MAX, QUANTITY_MAX, SaleLine, SaleRequest
from apps.links.till_selectors import items_in, till_of

NAME_COOKIE = "till_name"
NAME_SECONDS = 365 * 24 * 3600
ITEM = "item-"


class OtherStore(Failure):
    kind = RefusalKind.CONFLICT
    code = "other_store"
    message = gettext_noop(
        "This sale belongs to another store or mode; switch back to it, or start a new sale"
    )


class SaleForm(Form):
    """A typed amount with its VAT rate, items by their quantities, and amounts that were added
    before, each `cents:rate`. `expected` is the sum that the device shows, in cents of
    `currency`."""

    names = ("amount", "vat", "note")
    hidden = (form_keys.NAME, "expected", "store", "mode", "currency")
    lists = ("line",)
    inputs = {"quantity": "amount"}
    labels = {
        "amount": gettext_noop("The amount"),
        "note": gettext_noop("The note"),
        "quantity": gettext_noop("The quantity"),
    }

    def request(
        self, till: Till, items: list[TillItem], quantities: dict[str, str], name: str
    ) -> SaleRequest:
        """Raises Invalid."""
        lines = [*_items_sold(items, quantities), *map(_added, self.chosen["line"])]
        typed = self.values["amount"]
        if typed:
            lines.append(self._typed(till))
        if not lines:
            raise Invalid("amount", "required")
        note = self.values["note"]
        if typed and len(lines) == 1 and note:
            lines = [
                SaleLine(
                    description=note,
                    unit_amount_cents=lines[0].unit_amount_cents,
                    vat_bps=lines[0].vat_bps,
                )
            ]
        expected = self.values["expected"]
        return SaleRequest(
            lines=lines,
            currency=till.currency,
            form_key=form_keys.of(self.values),
            note=note,
            till_name=name,
            offered_bps=till.tip_bps,
            expected_cents=whole_typed(expected, "amount") if expected else None,
            expected_currency=self.values["currency"],
        )

    def _typed(self, till: Till) -> SaleLine:
        choice = self.values["vat"]
        rates = {str(bps): bps for bps in till.vat_bps}
        if choice and choice not in rates:
            raise Invalid("vat", "choose_value")
        usual = till.vat_bps[0] if till.vat_bps else None
        return SaleLine(
            description=SALE,
            unit_amount_cents=cents_typed(self.values["amount"], "amount", till.currency),
            vat_bps=rates[choice] if choice else usual,
        )


def _items_sold(items: list[TillItem], quantities: dict[str, str]) -> list[SaleLine]:
    """Raises Invalid for an item that isn't sold any more."""
    known = {str(item.pk): item for item in items}
    wanted = {id: whole_typed(text, "quantity") for id, text in quantities.items() if text}
    if any(quantity and id not in known for id, quantity in wanted.items()):
        raise Invalid("amount", "choose_value")
    return [
        SaleLine(
            description=item.name,
            quantity=wanted[id],
            unit_amount_cents=item.price_cents,
            vat_bps=item.vat_bps,
        )
        for id, item in known.items()
        if wanted.get(id)
    ]


def _added(text: str) -> SaleLine:
    cents, _, rate = text.partition(":")
    return SaleLine(
        description=SALE,
        unit_amount_cents=whole_typed(cents, "amount"),
        vat_bps=whole_typed(rate, "vat") if rate else None,
    )


def index(request: PageRequest) -> HttpResponse:
    """The till; a POST charges a sale, once for each key."""
    store = request.access.store
    till = till_of(store)
    items = items_in(store, till.currency)
    if request.method == "GET":
        return _till(request, SaleForm(form_keys.new()), till, items)
    form = SaleForm.from_post(request.POST)
    sent = request.POST.items()
    quantities = {
        name.removeprefix(ITEM): str(text) for name, text in sent if name.startswith(ITEM)
    }
    try:
        _check_place(request, form)
        sale = start_sale(
            request.access, form.request(till, items, quantities, name_of(request, till))
        )
    except SaleDiffers as refusal:
        form.values |= form_keys.new()  # that of a sale that is done charges nothing any more
        return _till(request, form.refuse(refusal), till, items, quantities)
    except Refusals as refusal:
        return _till(request, form.refuse(refusal), till, items, quantities)
    return go("till_sale", sale.pk)


def _check_place(request: PageRequest, form: SaleForm) -> None:
    """A sale that waited for a connection isn't charged in the store or mode that somebody has
    switched to since. Raises OtherStore."""
    here = {"store": str(request.access.store_id), "mode": request.access.mode}
    if any(form.values[name] not in ("", value) for name, value in here.items()):
        raise OtherStore


def _till(
    request: PageRequest,
    form: SaleForm,
    till: Till,
    items: list[TillItem],
    quantities: dict[str, str] | None = None,
) -> HttpResponse:
    step = smallest_cents(till.currency)
    mark = get_decimal_symbol(own_locale())
    context = {
        "form": form,
        "errors": form.common_errors,
        "till": till,
        "till_name": name_of(request, till),
        "items": [(item, (quantities or {}).get(str(item.pk), "")) for item in items],
        "step": step,
        "keys": ("1", "2", "3", "4", "5", "6", "7", "8", "9", "00" if step > 1 else "mark", "0"),
        "mark": mark,
        "placeholder": "0" if step > 1 else f"0{mark}00",
        "locale": str(own_locale()).replace("_", "-"),
        "note_max": NOTE_MAX,
        "quantity_max": QUANTITY_MAX,
    }
    return show(request, "dashboard/till/till.html", context, status=form.status)


def name_of(request: PageRequest, till: Till) -> str:
    """Name of the till that this device is; empty when nobody has said so."""
    chosen = request.COOKIES.get(NAME_COOKIE, "")
    return next((name for name in till.names if _as_cookie(name) == chosen), "")


def _as_cookie(name: str) -> str:
    return quote(name, safe="")


def choose_name(request: PageRequest) -> HttpResponse:
    """This device is one of the store's tills from now on."""
    response = go("till")
    name = request.POST.get("name", "")
    if name not in till_of(request.access.store).names:
        return response
    response.set_cookie(
        NAME_COOKIE,
        _as_cookie(name),
        max_age=NAME_SECONDS,
        path="/dashboard/point-of-sale",
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return response


def discard(request: PageRequest) -> HttpResponse:
    """Cancels a sale that the device gave up before it knew whether it was charged, so that it
    isn't charged later. Answers scripts only."""
    form = SaleForm.from_post(request.POST)
    try:
        _check_place(request, form)
        discard_sale(request.access, form.values[form_keys.NAME])
    except Refusals as refusal:
        text = " ".join(sentences(refusal))
        return HttpResponse(text, status=status_of(refusal), content_type="text/plain")
    return HttpResponse(status=204)


def worker(request: HttpRequest) -> HttpResponse:
    """The script that keeps the till's page on the device."""
    return HttpResponse(
        _worker(),
        content_type="text/javascript; charset=utf-8",
        headers={"Service-Worker-Allowed": "/dashboard/point-of-sale"},
    )


@cache
def _worker() -> bytes:
    return (settings.BASE_DIR / "static" / "js" / "till_worker.js").read_bytes()
