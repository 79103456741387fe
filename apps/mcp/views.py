"""/mcp: the Model Context Protocol over streamable HTTP, and where its authorization server is.

Each tool is a call of the agent API, made within this process: the same credential, scopes,
budgets, idempotency and request log. Answers are JSON, without streams or sessions.
"""

import json
from functools import cache
from io import BytesIO
from typing import cast
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from apps.access import scopes
from apps.access.services import FOR_MODELS
from apps.core.messages.fields import Schema, is_deeper
from apps.mcp import protocol
from apps.mcp.protocol import ApiAnswer, ApiCall, BadCredential

DEPTH_MAX = 64
# Of the outer request; everything else of it is kept.
_OWN = ("CONTENT_LENGTH", "CONTENT_TYPE", "HTTP_CONTENT_ENCODING", "HTTP_IDEMPOTENCY_KEY")


@csrf_exempt
def serve(request: HttpRequest) -> HttpResponse:
    """POST: one message, answered with its result (200) or nothing (202). There is no stream to
    GET and no session to DELETE."""
    if request.method != "POST":
        return HttpResponse(status=405, headers={"Allow": "POST"})
    refusal = _refusal(request)
    if refusal is not None:
        return refusal
    try:
        message = None if is_deeper(request.body, DEPTH_MAX) else _parsed(request.body)
    except ValueError:
        return _message(-32700, "The body isn't JSON, or names a field twice", status=400)
    try:
        reply = protocol.answer(message, lambda call: _ask(request, call))
    except BadCredential as bad:
        return _challenged(bad.message, bad.status, bad.error)
    if reply is None:
        return HttpResponse(status=202)
    return JsonResponse(reply, headers={"Cache-Control": "no-store"})


def _parsed(raw: bytes) -> object:
    """Raises ValueError."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            raise ValueError
        return fields

    return json.loads(raw, object_pairs_hook=once)


def _refusal(request: HttpRequest) -> HttpResponse | None:
    """A page of another site may not speak for its reader; a revision must be one of ours."""
    origin = request.headers.get("Origin", "")
    ours = {urlsplit(url).netloc for url in (settings.API_URL, settings.PUBLIC_URL)}
    if origin and not _is_at(origin, ours):
        return _message(-32600, "This origin isn't allowed", status=403)
    if not request.headers.get("Authorization", "").lower().startswith("bearer "):
        return _challenged("A bearer credential is required", 401)
    revision = request.headers.get("MCP-Protocol-Version", protocol.REVISIONS[0])
    if revision not in protocol.REVISIONS:
        known = ", ".join(protocol.REVISIONS)
        return _message(-32600, f"MCP-Protocol-Version must be one of {known}", status=400)
    return None


def _is_at(origin: str, places: set[str]) -> bool:
    """Tell whether a header names one of these hosts."""
    try:
        return urlsplit(origin).netloc in places
    except ValueError:  # a bracket that nothing closes
        return False


def _message(code: int, text: str, *, status: int) -> HttpResponse:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": text}}
    return JsonResponse(body, status=status)


def _challenged(text: str, status: int, error: str = "") -> HttpResponse:
    challenge = f'Bearer resource_metadata="{settings.API_URL}{reverse("mcp_metadata")}"'
    challenge += f', scope="{scopes.AGENTS}"'
    response = _message(-32600, text, status=status)
    response["WWW-Authenticate"] = challenge + (f', error="{error}"' if error else "")
    return response


@cache
def _handler() -> WSGIHandler:
    return WSGIHandler()


def _ask(outer: HttpRequest, call: ApiCall) -> ApiAnswer:
    """A call of the API, through all that a request from outside goes through."""
    body = b"" if call.body is None else json.dumps(call.body).encode()
    environ: Schema = {name: value for name, value in outer.META.items() if name not in _OWN}
    environ |= {
        "REQUEST_METHOD": call.method,
        "PATH_INFO": f"/api/v2/agentic/{call.path}".encode().decode("latin-1"),
        "QUERY_STRING": urlencode(
            {name: _text(value) for name, value in call.query.items()}, errors="surrogatepass"
        ),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_ACCEPT": "application/json",
        "wsgi.input": BytesIO(body),
        FOR_MODELS: True,
    }
    if body:
        environ["CONTENT_TYPE"] = "application/json"
    if call.key is not None:
        environ["HTTP_IDEMPOTENCY_KEY"] = call.key
    response = cast(HttpResponse, _handler().get_response(WSGIRequest(environ)))
    try:
        parsed = json.loads(response.content)
    except ValueError:
        parsed = {"error": {"message": response.reason_phrase, "code": None}}
    return ApiAnswer(response.status_code, parsed, response.headers.get("Retry-After", ""))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@csrf_exempt
@require_safe
def metadata(request: HttpRequest) -> HttpResponse:
    """RFC 9728: the resource, and the server that authorizes for it."""
    return JsonResponse(
        {
            "resource": f"{settings.API_URL}{reverse('mcp')}",
            "resource_name": "Tillgate",
            "authorization_servers": [settings.PUBLIC_URL],
            "scopes_supported": [scopes.AGENTS, scopes.OFFLINE],
            "bearer_methods_supported": ["header"],
            "resource_documentation": f"{settings.API_URL}/docs/guide/agents",
        },
        headers={"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=300"},
    )
