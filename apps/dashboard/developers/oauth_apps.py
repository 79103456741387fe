"""The store's own OAuth apps, for both modes: made (the secret is on one answer only), changed, a
new secret, switched off."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.access import scopes
from apps.access.authorization import apps as oauth_apps
from apps.access.models import Application
from apps.access.requests import AppChanges, AppRequest
from apps.core import clock
from apps.core.messages.fields import Invalid
from apps.core.text.wording import translated_pairs
from apps.core.web.forms import Form
from apps.dashboard.developers.scope_words import groups_of
from apps.dashboard.site import confirming
from apps.dashboard.site.views import PageRequest, Refusals, find, go, sentences, show

# What the API's names don't say, for anyone who writes the app; merchants read theirs when they
# authorize it.
_OWN_SCOPES = {
    scopes.PROFILE: _("The name and email address of the person who authorizes the app"),
    scopes.AGENTS: (
        _("Agents that accept payments and send payouts, within that person’s own permissions")
    ),
    scopes.OFFLINE: _("Refresh tokens, to keep access while nobody is using the app"),
}


class AppForm(Form):
    """Form of an app; whether it is confidential is chosen once, when it is made."""

    names = ("name", "redirect_uris", "website_url", "logo_url", "kind", "scopes")
    is_literal = True
    lists = ("scopes",)
    labels = {
        "website_url": _("Website"),
        "logo_url": _("Logo URL"),
        "redirect_uris": _("Redirect URIs"),
    }

    @classmethod
    def of(cls, app: Application) -> "AppForm":
        typed = {
            "name": app.name,
            "website_url": app.website_url,
            "logo_url": app.logo_url,
            "redirect_uris": "\n".join(app.redirect_uris.split()),
        }
        return cls(typed, {"scopes": app.scopes})

    def request(self) -> AppRequest:
        """Raises Invalid."""
        return AppRequest.read({**self._sent(), "confidential": self.values["kind"] != "public"})

    def changes(self) -> AppChanges:
        """Raises Invalid."""
        return AppChanges.read(self._sent())

    def _sent(self) -> dict[str, object]:
        if not self.chosen["scopes"]:
            raise Invalid("scopes", "choose_scope")
        return {
            "name": self.values["name"],
            "website_url": self.values["website_url"] or None,
            "logo_url": self.values["logo_url"] or None,
            "redirect_uris": self.values["redirect_uris"].split(),
            "scopes": self.chosen["scopes"],
        }


def _rows(request: PageRequest) -> "QuerySet[Application]":
    rows: QuerySet[Application] = Application.objects.filter(
        store_id=request.access.store_id
    ).order_by("-is_active", "-created")
    return rows


def index(request: PageRequest) -> HttpResponse:
    return show(request, "dashboard/oauth_apps/list.html", {"apps": _rows(request)})


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, AppForm({}))
    form = AppForm.from_post(request.POST)
    try:
        app, secret = oauth_apps.create_app(
            request.access.store, request.person, form.request(), by=request.access
        )
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    return show(
        request,
        "dashboard/oauth_apps/secret.html",
        {"app": app, "secret": secret, "is_new": True},
        status=201,
    )


def edit(request: PageRequest, id: str) -> HttpResponse:
    app: Application = find(_rows(request), id)
    if request.method == "GET":
        return _form(request, AppForm.of(app), app)
    form = AppForm.from_post(request.POST)

    def change() -> None:
        oauth_apps.change_app(find(_rows(request), id), form.changes(), by=request.access)

    try:
        rows = [
            (gettext("App"), form.values["name"]),
            (gettext("Redirect URIs"), ", ".join(form.values["redirect_uris"].split())),
            (gettext("Scopes"), ", ".join(form.chosen["scopes"])),
        ]
        confirmation = confirming.ask_about_form(request, rows, change)
        if confirmation is not None:
            return confirmation
        change()
    except Refusals as refusal:
        return _form(request, form.refuse(refusal), find(_rows(request), id))
    messages.success(request, f"{form.values['name']} saved.")
    return go("oauth_app", app.pk)


def rotate(request: PageRequest, id: str) -> HttpResponse:
    app: Application = find(_rows(request).filter(is_active=True), id)
    if request.method == "GET":
        return show(request, "dashboard/oauth_apps/rotate.html", {"app": app})
    rows = [(gettext("App"), app.name)]
    try:
        confirmation = confirming.ask_about_form(
            request, rows, lambda: oauth_apps.rotate_secret(app, by=request.access)
        )
        if confirmation is not None:
            return confirmation
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
    messages.success(
        request, gettext("{name} deactivated. It can no longer be used.").format(name=app.name)
    )
    return go("oauth_apps")


def _form(request: PageRequest, form: Form, app: Application | None = None) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "app": app,
        "groups": groups_of(scopes.ALL),
        "own_scopes": translated_pairs(_OWN_SCOPES.items()),
    }
    return show(request, "dashboard/oauth_apps/form.html", context, status=form.status)
