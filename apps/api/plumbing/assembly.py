"""The finished API description: what drf-spectacular made of the views, with the webhooks, and
every document told once, by name."""

from typing import Any

from apps.api.plumbing.components import components, reference
from apps.api.plumbing.events import operation_of
from apps.core.messages.fields import Schema
from apps.webhooks.catalogue import EVENTS


def finish(result: Schema, generator: Any, request: Any, public: bool) -> Schema:
    """drf-spectacular's hook on the finished document. It leaves out the security of what is
    public, which would then be that of the whole document."""
    for methods in result["paths"].values():
        for operation in methods.values():
            operation.setdefault("security", [])
    result["webhooks"] = {event: {"post": operation_of(event, reference)} for event in EVENTS}
    result["components"]["schemas"] = components()
    return result
