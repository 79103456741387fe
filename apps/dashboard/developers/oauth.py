"""The consent page: which app asks for what, in which mode, and for which of the person's stores.

Nobody is redirected to an address that the app has not registered.
"""

from urllib.parse import urlsplit

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext

from apps.access.authorization import server as oauth
from apps.core.errors import Failure
from apps.core.redis import buckets
from apps.core.text.wording import translated
from apps.core.web.middleware import client_address
from apps.core.web.refusals import status_of
from apps.dashboard.developers.scope_words import meaning_of
from apps.dashboard.site import confirming
from apps.dashboard.site.views import SIGNED_IN, Page, PageRequest, sentences, view_of


def consent(request: PageRequest) -> HttpResponse:
    limited = _take_token(request)
    if limited is not None:
        return limited
    query = request.META.get("QUERY_STRING", "")
    errors = []
    status = 200
    try:
        query_read = oauth.ask(query)
        if request.method == "POST":
            question = _question(request, query, query_read)
            return question if question is not None else _leave(_decide(request, query))
    except oauth.Redirected as refusal:
        return _leave(refusal.redirect_to)
    except oauth.OAuthFailure as refusal:
        return _refused(request, refusal)
    except Failure as refusal:
        errors = sentences(refusal)
        status = status_of(refusal)
    stores = oauth.stores_for(request.person, query_read.scopes)
    context = {
        "authorization": query_read,
        "errors": errors,
        "scopes": [(scope, meaning_of(scope)) for scope in query_read.scopes],
        "stores": stores,
        "chosen": request.access.store_id if hasattr(request, "access") else None,
        "host": urlsplit(query_read.redirect_uri).netloc,
        "may_allow": bool(stores) or not query_read.needs_store,
    }
    response = render(request, "dashboard/oauth/consent.html", context, status=status)
    return _let_away(response, query_read)


def _decide(request: PageRequest, query: str) -> str:
    chosen = request.POST.get("store_id", ""), request.POST.get("decision", "")
    return oauth.decide(request.person, query, *chosen, proof=confirming.proof_of(request))


def _question(request: PageRequest, query: str, consent: oauth.Consent) -> HttpResponse | None:
    """The code for letting this app in, with these permissions, to this store; denying takes
    none."""
    if request.POST.get("decision") != "allow":
        return None
    store_id = request.POST.get("store_id", "")
    stores = oauth.stores_for(request.person, consent.scopes)
    rows = [
        (gettext("App"), consent.application.name),
        (gettext("Store"), next((store.name for store in stores if str(store.pk) == store_id), "")),
        (gettext("Mode"), translated(consent.mode).capitalize()),
        (gettext("Permissions"), ", ".join(meaning_of(scope) for scope in consent.scopes)),
        (gettext("Redirects to"), urlsplit(consent.redirect_uri).netloc),
    ]
    question = confirming.ask_about_form(
        request, rows, lambda: _decide(request, query), back=request.get_full_path()
    )
    return question if question is None else _let_away(question, consent)


def _let_away(response: HttpResponse, consent: oauth.Consent) -> HttpResponse:
    """The page may send its form on to the app."""
    parts = urlsplit(consent.redirect_uri)
    # Browsers hold the redirect after a form to the policy of its page, in which an IPv6 address
    # can't be named: there the scheme is named instead.
    target = f"{parts.scheme}:" if "[" in parts.netloc else f"{parts.scheme}://{parts.netloc}"
    response._csp_update = {"form-action": [target]}  # type: ignore[attr-defined]  # read by the policy's middleware
    return response


def _leave(address: str) -> HttpResponse:
    return HttpResponseRedirect(address, status=303)


def _refused(request: PageRequest, refusal: oauth.OAuthFailure) -> HttpResponse:
    return render(
        request, "dashboard/oauth/refused.html", {"errors": sentences(refusal)}, status=400
    )


def _take_token(request: PageRequest) -> HttpResponse | None:
    try:
        reading = buckets.take("oauth_authorize", "live", client_address(request))
    except buckets.Unavailable:
        return None
    if not reading.is_limited:
        return None
    response = render(
        request, "dashboard/too_fast.html", {"seconds": reading.retry_after_seconds}, status=429
    )
    for name, value in reading.headers().items():
        response[name] = value
    return response


consent_page = view_of(
    Page(
        "oauth/authorize", "oauth_consent", consent, SIGNED_IN, methods=("GET", "POST"), is_act=True
    )
)
