"""Answers of last resort: JSON under /api, a page everywhere else."""

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.api.plumbing.errors import json_error
from apps.core.db.outage import RETRY_SECONDS, is_outage
from apps.core.web.middleware import API_PREFIX


def _answer(request: HttpRequest, status: int, message: str) -> HttpResponse:
    if request.path.startswith(API_PREFIX):
        return json_error(status, message)
    answer = render(request, f"{status}.html", status=status)
    # What was wrong with this request is nobody else's, and may be right a moment later.
    answer["Cache-Control"] = "no-store, private"
    return answer


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
