"""Failures that a caller reads: what is refused and why. In which form an answer says it is
its route's business (apps.api.plumbing.refusals)."""

from datetime import datetime
from enum import Enum, StrEnum, auto
from typing import ClassVar

from apps.core.clock import iso


class RefusalKind(Enum):
    """Kinds of refusals. Which status that is on the web is the views' business
    (apps.core.web.refusals)."""

    INVALID = auto()  # understood, and against a rule
    MALFORMED = auto()  # can't be read
    UNAUTHENTICATED = auto()  # who asks isn't known
    FORBIDDEN = auto()  # who asks may not
    NOT_FOUND = auto()
    GONE = auto()  # it was there
    CONFLICT = auto()  # not as things are now
    TOO_MANY = auto()  # later
    UPSTREAM = auto()  # somebody outside has failed
    UNAVAILABLE = auto()  # we can't now


class Failure(Exception):
    """A refusal of some kind. `code` is for machines, where the contract has one, and `parameters`
    are what an answer says beside the sentence. `retry_after`, in seconds, says when it is worth
    another try. Never a bug: bugs are other exceptions."""

    kind: RefusalKind = RefusalKind.INVALID
    code: str | None = None
    message: ClassVar[str] = ""
    field: str = ""  # of the request, for forms that show it there
    challenge: ClassVar[str] = ""  # the scheme by which callers have to say who they are

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        kind: RefusalKind | None = None,
        retry_after: int | None = None,
        field: str = "",
        holds_secret: bool = False,
        text: str = "",
        **parameters: object,
    ) -> None:
        # As people read it, in their language (core.text.wording.Worded); programs get the text,
        # which says the same unless a document has words of its own.
        self.wording = message or self.message
        self.text = text or str(self.wording)
        self.code = code if code is not None else self.code
        self.kind = kind or self.kind
        self.retry_after = retry_after
        self.field = field or self.field
        self.parameters = parameters
        # What was typed at its field may be a key: no page shows it again.
        self.holds_secret = holds_secret
        super().__init__(self.text)


class DatedFailure(Failure):
    """A refusal that ends at a moment, which `pattern` has a place for, `{until}`: in UTC for
    programs, in the reader's zone on pages."""

    def __init__(self, pattern: str, until: datetime, *, field: str = "") -> None:
        self.pattern = pattern
        self.until = until
        super().__init__(pattern.format(until=iso(until)), field=field)


class NotFound(Failure):
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


class ProviderFailed(Failure):
    """A ProviderError as the caller sees it."""

    kind = RefusalKind.UPSTREAM
    message = "Payment provider error"
