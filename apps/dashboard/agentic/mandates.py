"""Mandates: the limits that agents draw on. The list, one with its draws, and revoking it."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.agents.models import Mandate, Settlement
from apps.agents.models.settings import AuthorizationProvider
from apps.agents.services.authorize import has_provider
from apps.agents.services.mandates import revoke_mandate, status_at
from apps.core.text.wording import translated
from apps.dashboard.site.views import Answer, PageRequest, find, go, show
from apps.dashboard.tables.files import SETTLEMENTS, mandates_file
from apps.dashboard.tables.paging import window

_AUTHORIZED_BY = {
    AuthorizationProvider.NONE: _("Nobody"),
    AuthorizationProvider.POLICY: _("Your store’s rules for agents"),
    AuthorizationProvider.HTTP: _("Your authorization server"),
}


def _mandates(request: PageRequest) -> "QuerySet[Mandate]":
    rows: QuerySet[Mandate] = Mandate.objects.visible_to(request.access)
    return rows.select_related("asset", "credential", "store").order_by("-created_at", "-id")


def index(request: PageRequest) -> HttpResponse:
    page = window(_mandates(request), request.GET, {})
    now = request.access.now()
    statuses = [(mandate, status_at(mandate, now)) for mandate in page.rows]
    context = {
        "mandates": statuses,
        "page": page,
        "has_provider": has_provider(request.access.store),
    }
    return show(request, "dashboard/agents/mandates.html", context)


def export(request: PageRequest) -> Answer:
    """All mandates as CSV, newest first, with their statuses of now."""
    now = request.access.now()
    return mandates_file(lambda row: status_at(row, now)).of(request, _mandates(request))


def show_one(request: PageRequest, id: str) -> HttpResponse:
    row: Mandate = find(_mandates(request), id)
    page = window(_draws(request, row), request.GET, {})
    status = status_at(row, request.access.now())
    context = {
        "mandate": row,
        "status": status,
        "page": page,
        "steps": list(row.steps.all()),
        "provider": translated(_AUTHORIZED_BY[AuthorizationProvider(row.authorization_provider)]),
        "is_lasting": status in ("active", "exhausted"),
    }
    return show(request, "dashboard/agents/mandate.html", context)


def _draws(request: PageRequest, mandate: Mandate) -> "QuerySet[Settlement]":
    rows: QuerySet[Settlement] = Settlement.objects.visible_to(request.access)
    return rows.filter(mandate=mandate).select_related("asset").order_by("-created_at", "-id")


def export_draws(request: PageRequest, id: str) -> Answer:
    """Draws on a mandate as CSV, newest first."""
    return SETTLEMENTS.of(request, _draws(request, find(_mandates(request), id)), id)


def revoke(request: PageRequest, id: str) -> HttpResponse:
    row = revoke_mandate(find(_mandates(request), id), by=request.access)
    messages.success(
        request, gettext("Mandate {mandate_ref} revoked.").format(mandate_ref=row.mandate_ref)
    )
    return go("mandate", row.pk)
