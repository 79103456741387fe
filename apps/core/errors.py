"""Failures that a caller is told about. The class is the shape of the answer; the view turns it
into JSON.

Flat: {error: text}. Coded: {error: {message, code}}. Listed: {errors: [text]}.
"""

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from types import MappingProxyType
from typing import Any, ClassVar


class RefusalKind(Enum):
    """What kind of refusal it is. Which status that is on the web is the views' business
    (apps.core.web.refusals)."""

    INVALID = auto()  # understood, and against a rule
    MALFORMED = auto()  # can't be read
    UNAUTHENTICATED = auto()  # who asks isn't known
    FORBIDDEN = auto()  # who asks may not
    NOT_FOUND = auto()
    GONE = auto()  # it was there
    CONFLICT = auto()  # not as things stand now
    TOO_MANY = auto()  # later
    UPSTREAM = auto()  # somebody outside has failed
    UNAVAILABLE = auto()  # we can't now


class Failure(Exception):
    """A refusal of some kind. `retry_after`, in seconds, says when it is worth another try. Never a
    bug: bugs are other exceptions."""

    kind: RefusalKind = RefusalKind.INVALID
    message: ClassVar[str] = ""
    field: str = ""  # of the request, for forms that show it there
    challenge: ClassVar[str] = ""  # the scheme by which whoever asks has to say who it is
    hint: Mapping[str, object] = MappingProxyType({})  # keys of the answer beside the sentence

    def __init__(
        self,
        message: str = "",
        *,
        kind: RefusalKind | None = None,
        retry_after: int | None = None,
        field: str = "",
    ) -> None:
        self.text = message or self.message
        self.kind = kind or self.kind
        self.retry_after = retry_after
        self.field = field or self.field
        super().__init__(self.text)

    def body(self) -> Mapping[str, object]:
        raise TypeError("raise Flat, Coded or Listed")


class Flat(Failure):
    """A hand-written refusal: `{error: text}`."""

    def body(self) -> Mapping[str, object]:
        return {"error": self.text, **self.hint}


class Coded(Failure):
    """A refusal with a machine code (or null): `{error: {message, code}}`; `extra` keys stand
    beside them."""

    code: ClassVar[str | None] = None

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        kind: RefusalKind | None = None,
        retry_after: int | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(message, kind=kind, retry_after=retry_after)
        self.machine_code = code if code is not None else self.code
        self.extra = extra

    def body(self) -> Mapping[str, object]:
        details = {"message": self.text, "code": self.machine_code, **self.extra, **self.hint}
        return {"error": details}


class Listed(Failure):
    """Model validation: `{errors: [text, …]}`."""

    def __init__(self, *messages: str, kind: RefusalKind | None = None, field: str = "") -> None:
        super().__init__("; ".join(messages), kind=kind, field=field)
        self.messages = list(messages)

    def body(self) -> Mapping[str, object]:
        return {"errors": self.messages, **self.hint}


class NotFound(Coded):
    """The one answer for unknown ids, malformed ids and ids of another store or mode."""

    kind = RefusalKind.NOT_FOUND
    message = "Not found"


class ErrorCode(StrEnum):
    """Why an outside party gave nothing usable, as far as a caller acts upon it."""

    UNREACHABLE = "unreachable"  # no answer, or a broken one: what became of the call isn't known
    # an answer, and not the documented one: what became of the call isn't known either
    MALFORMED = "malformed"
    THROTTLED = "throttled"  # it has had too many calls
    REFUSED = "refused"  # it understood the call and won't carry it out
    UNSUPPORTED = "unsupported"  # of a node: it doesn't have the method
    REVERTED = "reverted"  # of a node: the contract would undo the transaction
    UNAVAILABLE = "unavailable"  # it wasn't asked: what it takes is missing on our side


class ProviderError(Exception):
    """An outside party failed. The text is for the log; `code` alone says what happened."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        self.code = code
        super().__init__(message)


class ProviderFailed(Coded):
    """What a caller hears of a ProviderError."""

    kind = RefusalKind.UPSTREAM
    message = "Payment provider error"
