"""Settings of taxes: the store's own rate, the usual case, and the rates to choose from."""

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.billing import selectors
from apps.billing.e_invoices.fa3 import POLAND
from apps.billing.invoices.seller_buyer import in_country_of_seller
from apps.billing.models import SupplyType, TaxRate
from apps.billing.requests import TaxRateChanges, TaxRateRequest, TaxSettingsChanges
from apps.billing.services import tax_rates
from apps.billing.taxes.choosing import settings_of
from apps.dashboard.billing.forms import RATES_MAX, BillingForm, percent_bps
from apps.dashboard.billing.tax_words import SUPPLIES, categories
from apps.dashboard.site import form_keys
from apps.dashboard.site.views import PageRequest, Refusals, find, go, show
from apps.stores import roles

_CHECKS = ("is_automatic", "is_small_business", "charges_abroad")


class TaxSettingsForm(BillingForm):
    names = ("tax_rate_id", "supply_type", "ksef_token", *_CHECKS)

    def changes(self) -> TaxSettingsChanges:
        """Raises Invalid. A token that isn't written anew stays."""
        token = self.values["ksef_token"]
        return TaxSettingsChanges.read(
            {
                **({"ksef_token": token} if token else {}),
                **self.filled("tax_rate_id"),
                "supply_type": self.values["supply_type"] or SupplyType.SERVICE.value,
                **{name: self.values[name] == "on" for name in _CHECKS},
            }
        )


class TaxRateForm(BillingForm):
    names = ("name", "category", "rate", "inclusive", "reason", "reason_code")
    hidden = (form_keys.NAME,)
    inputs = {"rate_bps": "rate"}

    def request(self) -> TaxRateRequest:
        """Raises Invalid."""
        return TaxRateRequest.read(
            {
                **self.filled("name", "reason", "reason_code"),
                "category": self.values["category"],
                "rate_bps": percent_bps(self.values["rate"] or "0", "rate"),
                "inclusive": self.values["inclusive"] == "on",
            }
        )


def settings(request: PageRequest) -> HttpResponse:
    access = request.access
    if request.method == "GET":
        row = settings_of(access.store, access.mode)
        typed = {
            "tax_rate_id": str(row.tax_rate_id or ""),
            "supply_type": row.supply_type,
            **{name: "on" if getattr(row, name) else "" for name in _CHECKS},
        }
        return _page(request, TaxSettingsForm(typed))
    if "forget_ksef_token" in request.POST:
        tax_rates.change_settings(access, TaxSettingsChanges.read({"ksef_token": None}))
        messages.success(request, gettext("The KSeF token was removed."))
        return go("settings_taxes")
    if "switch" in request.POST:
        return _switch_rate(request, request.POST["switch"])
    form = TaxSettingsForm(request.POST.dict())
    try:
        tax_rates.change_settings(access, form.changes())
    except Refusals as refusal:
        return _page(request, form.refuse(refusal))
    messages.success(request, gettext("Taxes saved. Drafts show them when they are next saved."))
    return go("settings_taxes")


def _page(request: PageRequest, form: TaxSettingsForm) -> HttpResponse:
    rows = list(selectors.tax_rates_visible_to(request.access)[:RATES_MAX])
    access = request.access
    context = {
        "form": form,
        "errors": form.common_errors,
        "is_in_poland": in_country_of_seller(access.store, POLAND),
        "has_ksef_token": bool(settings_of(access.store, access.mode).sealed_ksef_token),
        "rates": rows,
        "choices": [
            (str(rate.pk), str(rate))
            for rate in rows
            if rate.active or str(rate.pk) == form.values["tax_rate_id"]
        ],
        "supplies": [(value, gettext(label)) for value, label in SUPPLIES.items()],
        "may_change": roles.may(request.member.role, roles.MANAGE),
    }
    return show(request, "dashboard/settings/taxes.html", context, status=form.status)


def create_rate(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _rate_page(request, TaxRateForm({"category": "S", **form_keys.new()}))
    form = TaxRateForm(request.POST.dict())
    try:
        key = form_keys.of(form.values)
        tax_rates.create_rate(request.access, form.request(), form_key=key)
    except Refusals as refusal:
        return _rate_page(request, form.refuse(refusal))
    messages.success(request, gettext("Tax rate added."))
    return go("settings_taxes")


def _rate_page(request: PageRequest, form: TaxRateForm) -> HttpResponse:
    context = {"form": form, "errors": form.common_errors, "categories": categories()}
    return show(request, "dashboard/settings/tax_rate.html", context, status=form.status)


def _switch_rate(request: PageRequest, id: str) -> HttpResponse:
    """Offered where rates are chosen, or not any more."""
    rate: TaxRate = find(selectors.tax_rates_visible_to(request.access), id)
    changes = TaxRateChanges.read({"active": not rate.active})
    tax_rates.update_rate(request.access, rate, changes)
    return go("settings_taxes")
