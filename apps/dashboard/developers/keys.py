"""API keys of the chosen mode: listed, made (the secret is on one answer only) and revoked."""

from typing import Self

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from apps.access import makers, services
from apps.access.access import Access
from apps.access.models import ApiKey, KeyType
from apps.core import clock
from apps.core.messages.fields import Invalid, Text
from apps.core.web.forms import Form
from apps.core.web.refusals import status_of
from apps.dashboard.developers.scope_words import first_scopes, full_access, scope_groups
from apps.dashboard.go_live_steps import curl
from apps.dashboard.site import confirming
from apps.dashboard.site.views import PageRequest, Refusals, find, go, sentences, show

FULL = "full"
CHOSEN = "chosen"
_NAME = Text(100, required=True, shortest=1, trim=True)


class KeyForm(Form):
    names = ("name", "key_type", "access", "scopes")
    is_literal = True
    lists = ("scopes",)

    @classmethod
    def first(cls, access: Access) -> Self:
        """With full access chosen in test mode, and what the store's sales need in live mode."""
        chosen = CHOSEN if access.is_live else FULL
        typed = {"key_type": KeyType.SECRET, "access": chosen}
        return cls(typed, {"scopes": first_scopes(access)})

    @property
    def name(self) -> str:
        """Raises Invalid."""
        return str(_NAME.check(self.values["name"], "name"))

    def scopes(self, access: Access) -> list[str]:
        """Those of a secret key: all that the person may give, or each that is ticked. Raises
        Invalid."""
        if self.values["key_type"] != KeyType.SECRET:
            return []
        if self.values["access"] == FULL:
            return full_access(access)
        if not self.chosen["scopes"]:
            raise Invalid("scopes", "choose_scope")
        return self.chosen["scopes"]


def _rows(request: PageRequest) -> "QuerySet[ApiKey]":
    rows: QuerySet[ApiKey] = (
        ApiKey.objects.visible_to(request.access).filter(revoked_at=None).order_by("-created_at")
    )
    return rows


def index(request: PageRequest) -> HttpResponse:
    rows = list(_rows(request))
    lost = makers.lost_by(rows, request.access.store_id)
    return show(
        request, "dashboard/keys/list.html", {"keys": [(key, lost.get(key.pk)) for key in rows]}
    )


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        return _form(request, KeyForm.first(request.access))
    form = KeyForm.from_post(request.POST)

    def make() -> tuple[ApiKey, str]:
        access = request.access
        return services.create_api_key(
            access.store,
            access.mode,
            name=form.name,
            key_type=form.values["key_type"],
            scope_names=form.scopes(access),
            by=access,
        )

    try:
        rows = [
            (gettext("Name"), form.name),
            (gettext("Type"), confirming.label_of(KeyType, form.values["key_type"])),
            (gettext("Scopes"), ", ".join(form.scopes(request.access))),
        ]
        confirmation = confirming.ask_about_form(request, rows, make)
        if confirmation is not None:
            return confirmation
        key, secret = make()
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    is_tried = not request.access.is_live and "payments:write" in key.scopes
    context = {"key": key, "secret": secret, "curl": curl(secret) if is_tried else ""}
    return show(request, "dashboard/keys/created.html", context, status=201)


def revoke(request: PageRequest, id: str) -> HttpResponse:
    key: ApiKey = find(_rows(request), id)
    if request.method == "GET":
        return show(request, "dashboard/keys/revoke.html", {"key": key})
    services.revoke_api_key(key, clock.real_now(), by=request.access)
    messages.success(request, gettext("Key {value} revoked.").format(value=key.name or key.prefix))
    return go("keys")


def take_over(request: PageRequest, id: str) -> HttpResponse:
    return taken_over(request, find(_rows(request), id), "keys", gettext("API keys"))


def taken_over(request: PageRequest, row: makers.Credential, back: str, title: str) -> HttpResponse:
    """The page of a key or agent that its maker can't answer for any more."""
    lost = makers.lost_by([row], request.access.store_id).get(row.pk)
    if lost is None:
        return go(back)
    errors = []
    status = 200
    if request.method == "POST":
        rows = [(gettext("Name"), row.name), (gettext("Scopes"), ", ".join(row.scopes))]
        try:
            confirmation = confirming.ask_about_form(
                request, rows, lambda: makers.take_over(request.access, row)
            )
            if confirmation is not None:
                return confirmation
            secret = makers.take_over(request.access, row)
        except Refusals as refusal:
            errors = sentences(refusal)
            status = status_of(refusal)
        else:
            page = {"row": row, "secret": secret, "back": reverse(f"dashboard:{back}")}
            return show(request, "dashboard/credentials/taken_over.html", page, status=201)
    context = {
        "row": row,
        "lost": lost,
        "back": reverse(f"dashboard:{back}"),
        "back_title": title,
        "errors": errors,
    }
    return show(request, "dashboard/credentials/take_over.html", context, status=status)


def _form(request: PageRequest, form: Form) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "groups": scope_groups(request.access),
        "full_count": len(full_access(request.access)),
    }
    return show(request, "dashboard/keys/create.html", context, status=form.status)
