"""Lines of the request log: the route and its plain ids, never a query or a token, and bodies as
far as they are kept."""

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.request import Request

from apps.access import request_log
from apps.access.access import Access
from apps.api.plumbing.kept_bodies import kept_request, kept_response
from apps.api.plumbing.routes import Route
from apps.api.plumbing.unknown_fields import sentence_of
from apps.core import clock
from apps.core.messages.documents import Data
from apps.core.messages.fields import is_uuid
from apps.core.process.logs import redact, request_id
from apps.payments.documents.refund import RefundDocument

_PART = re.compile(r"<str:(\w+)>")
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_WITH_BODY = ("POST", "PATCH", "PUT")
_MESSAGE_MAX = 200
_OTHER = "refund_in_progress"
_IGNORED = "fields_ignored"


def note(
    request: Request,
    response: HttpResponse,
    access: Access,
    route: Route,
    arguments: Mapping[str, object],
    began: float,
    *,
    ignored: Sequence[str] = (),
) -> None:
    """One answered call of somebody with a credential; `ignored` are the names of fields that it
    sent in vain."""
    method = str(request.method)
    key = request.headers.get("Idempotency-Key", "")[:255]
    has_key = bool(key) and method in _WITH_BODY and key.isascii() and key.isprintable()
    path = path_of(route.path, arguments)
    data = getattr(response, "data", None)
    code, message = _error_of(data) if response.status_code >= 400 else _remark_on(data)
    if ignored:
        code = code or _IGNORED
        message = _stored("; ".join(filter(None, (message, sentence_of(ignored)))))
    request_log.note(
        access,
        clock.real_now(),
        method=method[:7],
        route=route.path,
        path=path,
        status=response.status_code,
        request_id=request_id.get(),
        duration_ms=round((time.perf_counter() - began) * 1000),
        idempotency_key=_masked(key) if has_key else "",
        is_replay=response.headers.get("Idempotent-Replayed") == "true",
        body_digest=_digest(path, getattr(request, "_full_data", None)) if has_key else None,
        error_code=code,
        error_message=message,
        record_id=_record_id(arguments),
        request_body=kept_request(method, route.path, getattr(request, "_full_data", None)),
        response_body=kept_response(method, route.path, response.status_code, data),
    )


def path_of(path: str, arguments: Mapping[str, object]) -> str:
    """The path with its ids; a token, or what is no id, stays a name in braces, and so does a
    secret that somebody put in an id's place."""

    def part(match: re.Match[str]) -> str:
        name = match[1]
        value = str(arguments.get(match[1], ""))
        is_shown = name != "token" and _PLAIN.fullmatch(value) and redact(value) == value
        return value if is_shown else f"{{{name}}}"

    return "/" + (_PART.sub(part, path) if "<" in path else path)[: _MESSAGE_MAX - 1]


def _masked(key: str) -> str:
    """An idempotency key; of one that holds a secret, what tells it from other keys."""
    if redact(key) == key:
        return key
    return f"{redact(key)[:200]} {hashlib.sha256(key.encode()).hexdigest()[:8]}"


def _record_id(arguments: Mapping[str, object]) -> str | None:
    """The last id in the path."""
    ids = [str(value) for value in arguments.values() if is_uuid(str(value))]
    return ids[-1] if ids else None


def _digest(path: str, data: Any) -> bytes | None:
    """SHA-256 of what was asked, however its keys were ordered and spaced."""
    if not isinstance(data, dict):
        return None
    try:
        canonical = orjson.dumps(data, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a number of more than 64 bits
        canonical = json.dumps(data, sort_keys=True).encode()
    return hashlib.sha256(path.encode() + b"\n" + canonical).digest()


def _remark_on(data: Any) -> tuple[str, str]:
    """Remark of a successful answer that its caller must not overlook."""
    rows = data.data if isinstance(data, Data) else data
    if isinstance(rows, list) and any(
        isinstance(row, RefundDocument) and row.refund_in_progress for row in rows
    ):
        return _OTHER, "An earlier refund is under way; what was asked for is not sent"
    return "", ""


def _error_of(body: Any) -> tuple[str, str]:
    """The code and the sentence of a refusal of any shape."""
    if not isinstance(body, dict):
        return "", ""
    error = body.get("error", body.get("errors", ""))
    if isinstance(error, dict):
        return str(error.get("code") or "")[:64], _stored(error.get("message"))
    return "", _stored("; ".join(map(str, error)) if isinstance(error, list) else error)


def _stored(text: Any) -> str:
    return str(redact(str(text or "").replace("\x00", "")))[:_MESSAGE_MAX]
