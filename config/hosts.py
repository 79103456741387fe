"""The API, the dashboard and the staff site can each have a host of their own, and the staff site
networks that may ask for it.

A path asked for at the host of another is not there: 404. What an operator's machines ask and the
pages' files are everywhere.
"""

import ipaddress
from collections.abc import Callable

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.request import split_domain_port
from django.urls import reverse

from apps.core.web.homes import HOMES
from apps.core.web.middleware import exact_address
from apps.docs import front as front_page


class OwnHosts:
    """Behind the checkout domains of stores, which serve nothing else anyway."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not hasattr(request, "checkout_store_id") and not (
            _is_home(request) and _is_let_in(request)
        ):
            raise Http404
        return self.get_response(request)


def _is_home(request: HttpRequest) -> bool:
    bound = {settings.API_HOST, settings.DASHBOARD_HOST, settings.ADMIN_HOST} - {""}
    if not bound or request.path == "/":
        return True
    host, _ = split_domain_port(request.get_host())
    names = next((homes for begins, homes in HOMES if request.path.startswith(begins)), ("",))
    homes = {getattr(settings, name) if name else "" for name in names}
    is_common = host not in bound or host == settings.PUBLIC_HOST
    return host in homes or ("" in homes and is_common)


def _is_let_in(request: HttpRequest) -> bool:
    """True if the staff site may be asked for from where this comes."""
    if not settings.ADMIN_NETWORKS or not request.path.startswith("/admin"):
        return True
    address = exact_address(request)
    if not address:
        return False
    client = ipaddress.ip_address(address)
    return any(client in ipaddress.ip_network(network) for network in settings.ADMIN_NETWORKS)


def _is_public(request: HttpRequest) -> bool:
    host, _ = split_domain_port(request.get_host())
    others = {settings.API_HOST, settings.DASHBOARD_HOST, settings.ADMIN_HOST}
    return host == settings.PUBLIC_HOST or host not in others


def front(request: HttpRequest) -> HttpResponse:
    """To strangers what the service is; who is signed in, and the bare address of another host than
    the public one, goes on to the dashboard, wherever that is."""
    if settings.FRONT_PAGE and _is_public(request) and not request.user.is_authenticated:
        return front_page.show(request)
    return HttpResponseRedirect(
        (settings.DASHBOARD_URL if settings.DASHBOARD_HOST else "") + reverse("dashboard:home")
    )
