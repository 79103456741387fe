"""Shared parts of public pages: limits, headers, permitted frames, and the record behind a link.

The link is the only key. Nothing is stored by caches or sent to other sites as the referrer.
"""

import re
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol
from urllib.parse import urlsplit

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from apps.core.documents import drawings
from apps.core.redis import buckets
from apps.core.web.middleware import client_address
from apps.hosted.domains import store_of
from apps.payments.models import Payment
from apps.payments.selectors import by_reference
from apps.payments.services.expire import expire_if_due
from apps.stores.models import Store

Page = Callable[..., HttpResponse]
Context = dict[str, object]  # what a template is rendered with: values of every kind
# The form of an Origin header. Anything else could smuggle a directive into the policy.
_ORIGIN = re.compile(r"https?://[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[0-9]{1,5})?", re.ASCII)
LOCAL_HOSTS = ("localhost", "127.0.0.1")


class RowOfStore(Protocol):
    """A row that a public link names."""

    store_id: uuid.UUID


def public_page(
    policy: str, *, renders: str = "", find: Callable[[str], RowOfStore | None] = by_reference
) -> Callable[[Page], Page]:
    """A page behind an unguessable link, limited per link and, far higher, per address of the
    client.

    What `renders` a file also takes from the link's bucket of that policy. `find` has the row whose
    store the page is of.
    """

    def decorate(view: Page) -> Page:
        @wraps(view)
        def guarded(request: HttpRequest, reference: str, **arguments: Any) -> HttpResponse:
            response = _limited(request, policy, reference, renders)
            if response is None:
                _check_domain(request, reference, find)
                response = (
                    _rendered(request, view, renders, reference, arguments)
                    if renders
                    else view(request, reference, **arguments)
                )
            _keep_private(response)
            return response

        return guarded

    return decorate


def _keep_private(response: HttpResponse) -> None:
    """Unless the view has said otherwise."""
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.setdefault("Referrer-Policy", "no-referrer")
    response.headers.setdefault("X-Robots-Tag", "noindex")


def missing_in_frame(view: Page) -> Page:
    """Answers a missing record inside its frame, so that the page around it hears at once."""

    @wraps(view)
    def answered(request: HttpRequest, reference: str, **arguments: Any) -> HttpResponse:
        try:
            return view(request, reference, **arguments)
        except Http404:
            framing = Framing.of_nothing(request)
            if not framing.origin:
                raise
        response = render(request, "hosted/missing.html", {"framing": framing}, status=404)
        _keep_private(response)
        return framing.apply(response)

    return answered


def _check_domain(
    request: HttpRequest, reference: str, find: Callable[[str], RowOfStore | None]
) -> None:
    """At a store's own domain there is nothing of another store."""
    store_id = store_of(request)
    if store_id is None:
        return
    row = find(reference)
    if row is None or row.store_id != store_id:
        raise Http404


def _limited(
    request: HttpRequest, policy: str, reference: str, renders: str
) -> HttpResponse | None:
    """The refusal when a bucket is empty. Without Redis customers are let through."""
    try:
        readings = [
            buckets.take(policy, "live", reference),
            buckets.take(f"{policy}_address", "live", client_address(request)),
        ]
        if renders and not any(reading.is_limited for reading in readings):
            readings.append(buckets.take(renders, "live", reference))
    except buckets.Unavailable:
        return None
    empty = next((reading for reading in readings if reading.is_limited), None)
    return None if empty is None else _too_fast(request, empty)


def _rendered(
    request: HttpRequest, view: Page, policy: str, reference: str, arguments: dict[str, str]
) -> HttpResponse:
    """A file, which takes more of the bucket when it has to be drawn."""
    try:
        with drawings.charged_to(policy, "live", reference):
            return view(request, reference, **arguments)
    except drawings.TooManyDrawings as refusal:
        return _too_fast(request, refusal.taken)


def _too_fast(request: HttpRequest, reading: buckets.Allowance) -> HttpResponse:
    refusal = render(request, "429.html", status=429)
    for name, value in reading.headers().items():
        refusal[name] = value
    return refusal


def is_too_often(request: HttpRequest, reference: str, budgets: Iterable[tuple[str, bool]]) -> bool:
    """Take a token of each (policy, whether it is counted per address too); the API counts the same
    buckets."""
    return _first_empty(request, reference, budgets) is not None


def refused_if_too_often(
    request: HttpRequest, reference: str, budgets: Iterable[tuple[str, bool]]
) -> HttpResponse | None:
    """Refusal of too many requests, as a page."""
    empty = _first_empty(request, reference, budgets)
    return None if empty is None else _too_fast(request, empty)


def _first_empty(
    request: HttpRequest, reference: str, budgets: Iterable[tuple[str, bool]]
) -> buckets.Allowance | None:
    try:
        for policy, is_by_address in budgets:
            bucket = f"{reference}:{client_address(request)}" if is_by_address else reference
            reading = buckets.take(policy, "live", bucket)
            if reading.is_limited:
                return reading
    except buckets.Unavailable:
        return None
    return None


def payment_of(reference: str) -> Payment:
    """The intent behind the link, expired first when its time is past; 404 otherwise."""
    payment = by_reference(reference)
    if payment is None:
        raise Http404
    return expire_if_due(payment)


@dataclass(frozen=True)
class Framing:
    """The surrounding page's origin, if the page is in a frame: `origin` is empty when it isn't."""

    origin: str

    @classmethod
    def asked_by(cls, request: HttpRequest, store: Store) -> "Framing":
        """A page asked for with embed=1 and a well-formed origin, of those that the store lists if
        it lists any."""
        origin = request.GET.get("origin", "")
        is_asked = request.GET.get("embed") == "1" and _ORIGIN.fullmatch(origin) is not None
        is_listed = not store.embed_origins or origin in store.embed_origins
        return cls(origin if is_asked and is_listed else "")

    @classmethod
    def of_nothing(cls, request: HttpRequest) -> "Framing":
        """Framing of a page without a payment, which holds no data: any site over TLS, or a
        developer's own, may show it."""
        origin = request.GET.get("origin", "")
        is_asked = request.GET.get("embed") == "1" and _ORIGIN.fullmatch(origin) is not None
        is_own = origin.startswith("https://") or urlsplit(origin).hostname in LOCAL_HOSTS
        return cls(origin if is_asked and is_own else "")

    def apply(self, response: HttpResponse) -> HttpResponse:
        """Let that one origin frame the answer. Unasked, nobody may: the settings say so."""
        if self.origin:
            response._csp_replace = {"frame-ancestors": [self.origin]}  # type: ignore[attr-defined]  # read by the policy's middleware
            response.xframe_options_exempt = True  # read by Django's middleware
        return response


def query_with(query: QueryDict, **changes: str) -> str:
    """The page's own query with some values changed, to be put behind `?`."""
    changed = query.copy()
    for name, value in changes.items():
        changed[name] = value
    return changed.urlencode()


def framed_query(request: HttpRequest) -> str:
    """Query that hands the surrounding page's origin to the next path."""
    query = QueryDict(mutable=True)
    for name in ("embed", "origin", "lang"):
        if name in request.GET:
            query[name] = request.GET[name][:300]
    return f"?{query.urlencode()}" if query else ""


def host_shown(url: str | None) -> str:
    """The host of a link as it really is: an internationalised name in its ASCII form, so that it
    can't pose as another."""
    host = urlsplit(url or "").hostname or ""
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return ""


def picture(url: str | None) -> str | None:
    """The address of a picture that the page may show: over TLS, or our own, which is asked of
    whichever host the page is on."""
    if url and url.startswith(f"{settings.PUBLIC_URL}/"):
        return url.removeprefix(settings.PUBLIC_URL)
    return url if url and url.startswith("https://") else None
