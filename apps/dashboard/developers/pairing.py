"""Approving a client that asks to be paired, as BitPay's do: it becomes an API key of the chosen
mode."""

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from apps.access import pairing
from apps.access.models import ApiKey
from apps.core.web.refusals import status_of
from apps.dashboard.site import confirming
from apps.dashboard.site.views import PageRequest, Refusals, go, sentences, show


def pair(request: PageRequest) -> HttpResponse:
    """The code is in the address, for the POST as well."""
    try:
        asked = pairing.read(request.GET.get("code", ""))
    except pairing.PairingOver as refusal:
        return show(request, _TEMPLATE, {"errors": sentences(refusal)}, status=status_of(refusal))
    scopes = pairing.scopes_for(request.access)
    if request.method == "GET":
        return _page(request, asked, scopes, None)

    def make() -> ApiKey:
        return pairing.approve(request.access, asked)

    try:
        rows = [
            (gettext("Name"), asked.name),
            (gettext("Client ID"), asked.client_id),
            (gettext("Scopes"), ", ".join(scopes)),
        ]
        confirmation = confirming.ask_about_form(
            request, rows, make, back=reverse("dashboard:keys")
        )
        if confirmation is not None:
            return confirmation
        key = make()
    except Refusals as refusal:
        return _page(request, asked, scopes, refusal)
    messages.success(request, gettext("{name} is connected.").format(name=key.name))
    return go("keys")


_TEMPLATE = "dashboard/keys/pair.html"


def _page(
    request: PageRequest, asked: pairing.Pairing, scopes: list[str], refusal: Exception | None
) -> HttpResponse:
    context = {
        "client": asked,
        "scopes": scopes,
        "is_on": request.access.store.has_compatible_apis,
        "errors": sentences(refusal) if refusal is not None else [],
    }
    return show(request, _TEMPLATE, context, status=status_of(refusal))
