"""The apps that were let into the store in the chosen mode; each can be let out."""

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.access.authorization import grants as oauth_grants
from apps.core import clock
from apps.dashboard.site.views import PageRequest, go, show


def index(request: PageRequest) -> HttpResponse:
    return show(
        request,
        "dashboard/oauth_grants/list.html",
        {"granted": oauth_grants.granted(request.access, clock.real_now())},
    )


def revoke(request: PageRequest, family: str) -> HttpResponse:
    at = clock.real_now()
    grant = oauth_grants.find(request.access, family, at)
    if request.method == "GET":
        return show(request, "dashboard/oauth_grants/revoke.html", {"grant": grant})
    oauth_grants.revoke(request.access, grant, at)
    messages.success(
        request, gettext("{name}’s access has been revoked.").format(name=grant.application.name)
    )
    return go("oauth_grants")
