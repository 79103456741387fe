"""Turning the API of BTCPay Server on or off, and what a plugin asks for in its settings."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.access.compatible_apis import change_compatible_apis
from apps.dashboard.site.views import PageRequest, Refusals, go, sentences, show
from apps.stores import roles


def switch(request: PageRequest) -> HttpResponse:
    """A POST sends `state`: `on`, or anything else."""
    if request.method == "POST":
        is_on = request.POST.get("state") == "on"
        try:
            change_compatible_apis(request.access, is_on=is_on)
        except Refusals as refusal:
            messages.error(request, " ".join(sentences(refusal)))
        else:
            told = gettext("The API is on.") if is_on else gettext("The API is off.")
            messages.success(request, told)
        return go("settings_btcpay")
    context = {
        "is_on": request.access.store.has_compatible_apis,
        "btcpay_url": f"{settings.API_URL}/compat/btcpay",
        "bitpay_url": f"{settings.API_URL}/compat/bitpay",
        "store_id": request.access.store_id,
        "may_change": roles.may(request.member.role, roles.OWN),
    }
    return show(request, "dashboard/settings/btcpay_api.html", context)
