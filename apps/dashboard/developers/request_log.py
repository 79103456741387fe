"""Request log: the API calls of the chosen mode, filtered, and one call in full."""

import json
from collections.abc import Mapping
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.access import request_log
from apps.access.models import ApiKey, RequestEntry
from apps.core.text.wording import translated_pairs
from apps.dashboard.site.views import Answer, PageRequest, find, show
from apps.dashboard.tables.files import REQUESTS
from apps.dashboard.tables.paging import window

_STATUSES = {
    "": _("All"),
    "2": _("Succeeded (2xx)"),
    "4": _("Rejected (4xx)"),
    "5": _("Failed (5xx)"),
}
_METHODS = ("GET", "POST", "PATCH", "DELETE")
_KINDS = {"session": _("Dashboard sessions"), "oauth": _("Apps"), "agent": _("Agents")}
_TEXT_MAX = 255


def index(request: PageRequest) -> HttpResponse:
    keys = _keys(request)
    filters = _filters(request, keys)
    context = {
        "window": window(request_log.entries(request.access, **filters), request.GET, filters),
        "filters": filters,
        "export_query": urlencode({name: value for name, value in filters.items() if value}),
        "is_filtered": any(filters.values()),
        "statuses": translated_pairs(_STATUSES.items()),
        "methods": _METHODS,
        "credentials": [*keys.items(), *translated_pairs(_KINDS.items())],
        "days": settings.REQUEST_LOG_DAYS,
    }
    return show(request, "dashboard/request_log/list.html", context)


def export(request: PageRequest) -> Answer:
    """The filtered list as CSV, newest first."""
    filters = _filters(request, _keys(request))
    return REQUESTS.of(request, request_log.entries(request.access, **filters))


def _filters(request: PageRequest, keys: Mapping[str, str]) -> dict[str, str]:
    """Filters in the address. What it can't mean is left out."""
    filters = {
        name: request.GET.get(name, "").strip()[:_TEXT_MAX]
        for name in ("status", "method", "credential", "q")
    }
    filters["q"] = filters["q"].replace("\x00", "")
    filters["status"] = filters["status"] if filters["status"] in _STATUSES else ""
    filters["method"] = filters["method"] if filters["method"] in _METHODS else ""
    filters["credential"] = (
        filters["credential"] if filters["credential"] in {*keys, *_KINDS} else ""
    )
    return filters


def show_one(request: PageRequest, id: str) -> HttpResponse:
    entry: RequestEntry = find(request_log.one(request.access, id), id)
    context = {
        "entry": entry,
        "bodies": [
            (title, _readable(text))
            for title, text in (
                (gettext("Request body"), entry.request_body),
                (gettext("Response body"), entry.response_body),
            )
            if text is not None
        ],
    }
    return show(request, "dashboard/request_log/detail.html", context)


def _readable(text: str) -> str:
    """JSON with a field on each line; what was cut stays as it is kept."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def _keys(request: PageRequest) -> dict[str, str]:
    """Names of the store's keys, by their ID."""
    rows = ApiKey.objects.visible_to(request.access).order_by("-created_at")[:100]
    return {str(key.pk): f"{key.name or gettext('Unnamed')} …{key.last_four}" for key in rows}
