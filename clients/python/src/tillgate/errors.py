"""A call that doesn't succeed raises an `Error`, whose class says what to do about it."""

from __future__ import annotations

import json
import re
from typing import Any

_FIELD = re.compile(r"(?:Unknown field: (.+)|([a-z][a-z0-9_]*(?:[.\[][a-z0-9_\]]+)*) )")
_CODE = re.compile(r"[a-z]+(_[a-z]+)+")


class Error(Exception):
    """`messages` has every sentence of the answer, `code` is for programs; many refusals have none.

    `status` is None when there was no answer. Give `request_id` to whoever runs the service.
    """

    def __init__(
        self,
        *messages: str,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: int | None = None,
        body: Any = None,
    ) -> None:
        super().__init__("; ".join(messages))
        self.messages = messages
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.body = body

    @property
    def message(self) -> str:
        return str(self)


class InvalidRequestError(Error):
    """A rule is broken."""

    @property
    def param(self) -> str | None:
        """The field that the message names first, if it names one."""
        found = _FIELD.match(self.messages[0]) if self.messages else None
        return (found[1] or found[2]) if found else None

    @property
    def nearest(self) -> str | None:
        """Of an unknown field: the known one that may be meant."""
        body = self.body if isinstance(self.body, dict) else {}
        error = body.get("error")
        name = (error if isinstance(error, dict) else body).get("nearest")
        return name if isinstance(name, str) else None


class AuthenticationError(Error):
    """The key is missing, unknown or revoked."""


class PermissionDenied(Error):
    """The key, or the store, may not do this."""


class NotFoundError(Error):
    """Unknown, or of another store or mode."""


class ConflictError(Error):
    """Not as things stand."""


class RateLimitError(Error):
    """Too many calls; `retry_after` seconds from now there is room again."""


class Unavailable(Error):
    """The service, or one that it needs, can't at the moment."""


class ServerError(Error):
    """The service failed; its operator finds it by `request_id`."""


class ConnectionFailed(Error):
    """No answer. It may have happened all the same: repeat it with the same idempotency key."""


class TimedOut(ConnectionFailed):
    """No answer in time."""


_CLASSES = {
    401: AuthenticationError,
    403: PermissionDenied,
    404: NotFoundError,
    409: ConflictError,
    410: NotFoundError,
    429: RateLimitError,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_of(status: int, text: str, request_id: str | None, retry_after: str | None) -> Error:
    """From an answer, in whichever of the API's shapes it is."""
    body = _parsed(text)
    messages, code = _read(body)
    cls = _CLASSES.get(status, ServerError if status >= 500 else InvalidRequestError)
    wait = int(retry_after) if retry_after and re.fullmatch(r"[0-9]{1,9}", retry_after) else None
    return cls(
        *(messages or [f"The server answered {status}"]),
        status=status,
        code=code,
        request_id=request_id,
        retry_after=wait,
        body=body,
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _read(body: Any) -> tuple[list[str], str | None]:
    """`{error: text}`, `{error: {message, code}}`, `{errors: [text]}`, or OAuth's form."""
    if not isinstance(body, dict):
        return [], None
    error = body.get("error")
    explanation = body.get("error_description")
    if isinstance(body.get("errors"), list):
        return [str(one) for one in body["errors"]], None
    if isinstance(error, dict):
        code = error.get("code")
        return [str(error.get("message"))], code if isinstance(code, str) else None
    if isinstance(explanation, str):
        return [explanation], str(error)
    if isinstance(error, str):
        return [error], error if _CODE.fullmatch(error) else None
    return [], None
