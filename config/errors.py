"""Answers of last resort: JSON under /api, a page everywhere else."""

import sys

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation

from apps.api.plumbing.errors import json_error
from apps.core.db.outage import RETRY_SECONDS, is_outage
from apps.core.web.languages import asked_by_browser
from apps.core.web.middleware import API_PREFIX
from apps.dashboard.site.languages import language_of

MERCHANTS = ("/dashboard", "/oauth/authorize")
# Nobody is known of these: whose host isn't ours, and while the database may not answer.
OF_NOBODY = (400, 500, 503)


def _answer(request: HttpRequest, status: int, message: str) -> HttpResponse:
    if request.path.startswith(API_PREFIX):
        return json_error(status, message)
    with translation.override(_language(request, status)):
        answer = render(request, f"{status}.html", status=status)
    # What was wrong with this request is nobody else's, and may be right a moment later.
    answer["Cache-Control"] = "no-store, private"
    return answer


def _language(request: HttpRequest, status: int) -> str | None:
    """The language of the page: a merchant's own; of everybody else's pages it is known already."""
    if not request.path.startswith(MERCHANTS):
        return translation.get_language()
    if status in OF_NOBODY:
        browsers = asked_by_browser(request, dict(settings.DASHBOARD_LANGUAGES))
        return browsers or str(settings.LANGUAGE_CODE)
    return language_of(request)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _answer(request, 400, "Bad request")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _answer(request, 404, "Not found")


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls it while it handles what went wrong."""
    if not is_outage(sys.exc_info()[1]):
        return _answer(request, 500, "Internal server error")
    answer = _answer(request, 503, "Service temporarily unavailable")
    answer["Retry-After"] = RETRY_SECONDS
    return answer


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _answer(request, 403, "CSRF token missing or incorrect")
