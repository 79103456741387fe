"""Fields that a body has and its operation doesn't: refused where money moves, else ignored and
named in a header (decision 638)."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from msgspec import Struct
from rest_framework.exceptions import ParseError

from apps.api.plumbing.json import parse_object
from apps.core.messages.fields import Invalid, check_storable
from apps.core.messages.requests import (
    NAME_MAX,
    NAMED_MAX,
    nearest,
    shape_of,
    unknown_fields,
)

HEADER = "Ignored-Fields"
_PLAIN = "[]._-"


def fields_beside(body: Mapping[str, object], fields: object, wrapper: str) -> list[str]:
    """The keys of a body that are beside the wrapper that its fields were read from."""
    return [] if fields is body else [name for name in body if name != wrapper]


def unknown_in(
    body: Mapping[str, object], fields: object, document: type[Struct] | None, wrapper: str
) -> list[str]:
    """The names of unknown fields, at most NAMED_MAX: in the wrapper, then beside it. A wrapper
    that may be left out is no unknown field."""
    inside = [name for name in unknown_fields(document, fields) if not wrapper or name != wrapper]
    return [*inside, *fields_beside(body, fields, wrapper)][:NAMED_MAX]


def refusal_of(name: str, document: type[Struct] | None, wrapper: str) -> Invalid:
    """The refusal of an unknown field, with the known field that its name is near to; `wrapper` is
    the key that known fields are under when it is beside them."""
    near = None if document is None else nearest(name, shape_of(document).fields)
    field = f"{wrapper}.{near}" if near and wrapper else near
    return Invalid(name[:NAME_MAX], "unknown_field", nearest=field)


def object_in(raw: bytes) -> dict[str, object]:
    """The object in the body of an operation that asks for none; empty when there is none that
    could be read."""
    try:
        body = parse_object(raw) if raw else {}
        check_storable(body)
    except (ParseError, Invalid):
        return {}
    return body


def header_of(names: Iterable[str]) -> str:
    """The names as a header may hold them: percent-encoded where they are no plain names, and
    cut."""
    return ", ".join(quote(name[:NAME_MAX], safe=_PLAIN)[:NAME_MAX] for name in names)


def sentence_of(names: Sequence[str]) -> str:
    """The names for the request log; empty when there are none."""
    return f"Ignored fields: {header_of(names)}" if names else ""
