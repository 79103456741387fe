"""The OAuth server outside of /api: the same views, but a browser that asks for /oauth/authorize
meets the consent page."""

from django.http import HttpRequest, HttpResponseBase
from django.urls import path
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from apps.api.oauth import discovery
from apps.api.urls import OAUTH_ROUTES
from apps.dashboard.developers.oauth import consent_page

_doors = {route.path: route.view.as_view(route=route) for route in OAUTH_ROUTES}
_page = csrf_protect(consent_page)


@csrf_exempt
def authorize(request: HttpRequest) -> HttpResponseBase:
    """JSON is for the API; what else comes is a browser, whose form carries the site's token."""
    is_json = "application/json" in (
        request.headers.get("Accept", "") if request.method == "GET" else request.content_type or ""
    )
    answer: HttpResponseBase = _doors["oauth/authorize"](request) if is_json else _page(request)
    return answer


urlpatterns = [
    path("oauth/authorize", authorize, name="oauth_consent"),
    *(path(name, view) for name, view in _doors.items() if name != "oauth/authorize"),
    path(".well-known/oauth-authorization-server", discovery),
]
