"""`respond` turns every refusal into JSON of the documented shape. No input gets a page or a trace
from /api."""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response

from apps.access.on_behalf import NotItsAccount
from apps.access.services import InvalidApiKey
from apps.api.plumbing.refusals import ProtocolRefusal, body_of, broken_shape, error_shape
from apps.core.db.outage import RETRY_SECONDS, is_outage
from apps.core.errors import (
    Failure,
    NotFound,
    ProviderError,
    ProviderFailed,
    RefusalKind,
)
from apps.core.messages.invalid import Invalid, InvalidFields
from apps.core.web.refusals import headers_of, status_of
from apps.payments.services.create import AccountClosed

log = structlog.get_logger(__name__)


class InvalidJson(Failure):
    kind = RefusalKind.MALFORMED
    code = "invalid_json"
    message = "Request body is not valid JSON"


class Throttled(Failure):
    kind = RefusalKind.TOO_MANY
    code = "rate_limited"
    message = "Too many requests"


class TooManyFailures(Failure):
    kind = RefusalKind.TOO_MANY
    code = "too_many_failed_attempts"
    message = "Too many failed authentication attempts"


class Broken(ProtocolRefusal):
    status = 500


class Forbidden(ProtocolRefusal):
    status = 403
    message = "Forbidden"


class WrongContentType(ProtocolRefusal):
    status = 415
    message = "Content-Type must be application/json"


class WrongMethod(ProtocolRefusal):
    status = 405
    message = "Method not allowed"

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__()
        self.allowed = allowed


def respond(error: Exception, context: Mapping[str, object]) -> Response:
    """DRF's exception handler."""
    view: Any = context.get("view")
    if isinstance(error, InvalidFields):
        texts = [rule.text_of(view.label_of(rule.field)) for rule in error.broken]
        return Response({"errors": texts}, status=status_of(error))
    failure = failure_of(error, view)
    is_rule = isinstance(error, Invalid)
    shape = broken_shape(failure, view) if is_rule else error_shape(failure, view)
    return answer(failure, body_of(failure, shape))


def answer(failure: Failure, body: Mapping[str, object]) -> Response:
    """A failure in this body, with its status and headers."""
    status = failure.status if isinstance(failure, ProtocolRefusal) else status_of(failure)
    allow = {"Allow": ", ".join(failure.allowed)} if isinstance(failure, WrongMethod) else {}
    return Response(body, status=status, headers={**headers_of(failure), **allow})


def failure_of(error: Exception, view: Any) -> Failure:
    """Failure that a caller gets for an error; an unforeseen one is logged and answered as ours."""
    match error:
        case AccountClosed():
            # The next call would hear the same.
            return (
                InvalidApiKey()
                if getattr(view.access, "platform", None) is None
                else NotItsAccount()
            )
        case Failure():
            return error
        case Invalid():
            return _of_rule(view, error)
        case ProviderError():
            return ProviderFailed()
        case Http404():
            return NotFound()
        case PermissionDenied():
            return Forbidden()
        case exceptions.MethodNotAllowed():
            return WrongMethod(view.allowed_methods)
        case exceptions.UnsupportedMediaType():
            return WrongContentType()
        case exceptions.ParseError():
            return InvalidJson()
        case _ if is_outage(error):
            log.error("database_unavailable", error=type(error).__name__)
            return Failure(
                "Service temporarily unavailable",
                kind=RefusalKind.UNAVAILABLE,
                retry_after=int(RETRY_SECONDS),
            )
    log.exception("unhandled_error", exc_info=error)
    return Broken()


def _of_rule(view: Any, refusal: Invalid) -> Failure:
    failure: Failure = view.refusal(refusal)
    nearest = refusal.params.get("nearest")
    if nearest is not None:
        failure.parameters["nearest"] = nearest
    return failure


def csrf_failed() -> Failure:
    return Failure(
        "CSRF token missing or incorrect", code="csrf_failed", kind=RefusalKind.FORBIDDEN
    )


def json_error(status: int, message: str, code: str | None = None, **headers: str) -> HttpResponse:
    """For refusals outside of any view."""
    return JsonResponse(
        {"error": {"message": message, "code": code}}, status=status, headers=headers
    )


def not_found(request: HttpRequest) -> HttpResponse:
    return json_error(404, "Not found")
