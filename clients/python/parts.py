"""Fields that several schemas share are written once: a schema that has all fields of another, or
many in a row, is put together from those (`allOf`), which the generator writes as a base class.
"""

import json
import re
from itertools import combinations, takewhile
from typing import Any

RUN_MIN = 6  # fields in a row
Schema = dict[str, Any]
Fields = list[str]


def share_parts(schemas: dict[str, Schema], *, in_order: bool) -> dict[str, Schema]:
    """The fields of a base come first. Where their order counts, only beginnings are shared."""
    parts = dict(schemas)
    while run := _longest_run(parts, in_order):
        names = [name for name, schema in parts.items() if _has(_fields(schema), run, in_order)]
        base = next((name for name in names if _fields(parts[name]) == run), None)
        if base is None:
            base = _common_words(names) + "Fields"
            parts[base] = _with(parts[names[0]], run)
        for name in names:
            if name != base:
                parts[name] = _derived(parts[name], base, run)
    return parts


def _longest_run(schemas: dict[str, Schema], in_order: bool) -> Fields:
    longest: Fields = []
    for fields, others in combinations(map(_fields, schemas.values()), 2):
        for start in range(1 if in_order else len(fields)):
            longest = max(longest, _run(fields[start:], others, in_order), key=len)
    return longest if len(longest) >= RUN_MIN else []


def _run(fields: Fields, others: Fields, in_order: bool) -> Fields:
    """The fields, from the first on, that the others have in the same row."""
    if not fields or fields[0] not in others:
        return []
    start = others.index(fields[0])
    if in_order and start > 0:
        return []
    pairs = zip(fields, others[start:], strict=False)
    return [field for field, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]


def _has(fields: Fields, run: Fields, in_order: bool) -> bool:
    return _run(run, fields, in_order) == run


def _fields(schema: Schema) -> Fields:
    """Each field as a text of its name and type; none of a schema that has a base already."""
    required = schema.get("required", ())
    fields = schema.get("properties", {}).items()
    return [json.dumps([name, value, name in required]) for name, value in fields]


def _with(schema: Schema, fields: Fields) -> Schema:
    names = [json.loads(field)[0] for field in fields]
    return {
        "type": "object",
        "properties": {name: schema["properties"][name] for name in names},
        "required": [name for name in schema.get("required", ()) if name in names],
    }


def _derived(schema: Schema, base: str, fields: Fields) -> Schema:
    rest = _with(schema, [field for field in _fields(schema) if field not in fields])
    return {"allOf": [{"$ref": f"#/components/schemas/{base}"}, rest]}


def _common_words(names: list[str]) -> str:
    """`Invoices` of `InvoicesCreate` and `InvoicesUpdate`."""
    words = [re.findall(r"[A-Z]+[a-z0-9]*", name) for name in names]
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False))
    return "".join(column[0] for column in columns)
