"""Draws up tools.json from the table of tools, the API's description (OpenAPI 3.1) and the meanings
of fields in docs/reference/fields.txt."""

import json
import re
from collections.abc import Iterator

from django.conf import settings

from apps.core.messages.fields import Schema
from apps.mcp.tools import KEY, TOOLS, Tool

_REFERENCE = "#/components/schemas/"
_HELD = "#/$defs/"
KEY_SCHEMA = {
    "type": "string",
    "minLength": 1,
    "maxLength": 255,
    "description": (
        "A text of your own for this act. Call again with the same key after a timeout: the act is"
        " done once, and the first answer comes back."
    ),
}


def drawn(description: Schema) -> str:
    """The file's text. `description` is the API's description."""
    meanings = _meanings()
    rows = [_row(tool, description, meanings) for tool in TOOLS]
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"


def _meanings() -> dict[str, str]:
    text = (settings.BASE_DIR / "docs" / "reference" / "fields.txt").read_text()
    return dict(line.split(" | ", 1) for line in text.splitlines() if " | " in line)


def _row(tool: Tool, description: Schema, meanings: dict[str, str]) -> Schema:
    operation = description["paths"]["/api/v2/agentic/" + re.sub(r"\{\w+\}", "{id}", tool.path)][
        tool.method.lower()
    ]
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _input(tool, operation, description, meanings),
        "outputSchema": _output(operation, description),
        "annotations": {"title": tool.title, **tool.hints},
    }


def _input(tool: Tool, operation: Schema, description: Schema, meanings: dict[str, str]) -> Schema:
    fields: Schema = {}
    required = []
    for name in re.findall(r"\{(\w+)\}", tool.path):
        record = name.removesuffix("_id").replace("_", " ")
        known = meanings["asset_id"] if name == "asset_id" else f"The ID of the {record}."
        fields[name] = {"type": "string", "minLength": 1, "description": known}
        required.append(name)
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "query":
            fields[parameter["name"]] = dict(parameter["schema"])
            required += [parameter["name"]] if parameter.get("required") else []
    body = _body(tool, operation, description)
    fields |= body.get("properties", {})
    required += body.get("required", [])
    for name, schema in fields.items():
        meaning = (
            meanings.get(f"{tool.wrapper}.{name}")
            or meanings.get(f"?{name}" if tool.reads else f".{name}")
            or meanings.get(name)
        )
        if "description" not in schema and meaning:
            schema["description"] = _plain(meaning)
    if tool.takes_key:
        fields[KEY] = KEY_SCHEMA
        required.append(KEY)
    whole: Schema = {"type": "object", "properties": fields, "additionalProperties": False}
    if required:
        whole["required"] = required
    return _closed(whole, description)


def _body(tool: Tool, operation: Schema, description: Schema) -> Schema:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return {}
    schema = _resolved(content["schema"], description)
    if tool.wrapper:
        schema = _resolved(schema["properties"][tool.wrapper], description)
    return {
        "properties": {name: dict(field) for name, field in schema.get("properties", {}).items()},
        "required": list(schema.get("required", [])),
    }


def _output(operation: Schema, description: Schema) -> Schema:
    schema = next(
        answer["content"]["application/json"]["schema"]
        for status, answer in sorted(operation["responses"].items())
        if status.startswith("2")
    )
    return _closed({"type": "object", **_resolved(schema, description)}, description)


def _resolved(schema: Schema, description: Schema) -> Schema:
    while "$ref" in schema:
        schema = description["components"]["schemas"][schema["$ref"].removeprefix(_REFERENCE)]
    return schema


def _closed(schema: Schema, description: Schema) -> Schema:
    """The schema with everything that it refers to, under `$defs`."""
    held: Schema = {}
    due = list(_references(schema))
    while due:
        name = due.pop()
        if name not in held:
            held[name] = description["components"]["schemas"][name]
            due += _references(held[name])
    whole = {**schema, "$defs": dict(sorted(held.items()))} if held else schema
    moved: Schema = json.loads(json.dumps(whole).replace(_REFERENCE, _HELD))
    return moved


def _references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(reference := part.get("$ref"), str):
            yield reference.removeprefix(_REFERENCE)
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)


def _plain(meaning: str) -> str:
    """Without the marks of Markdown: a model reads text."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", meaning).replace("`", "")
