"""Failures that a caller is told about. The class is the shape of the answer; the door turns it into JSON.

Flat: {error: text}. Coded: {error: {message, code}}. Listed: {errors: [text]}.
"""

from enum import StrEnum
from typing import Any, ClassVar


class Failure(Exception):
    """A refusal with an HTTP status; `headers` go out with it. Never a bug: bugs are other exceptions."""

    status: ClassVar[int] = 422
    message: ClassVar[str] = ""
    field: ClassVar[str] = ""  # of the request, for forms that show it there

    def __init__(self, message: str = "", *, status: int | None = None, headers: dict[str, str] | None = None) -> None:
        self.text = message or self.message
        self.http_status = status or self.status
        self.headers = headers or {}
        super().__init__(self.text)

    def body(self) -> dict[str, Any]:
        raise TypeError("raise Flat, Coded or Listed")


class Flat(Failure):
    """A hand-written refusal: `{error: text}`."""

    def body(self) -> dict[str, Any]:
        return {"error": self.text}


class Coded(Failure):
    """A refusal with a machine code (or null): `{error: {message, code}}`; `extra` keys stand beside them."""

    code: ClassVar[str | None] = None

    def __init__(
        self, message: str = "", *, code: str | None = None, status: int | None = None, headers: dict[str, str] | None = None, **extra: Any
    ) -> None:
        super().__init__(message, status=status, headers=headers)
        self.machine_code = code if code is not None else self.code
        self.extra = extra

    def body(self) -> dict[str, Any]:
        return {"error": {"message": self.text, "code": self.machine_code, **self.extra}}


class Listed(Failure):
    """Model validation: `{errors: [text, …]}`."""

    def __init__(self, *messages: str, status: int | None = None) -> None:
        super().__init__("; ".join(messages), status=status)
        self.messages = list(messages)

    def body(self) -> dict[str, Any]:
        return {"errors": self.messages}


class NotFound(Coded):
    """The one answer for unknown ids, malformed ids and ids of another store or mode."""

    status = 404
    message = "Not found"


class ErrorCode(StrEnum):
    """Why an outside party gave nothing usable, as far as a caller acts upon it."""

    UNREACHABLE = "unreachable"  # no answer, or a broken one: what became of the call isn't known
    MALFORMED = "malformed"  # an answer, and not the documented one: what became of the call isn't known either
    THROTTLED = "throttled"  # it has had too many calls
    REFUSED = "refused"  # it understood the call and won't carry it out
    REVERTED = "reverted"  # of a node: the contract would undo the transaction
    UNAVAILABLE = "unavailable"  # it wasn't asked: what it takes is missing on our side


class ProviderError(Exception):
    """An outside party failed. The text is for the log; `code` alone says what happened."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        self.code = code
        super().__init__(message)


class ProviderFailed(Coded):
    """What a caller hears of a ProviderError."""

    status = 502
    message = "Payment provider error"
