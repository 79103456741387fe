"""Request log: the API calls of the chosen mode, filtered, and one call in full."""

from django.conf import settings
from django.http import HttpResponse

from apps.access import request_log
from apps.access.models import ApiKey
from apps.dashboard.paging import window
from apps.dashboard.plumbing import PageRequest, find, show

_STATUSES = {"": "All", "2": "Succeeded (2xx)", "4": "Rejected (4xx)", "5": "Failed (5xx)"}
_METHODS = ("GET", "POST", "PATCH", "DELETE")
_KINDS = {"session": "Dashboard sessions", "oauth": "Apps", "agent": "Agents"}
_TEXT_MAX = 255


def index(request: PageRequest) -> HttpResponse:
    filters = {
        name: request.GET.get(name, "").strip()[:_TEXT_MAX]
        for name in ("status", "method", "credential", "q")
    }
    filters["q"] = filters["q"].replace("\x00", "")
    filters["status"] = filters["status"] if filters["status"] in _STATUSES else ""
    filters["method"] = filters["method"] if filters["method"] in _METHODS else ""
    keys = [(str(key.pk), f"{key.name or 'Unnamed'} …{key.last_four}") for key in _keys(request)]
    filters["credential"] = (
        filters["credential"] if filters["credential"] in {*dict(keys), *_KINDS} else ""
    )
    context = {
        "window": window(request_log.entries(request.access, **filters), request.GET, filters),
        "filters": filters,
        "is_filtered": any(filters.values()),
        "statuses": _STATUSES.items(),
        "methods": _METHODS,
        "credentials": [*keys, *_KINDS.items()],
        "days": settings.REQUEST_LOG_DAYS,
    }
    return show(request, "dashboard/request_log/list.html", context)


def show_one(request: PageRequest, id: str) -> HttpResponse:
    entry = find(request_log.one(request.access, id), id)
    return show(request, "dashboard/request_log/detail.html", {"entry": entry})


def _keys(request: PageRequest) -> list[ApiKey]:
    return list(ApiKey.objects.visible_to(request.access).order_by("-created_at")[:100])
