"""The store's own OAuth apps, for both modes: made (the secret is on one answer only), changed, a new secret, switched off."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse

from apps.access import oauth_apps, scopes
from apps.access.models import Application
from apps.access.requests import AppChanges, AppRequest
from apps.core import clock
from apps.core.literal import Invalid, List, Text, Url
from apps.core.web import status_of
from apps.dashboard.oauth import MEANINGS
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, sentences, show

_NAME, _LINK = Text(100, required=True, shortest=1, trim=True), Url()
_ADDRESSES = List(Url(plain_http="localhost"), 10, required=True)


def _rows(request: PageRequest) -> "QuerySet[Application]":
    rows: QuerySet[Application] = Application.objects.filter(store_id=request.access.store_id).order_by("-is_active", "-created")
    return rows


def index(request: PageRequest) -> HttpResponse:
    return show(request, "dashboard/oauth_apps/list.html", {"apps": _rows(request)})


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, {"name": "", "redirect_uris": "", "scopes": [], "kind": "confidential"}, [])
    given = _given(request)
    try:
        fields = _fields(given)
        wanted = AppRequest(**fields, confidential=given["kind"] != "public")
        app, secret = oauth_apps.create_app(request.access.store, request.person, wanted, by=request.access)
    except Refusals as refusal:
        return _form(request, given, sentences(refusal), status_of(refusal))
    return show(request, "dashboard/oauth_apps/secret.html", {"app": app, "secret": secret, "is_new": True}, status=201)


def edit(request: PageRequest, id: str) -> HttpResponse:
    app: Application = find(_rows(request), id)
    if request.method == "GET":
        held = {
            "name": app.name,
            "website_url": app.website_url,
            "logo_url": app.logo_url,
            "redirect_uris": "\n".join(app.redirect_uris.split()),
            "scopes": app.scopes,
        }
        return _form(request, held, [], app=app)
    given = _given(request)
    try:
        oauth_apps.change_app(app, AppChanges(**_fields(given)), by=request.access)
    except Refusals as refusal:
        return _form(request, given, sentences(refusal), status_of(refusal), app=find(_rows(request), id))
    messages.success(request, f"{app.name} has been changed.")
    return go("oauth_app", app.pk)


def rotate(request: PageRequest, id: str) -> HttpResponse:
    app: Application = find(_rows(request).filter(is_active=True), id)
    if request.method == "GET":
        return show(request, "dashboard/oauth_apps/rotate.html", {"app": app})
    try:
        secret = oauth_apps.rotate_secret(app, by=request.access)
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
        return go("oauth_app", app.pk)
    return show(request, "dashboard/oauth_apps/secret.html", {"app": app, "secret": secret})


def deactivate(request: PageRequest, id: str) -> HttpResponse:
    app: Application = find(_rows(request).filter(is_active=True), id)
    if request.method == "GET":
        return show(request, "dashboard/oauth_apps/deactivate.html", {"app": app})
    oauth_apps.deactivate_app(app, clock.real_now(), by=request.access)
    messages.success(request, f"{app.name} is switched off. Nobody can use it any more.")
    return go("oauth_apps")


def _given(request: PageRequest) -> dict[str, Any]:
    names = ("name", "website_url", "logo_url", "redirect_uris", "kind")
    return {**{name: request.POST.get(name, "") for name in names}, "scopes": request.POST.getlist("scopes")}


def _fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the form says, checked as the API checks it. Raises Invalid."""
    links = {
        name: _LINK.check(given[name].strip(), label) if given[name].strip() else None
        for name, label in (("website_url", "Website"), ("logo_url", "Logo"))
    }
    if not given["scopes"]:
        raise Invalid("scopes", "choose_scope")
    return {
        "name": _NAME.check(given["name"], "name"),
        "redirect_uris": _ADDRESSES.check(given["redirect_uris"].split(), "Redirect addresses"),
        "scopes": list(given["scopes"]),
        **links,
    }


def _form(
    request: PageRequest, given: Mapping[str, Any], errors: list[str], status: int = 200, *, app: Application | None = None
) -> HttpResponse:
    context = {
        "given": given,
        "errors": errors,
        "app": app,
        "scopes": scopes.ALL,
        "own_scopes": [(scope, MEANINGS[scope]) for scope in (scopes.PROFILE, scopes.AGENTS, scopes.OFFLINE)],
    }
    return show(request, "dashboard/oauth_apps/form.html", context, status=status)
