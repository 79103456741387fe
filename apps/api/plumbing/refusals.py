"""The shapes in which a refusal is told, and what a view tells of those that only it has."""

from typing import Any, NamedTuple

from msgspec import UNSET, UnsetType

from apps.core.messages.documents import Document


class ErrorText(Document, frozen=True, kw_only=True):
    """Flat."""

    error: str
    nearest: str | UnsetType = UNSET  # of an unknown field: the known one that was meant


class ErrorDetails(Document, frozen=True, kw_only=True):
    message: str
    code: str | None
    nearest: str | UnsetType = UNSET


class ErrorDocument(Document, frozen=True, kw_only=True):
    """Coded."""

    error: ErrorDetails


class ErrorTexts(Document, frozen=True, kw_only=True):
    """Listed."""

    errors: list[str]
    nearest: str | UnsetType = UNSET


class Blocker(Document, frozen=True, kw_only=True):
    type: str
    count: int


class BlockedDetails(Document, frozen=True, kw_only=True):
    message: str
    code: str
    blockers: list[Blocker]


class ErrorWithBlockers(Document, frozen=True, kw_only=True):
    """What stands in the way is told beside the code."""

    error: BlockedDetails


# The strictest first: a generated client takes the first that fits, and a bare sentence fits
# everything.
AnyError = ErrorDocument | ErrorText
AnyErrors = ErrorDocument | ErrorTexts | ErrorText
BlockedOrNot = ErrorWithBlockers | ErrorDocument


class Refused(NamedTuple):
    """What a status means, and the shape that it is told in."""

    words: str
    shape: Any = ErrorDocument
