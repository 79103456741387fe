"""A valid field by the description is valid by the field's rule: a client that checks a request by
its schema isn't refused for the form of a value.

What depends on records stays: an id that nobody has, a currency without a rate, a time zone that
the service's tables don't have. Half characters and `1.0` for an integer are refused, too: JSON
Schema has no word for them.
"""

from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from apps.api.urls import ROUTES
from apps.core.messages.fields import STORABLE as STORABLE_TEXT
from apps.core.messages.fields import Field, Invalid, List, Schema, Text
from apps.core.messages.requests import Request, Shape, shape_of
from apps.webhooks.requests import EndpointChanges, EndpointRequest

STORABLE = st.characters(exclude_characters="\x00", exclude_categories=["Cs"])
FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "email": "somebody@example.com",
    "uri": "https://example.com/a?b=c",
}


def classes(body: Any) -> Iterator[type[Request]]:
    if isinstance(body, UnionType):
        for member in get_args(body):
            yield from classes(member)
    elif isinstance(body, type) and issubclass(body, Request):
        yield body


@cache
def fields() -> dict[str, Field]:
    """All fields of all bodies, by their way."""
    bodies = [body for route in ROUTES for body in route.view.bodies.values()]
    described = {cls for body in bodies for cls in classes(body)}
    found: dict[str, Field] = {}
    for cls in described | {EndpointRequest, EndpointChanges}:
        found |= within(shape_of(cls), cls.__name__)
    return dict(sorted(found.items()))


def within(shape: Shape, way: str) -> Iterator[tuple[str, Field]]:
    for name, field in shape.fields.items():
        yield f"{way}.{name}", field
        item = field.item if isinstance(field, List) else field
        if isinstance(item, Shape):
            yield from within(item, f"{way}.{name}")


def bounds(schema: Schema) -> list[Any]:
    """The shortest and the longest, the least and the most that a schema has; of a pattern none."""
    if "enum" in schema:
        return list(schema["enum"])
    match schema.get("type"):
        case "boolean":
            return [False, True]
        case "integer":
            return [schema["minimum"], schema["maximum"]] if "maximum" in schema else [0]
        case "string" if "format" in schema:
            return [FORMATS[schema["format"]]]
        case "string" if schema.get("pattern", STORABLE_TEXT) == STORABLE_TEXT:
            shortest = schema.get("minLength", 0)
            return ["x" * length for length in (shortest, schema.get("maxLength", shortest))]
        case "array":
            one = bounds(schema["items"])[:1]
            return [one * length for length in (schema.get("minItems", 0), schema["maxItems"])]
        case "object" if not schema.get("required"):
            return [{}]
    return []


def test_a_field_takes_the_least_and_the_most_of_its_schema() -> None:
    refused = []
    tried = 0
    for name, field in fields().items():
        for value in bounds(field.schema()):
            tried += 1
            try:
                field.check(value, name)
            except Invalid as refusal:
                refused.append(f"{refusal.text}: {str(value)[:40]!r}")
    assert refused == []
    assert tried > 400


def test_no_text_with_a_nul_is_valid_by_its_schema() -> None:
    """Neither by that of a field of text, nor by that of the texts in an object of texts."""
    tried = 0
    for name, field in fields().items():
        schema = field.schema()
        inner = schema.get("additionalProperties")
        if isinstance(inner, dict):
            schema = {**schema, "maxProperties": 9}
        elif not isinstance(field, Text) or "format" in schema:
            continue
        tried += 1
        shortest = max(4, schema.get("minLength", 0))
        text = "x\x00" * (shortest // 2)
        value = {"key": text} if isinstance(inner, dict) else text
        assert not Draft202012Validator(schema).is_valid(value), name
        with pytest.raises(Invalid):
            field.check(value, name)
    assert tried > 150


def patterns() -> dict[str, tuple[Field, str]]:
    """One field of each schema that has a pattern."""
    found = {}
    for name, field in fields().items():
        schema = field.schema()
        if schema.get("pattern", STORABLE_TEXT) != STORABLE_TEXT and "format" not in schema:
            found.setdefault(str(schema), (field, name))
    return {name: (field, field.schema()["pattern"]) for field, name in found.values()}


@pytest.mark.parametrize("name", patterns())
@settings(
    derandomize=True,
    max_examples=40,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(st.data())
def test_a_field_takes_what_matches_its_pattern(name: str, data: st.DataObject) -> None:
    field, pattern = patterns()[name]
    fits = Draft202012Validator(field.schema()).is_valid
    field.check(data.draw(st.from_regex(pattern, alphabet=STORABLE).filter(fits)), name)
