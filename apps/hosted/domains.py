"""Stores' own checkout domains: a request for one is answered with that store's checkout and
nothing else of the site.

What ALLOWED_HOSTS doesn't name and no store has proved is refused by Django as ever.
"""

import uuid
from collections.abc import Callable
from typing import cast

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import split_domain_port, validate_host
from django.views.decorators.http import require_safe

from apps.stores import domains

URLS = "apps.hosted.domain_urls"


class CheckoutDomain:
    """Before anything that asks for the host. The store is looked up with each request, so that a
    domain stops at once."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        raw = request._get_raw_host()  # type: ignore[attr-defined]  # what get_host itself begins with
        host, _ = split_domain_port(raw)
        if host and not validate_host(host, settings.ALLOWED_HOSTS):
            store_id = domains.store_served_at(host)
            if store_id is not None:
                request.checkout_store_id = store_id  # type: ignore[attr-defined]  # read by store_of
                request.urlconf = URLS
                request.get_host = lambda: raw  # type: ignore[method-assign]  # it has been checked
        return self.get_response(request)


def store_of(request: HttpRequest) -> uuid.UUID | None:
    """Store of the requested checkout domain; None at the service's own host."""
    return cast(uuid.UUID | None, getattr(request, "checkout_store_id", None))


@require_safe
def is_allowed(request: HttpRequest) -> HttpResponse:
    """Answer to a proxy that wants a certificate for a name: 200 for a host of ours or a served
    domain, else 404."""
    if "X-Forwarded-For" in request.headers and settings.TRUSTED_PROXY_HOPS:
        raise Http404  # it came through the proxy, which asks by itself
    domain = request.GET.get("domain", "")[:253]
    is_name = domain.isascii() and "\x00" not in domain
    is_served = is_name and (
        domain in settings.OWN_HOSTS or domains.store_served_at(domain) is not None
    )
    return HttpResponse(status=200 if is_served else 404, headers={"Cache-Control": "no-store"})
