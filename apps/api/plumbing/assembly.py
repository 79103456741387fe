"""The finished API description: what drf-spectacular made of the views, with the webhooks, and every document told once, by name."""

import json
from typing import Any

from apps.api.plumbing.components import components, reference
from apps.api.schemas import access, money, platforms
from apps.api.schemas.events import operation_of
from apps.core.documents import Document, schema_of
from apps.core.literal import Schema
from apps.webhooks.catalogue import PLATFORM_ONLY, SUBSCRIBABLE

# What a schema that is no class yet is called where its constant says it only beside its neighbors.
_CLASSES = {
    "KEY": "ApiKey", "APP": "OAuthApp", "APP_WITH_SECRET": "OAuthAppWithSecret", "TOKENS": "OAuthTokens", "CLOCK": "TestClock",
    "CONTEXT": "AgentContext", "_TOKEN": "AgentToken",
}  # fmt: skip


def finish(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """drf-spectacular's hook on the finished document. It leaves out the security of what is public,
    which would then be that of the whole document."""
    for methods in result["paths"].values():
        for operation in methods.values():
            operation.setdefault("security", [])
    result["webhooks"] = {event: {"post": operation_of(event)} for event in (*SUBSCRIBABLE, *PLATFORM_ONLY)}
    tables = _tables()
    named: dict[str, Any] = {json.dumps(schema, sort_keys=True): name for name, schema in tables.items()}
    named |= {json.dumps(schema_of(cls), sort_keys=True): cls for cls in _all(Document)}
    for part in ("paths", "webhooks"):
        result[part] = _by_name(result[part], named)
    left = {
        name: {key: _by_name(value, named) for key, value in schema.items()}
        for name, schema in tables.items()
        if isinstance(named[json.dumps(schema, sort_keys=True)], str)
    }
    result["components"]["schemas"] = {**components(), **left}
    return result


def _all(cls: type) -> list[type]:
    children: list[type] = cls.__subclasses__()
    own = [one for one in children if ".documents" in one.__module__ and not getattr(one, "__parameters__", ())]
    return [*own, *(deeper for one in children for deeper in _all(one))]


def _tables() -> dict[str, Schema]:
    """The constants of the tables of answers."""
    constants = {name: value for module in (money, access, platforms) for name, value in vars(module).items() if name.isupper()}
    objects = {name: value for name, value in constants.items() if isinstance(value, dict) and ("properties" in value or "anyOf" in value)}
    return {_CLASSES.get(name, name.strip("_").title().replace("_", "")): value for name, value in objects.items()}


def _by_name(value: Any, named: dict[str, Any]) -> Any:
    """The same with references to what has a name."""
    if isinstance(value, list):
        return [_by_name(one, named) for one in value]
    if not isinstance(value, dict):
        return value
    found = named.get(json.dumps(value, sort_keys=True, default=str)) if "properties" in value or "anyOf" in value else None
    if found is None:
        return {key: _by_name(one, named) for key, one in value.items()}
    return {"$ref": f"#/components/schemas/{found}"} if isinstance(found, str) else reference(found)
