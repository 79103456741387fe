"""The store's settings, shared by both modes but for its assets: checkout and fees, accepted assets, branding, its domain.

Everybody in the store sees them; changing them takes the permission that the table of pages names.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse

from apps.assets import selectors
from apps.assets.services import set_accepted
from apps.core import clock, money
from apps.core.errors import Flat, NotFound
from apps.core.web import status_of
from apps.dashboard.plumbing import PageRequest, Refusals, go, sentences, show
from apps.stores import branding as looks
from apps.stores import domains, services
from apps.stores.models import Currency, Store

_SWITCHES = ("customer_pays_fee", "accept_overpayments", "accept_underpayments")
_LOOKS = ("brand_name", "primary_color", "secondary_color")
# Below this a colour is hard to tell from the white of a page.
CONTRAST_MIN = 3.0


def checkout(request: PageRequest) -> HttpResponse:
    store = request.access.store
    if request.method == "GET":
        given = {name: getattr(store, name) for name in (*_SWITCHES, "settlement_currency", "support_email")}
        return _checkout_form(request, given, [])
    texts = {name: request.POST.get(name, "").strip() for name in ("settlement_currency", "support_email")}
    switches = {name: request.POST.get(name) == "on" for name in _SWITCHES}
    try:
        services.change_checkout(store, **texts, **switches)  # type: ignore[arg-type]  # the names say which are texts
    except Refusals as refusal:
        return _checkout_form(request, {**texts, **switches}, sentences(refusal), status_of(refusal))
    messages.success(request, "Saved. Payments made from now on follow these settings.")
    return go("settings")


def _checkout_form(request: PageRequest, given: dict[str, Any], errors: list[str], status: int = 200) -> HttpResponse:
    store = request.access.store
    context = {
        "given": given,
        "errors": errors,
        "currencies": Currency.choices,
        "fee_percentage": money.percentage_text(store.fee_fraction),
        "underpayment_tolerance": money.percentage_from_bps(store.underpayment_tolerance_bps),
        "overpayment_tolerance": money.percentage_from_bps(store.overpayment_tolerance_bps),
    }
    return show(request, "dashboard/settings/checkout.html", context, status=status)


def assets(request: PageRequest) -> HttpResponse:
    """The coins of the chosen mode, each taken or not."""
    access = request.access
    if request.method == "POST":
        chosen = next((one for one in selectors.listed_assets(access.mode) if one.pk == request.POST.get("asset_id")), None)
        if chosen is None:
            raise NotFound
        try:
            set_accepted(access, chosen.pk, request.POST.get("to") == "accepted")
        except Flat as refusal:
            return _assets_page(request, sentences(refusal), status_of(refusal))
        return go("settings_assets")
    return _assets_page(request, [])


def _assets_page(request: PageRequest, errors: list[str], status: int = 200) -> HttpResponse:
    access = request.access
    accepted = {one.pk for one in selectors.accepted_assets(access.store_id, access.mode)}
    rows = [(one, one.pk in accepted) for one in selectors.listed_assets(access.mode)]
    return show(request, "dashboard/settings/assets.html", {"rows": rows, "errors": errors}, status=status)


def branding(request: PageRequest) -> HttpResponse:
    store = request.access.store
    if request.method == "GET":
        return _branding_form(request, {name: getattr(store, name) for name in _LOOKS}, [])
    given = {name: request.POST.get(name, "").strip() for name in _LOOKS}
    try:
        looks.change_branding(store, **given)
    except Refusals as refusal:
        return _branding_form(request, given, sentences(refusal), status_of(refusal))
    messages.success(request, "Saved. Your checkout looks like this from now on.")
    return go("settings_branding")


def logo(request: PageRequest) -> HttpResponse:
    """Another logo, or none."""
    store, uploaded = request.access.store, request.FILES.get("logo")
    given = {name: getattr(store, name) for name in _LOOKS}
    try:
        if request.POST.get("to") == "removed":
            looks.remove_logo(store)
        elif uploaded is None:
            raise looks.NotAPicture
        elif (uploaded.size or 0) > looks.LOGO_BYTES_MAX:
            raise looks.LogoTooLarge
        else:
            looks.set_logo(store, uploaded.read())
    except Refusals as refusal:
        return _branding_form(request, given, sentences(refusal), status_of(refusal))
    messages.success(request, "The logo has been changed.")
    return go("settings_branding")


def domain(request: PageRequest) -> HttpResponse:
    """The checkout's own domain: what to put into the DNS, and what was found there. A POST looks again, or takes the domain off."""
    store = request.access.store
    if request.method == "POST" and store.checkout_domain:
        if request.POST.get("to") == "removed":
            domains.set_domain(store, "")
            messages.success(request, "The domain has been removed. Payment links lead to our own address again.")
        elif domains.may_check(store, clock.real_now()):
            domains.check_domain(store, clock.real_now())
        else:
            messages.error(request, "We have just looked. Wait a minute before you ask again.")
        return go("settings_domain")
    name, text = domains.proof(store)
    context = {"store": store, "proof_name": name, "proof_text": text, "our_host": domains.our_host()}
    if store.checkout_domain:
        context["example"] = f"{domains.base_url(store.checkout_domain)}/…"
    return show(request, "dashboard/settings/domain.html", context)


def change_domain(request: PageRequest) -> HttpResponse:
    store = request.access.store
    given = request.POST.get("domain", "")
    if request.method == "GET":
        return show(request, "dashboard/settings/change_domain.html", {"given": store.checkout_domain, "errors": []})
    try:
        domains.set_domain(store, given)
    except Refusals as refusal:
        context = {"given": given, "errors": sentences(refusal)}
        return show(request, "dashboard/settings/change_domain.html", context, status=status_of(refusal))
    return go("settings_domain")


def _branding_form(request: PageRequest, given: dict[str, str], errors: list[str], status: int = 200) -> HttpResponse:
    context = {"given": given, "errors": errors, "legibility": _legibility(request.access.store)}
    return show(request, "dashboard/settings/branding.html", context, status=status)


def _legibility(store: Store) -> dict[str, Any] | None:
    """How the main colour reads: what is written on it, and whether it stands out from white."""
    ground = looks.colour(store.primary_color)
    if not ground:
        return None
    ink = looks.ink_on(ground)
    return {
        "ink": "black" if ink == "#000000" else "white",
        "contrast": f"{looks.contrast(ink, ground):.1f}",
        "is_faint": looks.contrast(ground, looks.WHITE) < CONTRAST_MIN,
    }
