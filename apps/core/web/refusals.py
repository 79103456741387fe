"""THE table of what each kind of refusal is on the web. Views alone ask it: no domain app knows a
status or a header."""

from collections.abc import Mapping
from typing import Any, Final

from django.http import FileResponse, HttpResponse

from apps.core.errors import Failure, RefusalKind

_PRIVATE: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store, private",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}

STATUSES: Final[Mapping[RefusalKind, int]] = {
    RefusalKind.INVALID: 422,
    RefusalKind.MALFORMED: 400,
    RefusalKind.UNAUTHENTICATED: 401,
    RefusalKind.FORBIDDEN: 403,
    RefusalKind.NOT_FOUND: 404,
    RefusalKind.GONE: 410,
    RefusalKind.CONFLICT: 409,
    RefusalKind.TOO_MANY: 429,
    RefusalKind.UPSTREAM: 502,
    RefusalKind.UNAVAILABLE: 503,
}


def private_download(file: Any, name: str, content_type: str) -> FileResponse:
    """A file to be kept and never shown inside a page, whatever it contains."""
    response = FileResponse(
        file, as_attachment=True, filename=name, content_type=content_type, headers=dict(_PRIVATE)
    )
    response._csp_replace = {"default-src": ["'none'"], "sandbox": []}  # type: ignore[attr-defined]  # read by the policy's middleware
    return response


def private_picture(content: bytes, content_type: str) -> HttpResponse:
    """A picture of a stranger's document for a page of ours, which nothing keeps."""
    response = HttpResponse(content, content_type=content_type, headers=dict(_PRIVATE))
    response._csp_replace = {"default-src": ["'none'"], "sandbox": []}  # type: ignore[attr-defined]  # read by the policy's middleware
    return response


def status_of(refusal: Exception | None) -> int:
    """The status of a page or an answer: 200 without a refusal; what breaks a rule of a form is
    INVALID too."""
    if refusal is None:
        return 200
    return STATUSES[refusal.kind if isinstance(refusal, Failure) else RefusalKind.INVALID]


def headers_of(refusal: Exception | None) -> dict[str, str]:
    """Headers of a refusal beside its status."""
    if not isinstance(refusal, Failure):
        return {}
    headers = {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
    return {**headers, "WWW-Authenticate": refusal.challenge} if refusal.challenge else headers
