"""Fields that several schemas share are written once: a schema that has all fields of another, or
many in a row, is put together from those (`allOf`), which the generator writes as a base class.
A base's fields come first, so the order of fields is not kept.
"""

import json
import re
from itertools import combinations, takewhile
from typing import Any

RUN_MIN = 6  # fields in a row
Schema = dict[str, Any]
Fields = list[str]


def share_parts(schemas: dict[str, Schema]) -> dict[str, Schema]:
    parts = dict(schemas)
    for name, schema in schemas.items():
        whole = _largest_within(schema, schemas)
        if whole is not None:
            parts[name] = _derived(schema, whole, _fields(schemas[whole]))

    while run := _longest_run(parts):
        names = [name for name, schema in parts.items() if _has(_fields(schema), run)]
        shared = [field for field in _fields(parts[names[0]]) if _all_have(names, parts, field)]
        base = next((name for name in names if _fields(parts[name]) == shared), None)
        if base is None:
            base = _common_words(names) + "Fields"
            parts[base] = _with(parts[names[0]], shared)
        for name in names:
            if name != base:
                parts[name] = _derived(parts[name], base, shared)
    return parts


def _all_have(names: list[str], schemas: dict[str, Schema], field: str) -> bool:
    return all(field in _fields(schemas[name]) for name in names)


def _largest_within(schema: Schema, schemas: dict[str, Schema]) -> str | None:
    """The schema with the most fields, all of which are in this one, that has others as well."""
    fields = set(_fields(schema))
    sizes = {name: len(_fields(other)) for name, other in schemas.items()}
    within = [name for name, other in schemas.items() if fields > set(_fields(other))]
    largest = max(within, key=sizes.__getitem__, default=None)
    return largest if largest is not None and sizes[largest] >= RUN_MIN else None


def _longest_run(schemas: dict[str, Schema]) -> Fields:
    longest: Fields = []
    for fields, others in combinations(map(_fields, schemas.values()), 2):
        for start in range(len(fields)):
            longest = max(longest, _run(fields[start:], others), key=len)
    return longest if len(longest) >= RUN_MIN else []


def _run(fields: Fields, others: Fields) -> Fields:
    """The fields, from the first on, that the others have in the same row."""
    if not fields or fields[0] not in others:
        return []
    pairs = zip(fields, others[others.index(fields[0]) :], strict=False)
    return [field for field, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]


def _has(fields: Fields, run: Fields) -> bool:
    return _run(run, fields) == run


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
