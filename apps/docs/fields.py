"""Fields of bodies, queries and answers, as tables: their types and limits from the API's
description, their meanings from docs/reference/fields.txt."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

from apps.core.messages.fields import MAX_INTEGER, Schema

FOLDER: Path = settings.BASE_DIR / "docs" / "reference"
DEPTH_MAX = 3


@cache
def meanings() -> dict[str, str]:
    """Name of a field -> what it means, wherever it is used."""
    lines = (FOLDER / "fields.txt").read_text().splitlines()
    return dict(line.split(" | ", 1) for line in lines if " | " in line)


def table(rows: Iterable[tuple[str, str, bool]], where: str) -> str:
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for name, kind, is_required in rows:
        meaning = (
            meanings().get(f"{where}{name}")
            or meanings().get(name)
            or meanings().get(name.rpartition(".")[2], "")
        )
        need = "**Required.** " if is_required else ""
        lines.append(f"| `{name}` | {kind} | {need}{meaning} |")
    return "\n".join(lines)


def fields_of(
    schema: Schema, description: Schema, prefix: str = "", depth: int = 0
) -> Iterator[tuple[str, str, bool]]:
    whole = _resolved(schema, description)
    for name, field in whole.get("properties", {}).items():
        inner = _resolved(field, description)
        full = f"{prefix}{name}"
        is_required = name in whole.get("required", [])
        if inner.get("properties") and depth < DEPTH_MAX:
            yield full, "object, with the fields below", is_required
            yield from fields_of(inner, description, f"{full}.", depth + 1)
            if depth == 0 and prefix == "" and set(inner["properties"]) <= set(whole["properties"]):
                return  # the same fields may come without the wrapper
            continue
        yield full, type_of(field, description), is_required
        items = _resolved(inner.get("items", {}), description)
        if items.get("properties") and depth < DEPTH_MAX:
            yield from fields_of(items, description, f"{full}[].", depth + 1)


def _resolved(schema: Schema, description: Schema) -> Schema:
    """Schema that a reference leads to, and of several shapes the first that has fields."""
    if "$ref" in schema:
        return _resolved(
            description["components"]["schemas"][schema["$ref"].rpartition("/")[2]], description
        )
    several = schema.get("anyOf") or schema.get("oneOf")
    if several:
        return next(
            (
                variant
                for variant in (_resolved(each, description) for each in several)
                if variant.get("type") != "null"
            ),
            {},
        )
    return schema


def type_of(schema: Schema, description: Schema) -> str:
    whole = _resolved(schema, description)
    if "enum" in whole:
        return "one of " + ", ".join(f"`{value}`" for value in whole["enum"] if value is not None)
    if "const" in whole:
        return f"`{whole['const']}`"
    kind = str(whole.get("type", "any"))
    if kind == "array":
        return _list_of(type_of(whole.get("items", {}), description))
    type_name = {"date-time": "time", "uuid": "UUID", "date": "date", "uri": "URL"}.get(
        whole.get("format", ""), kind
    )
    return ", ".join([type_name, *_limits(whole)])


def _list_of(item: str) -> str:
    """A list of objects; of strings, each with its limits; of values, each one of some."""
    if item.startswith("one of "):
        return f"list of values, each {item}"
    name, comma, limits = item.partition(", ")
    return f"list of {name}s" + (f", each {limits}" if comma else "")


def _limits(schema: Schema) -> Iterator[str]:
    """Of what somebody may send: not where the integers of a machine end."""
    if "maxLength" in schema:
        yield f"at most {schema['maxLength']:,} characters"
    if abs(schema.get("minimum", MAX_INTEGER)) < MAX_INTEGER:
        yield f"at least {schema['minimum']:,}"
    if abs(schema.get("maximum", MAX_INTEGER)) < MAX_INTEGER:
        yield f"at most {schema['maximum']:,}"
