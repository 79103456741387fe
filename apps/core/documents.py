"""What is answered, as one frozen class per document: its type, what every door reads of it, and its schema.

The API encodes it as it stands: fields in the order of declaration, null where there is nothing, `UNSET` left out.
"""

from functools import cache
from typing import Annotated, Any, cast

from msgspec import Meta, Struct
from msgspec import inspect as types

from apps.core.literal import Schema

Id = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Day = Annotated[str, Meta(extra_json_schema={"format": "date"})]
Digits = Annotated[str, Meta(extra_json_schema={"pattern": "^-?[0-9]+$"})]
Decimals = Annotated[str, Meta(extra_json_schema={"pattern": r"^-?[0-9]+(\.[0-9]+)?$"})]


FreeForm = dict[str, Any]  # an object of any form, answered as its store wrote it


class Document(Struct, frozen=True, kw_only=True):
    """What every door answers."""


@cache
def schema_of(cls: type[Struct]) -> Schema:
    """The JSON schema of a document; a field that may be UNSET may be absent."""
    fields = cast(types.StructType, types.type_info(cls)).fields
    return {
        "type": "object",
        "properties": {one.encode_name: _schema(one.type) for one in fields},
        "required": [one.encode_name for one in fields if one.required],
    }


def _schema(info: types.Type) -> Schema:
    match info:
        case types.Metadata(type=inner, extra_json_schema=more):
            return {**_schema(inner), **(more or {})}
        case types.UnionType(types=several):
            told = [_schema(one) for one in several if not isinstance(one, types.NoneType)]
            return {"anyOf": [*told, *([{"type": "null"}] if len(told) < len(several) else [])]}
        case types.StructType(cls=cls):
            return schema_of(cls)
        case types.ListType(item_type=item):
            return {"type": "array", "items": _schema(item)}
        case types.DictType():
            return {"type": "object", "additionalProperties": True}
    return dict(_PLAIN[type(info)])


_PLAIN: dict[type[types.Type], dict[str, Any]] = {
    types.StrType: {"type": "string"},
    types.IntType: {"type": "integer"},
    types.FloatType: {"type": "number"},
    types.BoolType: {"type": "boolean"},
    types.AnyType: {},
}
