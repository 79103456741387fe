"""Answers, as one frozen class per document: its type, what every interface reads of it, and its
schema.

The API encodes it as it is: fields in the order of declaration, null where there is nothing,
`UNSET` left out.
"""

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, cast, get_args, get_origin

from msgspec import Meta, Struct
from msgspec import inspect as types

from apps.core.messages.fields import Schema

Id = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Day = Annotated[str, Meta(extra_json_schema={"format": "date"})]
Digits = Annotated[str, Meta(extra_json_schema={"pattern": "^-?[0-9]+$"})]
Decimals = Annotated[str, Meta(extra_json_schema={"pattern": r"^-?[0-9]+(\.[0-9]+)?$"})]


FreeForm = dict[str, Any]  # an object of any form, answered as its store wrote it
Item = TypeVar("Item")
Part = Callable[[type[Struct]], Schema]


class Document(Struct, frozen=True, kw_only=True):
    """Answer of every interface."""


class PageFigures(Document, frozen=True, kw_only=True):
    page: int
    per_page: int
    total: int
    total_pages: int


class ListPage(Document, Generic[Item], frozen=True, kw_only=True):
    """One page of a list."""

    data: list[Item]
    meta: PageFigures


class Paginated(Document, Generic[Item], frozen=True, kw_only=True):
    """One page of a list, where the contract calls its figures otherwise."""

    data: list[Item]
    pagination: PageFigures


class Feed(Document, Generic[Item], frozen=True, kw_only=True):
    """Newest first, up to some record. Nothing is counted, so that it may be asked every second."""

    data: list[Item]
    has_more: bool


class Data(Document, Generic[Item], frozen=True, kw_only=True):
    """A list that is never longer than a page."""

    data: list[Item]


class Pdf:
    """A PDF file as answer."""

    content_type = "application/pdf"


class XmlFile:
    """An XML file as answer."""

    content_type = "application/xml"


@cache
def schema_of(annotation: Any) -> Schema:
    """The whole JSON schema of a document, or of a list or choice of documents."""
    return (
        fields_of(annotation, schema_of)
        if is_document(annotation)
        else schema_by(annotation, schema_of)
    )


def is_document(annotation: Any) -> bool:
    """Tells whether a type is a class of documents, as it is or of some item."""
    cls = get_origin(annotation) or annotation
    return isinstance(cls, type) and issubclass(cls, Struct)


def schema_by(annotation: Any, part: Part) -> Schema:
    """The JSON schema of a type, the documents in it as `part` tells them."""
    if isinstance(annotation, UnionType) and all(
        map(is_document, get_args(annotation))
    ):  # msgspec reads no choice of documents
        return {"anyOf": [schema_by(member, part) for member in get_args(annotation)]}
    return type_schema(types.type_info(annotation), part)


def fields_of(cls: Any, part: Part) -> Schema:
    """The JSON schema of a document; a field that may be UNSET may be absent."""
    fields = cast(types.StructType, types.type_info(cls)).fields
    return {
        "type": "object",
        "properties": {field.encode_name: type_schema(field.type, part) for field in fields},
        "required": [field.encode_name for field in fields if field.required],
    }


def type_schema(info: types.Type, part: Part) -> Schema:
    """The JSON schema of a type that msgspec has looked into."""
    match info:
        case types.Metadata(type=inner, extra_json_schema=more):
            return {**type_schema(inner, part), **(more or {})}
        case types.UnionType(types=several):
            schemas = [
                type_schema(member, part)
                for member in several
                if not isinstance(member, types.NoneType)
            ]
            return {
                "anyOf": [*schemas, *([{"type": "null"}] if len(schemas) < len(several) else [])]
            }
        case types.StructType(cls=cls):
            return part(cls)
        case types.ListType(item_type=item) | types.VarTupleType(item_type=item):
            return {"type": "array", "items": type_schema(item, part)}
        case types.DictType(value_type=types.AnyType()):
            return {"type": "object", "additionalProperties": True}
        case types.DictType(value_type=value):
            return {"type": "object", "additionalProperties": type_schema(value, part)}
        case types.IntType(ge=least, le=most):
            limits = {"minimum": least, "maximum": most}
            return {
                "type": "integer",
                **{name: limit for name, limit in limits.items() if limit is not None},
            }
        case types.StrType(min_length=shortest, max_length=longest):
            limits = {"minLength": shortest, "maxLength": longest}
            return {
                "type": "string",
                **{name: limit for name, limit in limits.items() if limit is not None},
            }
        case types.LiteralType(values=values):
            return {"enum": list(values)}
    return dict(_PLAIN[type(info)])


_PLAIN: dict[type[types.Type], Schema] = {
    types.FloatType: {"type": "number"},
    types.BoolType: {"type": "boolean"},
    types.AnyType: {},
}
