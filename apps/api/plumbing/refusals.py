"""The shapes of refusals, THE table of which one it is, and what a view tells of
refusals that only it has.

A route chooses: its view names the shape of broken rules (`shape`), of other sentences
(`sentence_shape`) and of single failures (`shapes`).
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType

from apps.core.errors import Failure, RefusalKind
from apps.core.idempotency import KeyRefused
from apps.core.messages.documents import Document


class ErrorText(Document, frozen=True, kw_only=True):
    """One sentence."""

    error: str
    nearest: str | UnsetType = UNSET  # of an unknown field: the known one that was meant


class ErrorDetails(Document, frozen=True, kw_only=True):
    message: str
    code: str | None
    nearest: str | UnsetType = UNSET


class ErrorDocument(Document, frozen=True, kw_only=True):
    """A sentence, and a code for machines."""

    error: ErrorDetails


class ErrorTexts(Document, frozen=True, kw_only=True):
    """A sentence for each broken rule."""

    errors: list[str]
    nearest: str | UnsetType = UNSET


ErrorShape = type[ErrorText] | type[ErrorDocument] | type[ErrorTexts]


class ProtocolRefusal(Failure):
    """A refusal of the protocol itself, which no kind of refusal in the domain is: its status is
    its own."""

    status: int
    message = "Internal server error"


# Whatever the route: of single failures, and of kinds that have no code of their own.
SHAPES: Final[Mapping[type[Failure], ErrorShape]] = {
    ProtocolRefusal: ErrorDocument,
    KeyRefused: ErrorText,
}
CODED_KINDS: Final = frozenset(
    {
        RefusalKind.MALFORMED,
        RefusalKind.UNAUTHENTICATED,
        RefusalKind.NOT_FOUND,
        RefusalKind.TOO_MANY,
        RefusalKind.UPSTREAM,
        RefusalKind.UNAVAILABLE,
    }
)


def error_shape(failure: Failure, view: Any) -> ErrorShape:
    """The shape in which the route of this view tells a failure: as the view says of its class, as
    the table does, with its code where it has one, or as any sentence of the view."""
    for shapes in (view.shapes, SHAPES):
        for cls in type(failure).__mro__:
            if cls in shapes:
                shape: ErrorShape = shapes[cls]
                return shape
    if failure.code is not None or failure.kind in CODED_KINDS:
        return ErrorDocument
    return broken_shape(failure, view) if view.sentence_shape is None else view.sentence_shape


def broken_shape(failure: Failure, view: Any) -> ErrorShape:
    """The shape in which it tells that a rule of its body was broken."""
    shape: ErrorShape = ErrorDocument if failure.code is not None else view.shape
    return shape


def body_of(failure: Failure, shape: ErrorShape) -> dict[str, object]:
    """The answer itself."""
    if shape is ErrorDocument:
        return {"error": {"message": failure.text, "code": failure.code, **failure.parameters}}
    if shape is ErrorTexts:
        return {"errors": [failure.text], **failure.parameters}
    return {"error": failure.text, **failure.parameters}


class Blocker(Document, frozen=True, kw_only=True):
    type: str
    count: int


class BlockedDetails(Document, frozen=True, kw_only=True):
    message: str
    code: str
    blockers: list[Blocker]


class ErrorWithBlockers(Document, frozen=True, kw_only=True):
    """A refusal with its code, and beside it a list of what is in the way."""

    error: BlockedDetails


# The strictest first: a generated client takes the first that fits, and a bare sentence fits
# everything.
AnyError = ErrorDocument | ErrorText
AnyErrors = ErrorDocument | ErrorTexts | ErrorText
BlockedOrNot = ErrorWithBlockers | ErrorDocument


class Refused(NamedTuple):
    """Meaning of a status, and the shape of its answer."""

    words: str
    shape: Any = ErrorDocument
