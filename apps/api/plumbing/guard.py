"""The guard in front of the API: what no view should have to read is refused, as an answer of its
route."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse

from apps.api.plumbing import cors
from apps.core.web.middleware import API_PREFIX

_GUARDED = (API_PREFIX, "/oauth/")
BODY_BYTES_MAX = 1024 * 1024


class ApiGuard:
    """Refuses bodies over 1 MiB and compressed ones."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith(_GUARDED):
            refusal = self._refusal(request)
            if refusal is not None:
                return _readable(request, refusal)
        return self.get_response(request)

    @staticmethod
    def _refusal(request: HttpRequest) -> HttpResponse | None:
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            return _error(415, "Content-Encoding is not supported", None)
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isascii() or not length.isdigit() or int(length) > BODY_BYTES_MAX:
            return _error(413, "Request body is too large", "body_too_large")
        return None


def _error(status: int, message: str, code: str | None) -> HttpResponse:
    return JsonResponse({"error": {"message": message, "code": code}}, status=status)


def _readable(request: HttpRequest, refusal: HttpResponse) -> HttpResponse:
    authorization, requested_headers = (
        request.headers.get(name, "")
        for name in ("Authorization", "Access-Control-Request-Headers")
    )
    for name, value in cors.headers_of_path(
        request.path, str(request.method), authorization, requested_headers
    ).items():
        refusal[name] = value
    return refusal
