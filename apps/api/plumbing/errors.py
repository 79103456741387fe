"""`respond` turns every refusal into JSON of the documented shape. No input gets a page or a trace from /api."""

from typing import Any

import structlog
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response

from apps.access.on_behalf import NotItsAccount
from apps.access.services import InvalidApiKey
from apps.core.errors import Coded, Failure, NotFound, ProviderError, ProviderFailed
from apps.core.literal import Invalid
from apps.core.outage import RETRY_SECONDS, is_outage
from apps.payments.services.create import AccountClosed

log = structlog.get_logger(__name__)


class InvalidJson(Coded):
    status = 400
    code = "invalid_json"
    message = "Request body is not valid JSON"


class Throttled(Coded):
    status = 429
    code = "rate_limited"
    message = "Too many requests"


class TooManyFailures(Coded):
    status = 429
    code = "too_many_failed_attempts"
    message = "Too many failed authentication attempts"


def respond(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception handler."""
    failure = _failure_of(error, context.get("view"))
    if failure is None:
        log.exception("unhandled_error", exc_info=error)
        failure = Coded("Internal server error", status=500)
    return Response(failure.body(), status=failure.http_status, headers=failure.headers)


def _failure_of(error: Exception, view: Any) -> Failure | None:
    match error:
        case AccountClosed():
            # The next call would hear the same.
            return InvalidApiKey() if getattr(view.access, "platform", None) is None else NotItsAccount()
        case Failure():
            return error
        case Invalid():
            return _shaped(view, error.text)
        case ProviderError():
            return ProviderFailed()
        case Http404():
            return NotFound()
        case PermissionDenied():
            return Coded("Forbidden", status=403)
        case exceptions.MethodNotAllowed():
            return Coded("Method not allowed", status=405, headers={"Allow": ", ".join(view.allowed_methods)})
        case exceptions.UnsupportedMediaType():
            return Coded("Content-Type must be application/json", status=415)
        case exceptions.ParseError():
            return InvalidJson()
        case _ if is_outage(error):
            log.error("database_unavailable", error=type(error).__name__)
            return Coded("Service temporarily unavailable", status=503, headers={"Retry-After": RETRY_SECONDS})
    return None


def _shaped(view: Any, text: str) -> Failure:
    made: Failure = view.refusal(text)
    return made


def csrf_failed() -> Failure:
    return Coded("CSRF token missing or incorrect", code="csrf_failed", status=403)


def json_error(status: int, message: str, code: str | None = None, **headers: str) -> HttpResponse:
    """For refusals outside of any view."""
    return JsonResponse({"error": {"message": message, "code": code}}, status=status, headers=headers)


def not_found(request: HttpRequest) -> HttpResponse:
    return json_error(404, "Not found")
