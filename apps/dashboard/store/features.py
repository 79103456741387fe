"""Settings, Features: what a store may have beside taking payments. The side bar shows each once it
is used."""

from django.http import HttpResponse

from apps.agents.selectors import has_agents
from apps.dashboard.go_live import setup_of
from apps.dashboard.site.views import PageRequest, show
from apps.platforms.services.access_requests import latest_request


def index(request: PageRequest) -> HttpResponse:
    access = request.access
    context = {
        "setup": setup_of(access, request.member, request.person),
        "is_platform": access.store.is_platform,
        "access_request": latest_request(access),
        "has_agents": has_agents(access),
    }
    return show(request, "dashboard/settings/features.html", context)
