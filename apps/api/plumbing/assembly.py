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
    if FORM in contents or any(content["schema"].get("required") for content in contents.values()):
        operation["requestBody"]["required"] = True


def _exemplify(operation: Schema, example: Schema) -> None:
    """Adds the reference's example: a request to a running service, and its answer."""
    if example["request"] is not None and "requestBody" in operation:
        operation["requestBody"]["content"]["application/json"]["example"] = example["request"]
    answer = operation["responses"].get(str(example["status"]), {}).get("content", {})
    if example["response"] is not None and "application/json" in answer:
        answer["application/json"]["example"] = example["response"]
