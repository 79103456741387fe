"""Request log: the API calls of the chosen mode, filtered, and one call in full."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponse

from apps.access import request_log
from apps.access.models import ApiKey
from apps.dashboard.list_files import REQUESTS
from apps.dashboard.paging import window
from apps.dashboard.plumbing import Answer, PageRequest, find, show

_STATUSES = {"": "All", "2": "Succeeded (2xx)", "4": "Rejected (4xx)", "5": "Failed (5xx)"}
_METHODS = ("GET", "POST", "PATCH", "DELETE")
_KINDS = {"session": "Dashboard sessions", "oauth": "Apps", "agent": "Agents"}
_TEXT_MAX = 255


def index(request: PageRequest) -> HttpResponse:
    keys = _keys(request)
    filters = _filters(request, keys)
    context = {
        "window": window(request_log.entries(request.access, **filters), request.GET, filters),
        "filters": filters,
        "export_query": urlencode({name: value for name, value in filters.items() if value}),
        "is_filtered": any(filters.values()),
        "statuses": _STATUSES.items(),
        "methods": _METHODS,
        "credentials": [*keys.items(), *_KINDS.items()],
        "days": settings.REQUEST_LOG_DAYS,
    }
    return show(request, "dashboard/request_log/list.html", context)


def export(request: PageRequest) -> Answer:
    """The filtered list as CSV, newest first."""
    filters = _filters(request, _keys(request))
    return REQUESTS.of(request, request_log.entries(request.access, **filters))


def _filters(request: PageRequest, keys: Mapping[str, str]) -> dict[str, str]:
    """What the address asks for. What it can't mean is left out."""
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
    entry = find(request_log.one(request.access, id), id)
    return show(request, "dashboard/request_log/detail.html", {"entry": entry})


def _keys(request: PageRequest) -> dict[str, str]:
    """What the keys of the store are called, by their ID."""
    rows = ApiKey.objects.visible_to(request.access).order_by("-created_at")[:100]
    return {str(key.pk): f"{key.name or 'Unnamed'} …{key.last_four}" for key in rows}
