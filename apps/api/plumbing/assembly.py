"""The finished API description: what drf-spectacular made of the views, with titles, groups and
examples of the reference, the webhooks, and every document once, by name."""

import json
import re
from typing import Any

from django.conf import settings

from apps.api.plumbing.components import components, reference
from apps.api.plumbing.events import operation_of
from apps.api.plumbing.routes import FORM
from apps.core.messages.fields import Schema
from apps.webhooks.catalogue import EVENTS

PREFIX = "/api/v2"
_GROUP = re.compile(r"\[(\w+)\] (.+)")
_LINE = re.compile(r"([A-Z]+ \S+) \| (.+)")
_OAUTH = "oauth"  # the group of what answers outside of /api/v2 as well


def finish(result: Schema, generator: Any, request: Any, public: bool) -> Schema:
    """drf-spectacular's hook on the finished document. It leaves out the security of what is
    public, which would then be that of the whole document."""
    groups, titles = _reference()
    folder = settings.BASE_DIR / "docs" / "reference"
    examples: Schema = json.loads((folder / "examples.json").read_text())
    for path, methods in result["paths"].items():
        for method, operation in methods.items():
            operation.setdefault("security", [])
            name = f"{method.upper()} {path.removeprefix(PREFIX)}"
            group, title = titles.get(name, (_OAUTH, operation["summary"]))
            operation |= {"tags": [group], "summary": title}
            _require(operation)
            if name in examples:
                _exemplify(operation, examples[name])
            for status in operation["responses"]:
                if beside := examples.get(f"{name} {status}"):
                    _exemplify_answer(operation, beside)
    result["tags"] = [{"name": name, "description": words} for name, words in groups.items()]
    result["webhooks"] = {event: {"post": operation_of(event, reference)} for event in EVENTS}
    result["components"]["schemas"] = components()
    return result


def _reference() -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """The groups with their titles, and of each operation its group and title."""
    groups: dict[str, str] = {}
    titles: dict[str, tuple[str, str]] = {}
    text = (settings.BASE_DIR / "docs" / "reference" / "operations.txt").read_text()
    for line in text.splitlines():
        if match := _GROUP.fullmatch(line):
            groups[match[1]] = match[2]
        elif match := _LINE.fullmatch(line):
            titles[match[1]] = next(reversed(groups)), match[2]
    return groups, titles


def _require(operation: Schema) -> None:
    """A body with a required field is required itself, and so is a form."""
    contents = operation.get("requestBody", {}).get("content", {})
    if FORM in contents or any(_asks(content["schema"]) for content in contents.values()):
        operation["requestBody"]["required"] = True


def _asks(schema: Schema) -> bool:
    """Tells whether it refuses an empty object."""
    if "anyOf" in schema:
        return all(map(_asks, schema["anyOf"]))
    return not {"required", "minProperties", "if"}.isdisjoint(schema)


def _exemplify(operation: Schema, example: Schema) -> None:
    """Adds the reference's example: a request to a running service, and its answer. A form has the
    same fields."""
    if example["request"] is not None and "requestBody" in operation:
        for content in operation["requestBody"]["content"].values():
            content["example"] = example["request"]
    _exemplify_answer(operation, example)


def _exemplify_answer(operation: Schema, example: Schema) -> None:
    """A success with another status but the same document has the same answer; a file is shown by
    its beginning."""
    if "file" in example:
        files = operation["responses"][str(example["status"])]["content"]
        files[example["type"]]["example"] = example["file"]
    answer = _json_of(operation["responses"].get(str(example["status"]), {}))
    if example["response"] is None or answer is None:
        return
    for status, response in operation["responses"].items():
        content = _json_of(response) if status.startswith("2") else None
        if content is not None and content["schema"] == answer["schema"]:
            content["example"] = example["response"]


def _json_of(response: Schema) -> Schema | None:
    content: Schema | None = response.get("content", {}).get("application/json")
    return content
