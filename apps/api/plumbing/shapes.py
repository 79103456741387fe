"""JSON schemas of answers, written short: `of("id:uuid status paid_at:time|null tx_hash?", items=many(ITEM))`.

A name alone is text; `?` may be absent, `|null` may be null. Every other key is there, and keys that aren't named may come.
"""

from apps.core.literal import Schema

_TYPES: dict[str, Schema] = {
    "text": {"type": "string"},
    "int": {"type": "integer"},
    "num": {"type": "number"},
    "bool": {"type": "boolean"},
    "uuid": {"type": "string", "format": "uuid"},
    "time": {"type": "string", "format": "date-time"},
    "date": {"type": "string", "format": "date"},
    "digits": {"type": "string", "pattern": "^-?[0-9]+$"},
    "decimal": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "map": {"type": "object", "additionalProperties": True},
    "any": {},
}


def of(text: str, **nested: Schema) -> Schema:
    """An object of plain fields, and of `nested` ones (a name that may be absent ends with `__`)."""
    properties: Schema = {}
    required: list[str] = []
    for token in text.split():
        name, _, kind = token.removesuffix("|null").partition(":")
        schema = _TYPES[kind or "text"]
        properties[name.removesuffix("?")] = null(schema) if token.endswith("|null") else schema
        if not name.endswith("?"):
            required.append(name)
    for name, schema in nested.items():
        properties[name.removesuffix("__")] = schema
        if not name.endswith("__"):
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def many(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def null(schema: Schema) -> Schema:
    """The same, or null."""
    return {"anyOf": [schema, {"type": "null"}]} if schema else {}


def one_of(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def plus(schema: Schema, text: str = "", **nested: Schema) -> Schema:
    """An object with more fields."""
    more = of(text, **nested)
    properties = {**schema["properties"], **more["properties"]}
    return {"type": "object", "properties": properties, "required": [*schema["required"], *more["required"]]}


_FIGURES = of("page:int per_page:int total:int total_pages:int")


def page(schema: Schema, figures: str = "meta") -> Schema:
    """One page of a list, its figures under `meta` or `pagination`."""
    return of("", data=many(schema), **{figures: _FIGURES})
