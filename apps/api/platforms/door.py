"""What the platform paths share: only a store that is a platform comes in, and fields may stand in a wrapper or at top level."""

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework.request import Request

from apps.access.on_behalf import NotAPlatform
from apps.api.plumbing.views import Door
from apps.core.errors import Failure
from apps.core.literal import Object, Schema


class PlatformDoor(Door):
    """A view for platforms."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not self.access.store.is_platform:
            raise NotAPlatform


def unwrapped(body: Mapping[str, Any], wrapper: str, refuse: Callable[[str], Failure]) -> Mapping[str, Any]:
    """The fields of a body whose wrapper may be left out."""
    inner = body.get(wrapper)
    if inner is None:
        return body
    if not isinstance(inner, dict):
        raise refuse(f"{wrapper} must be an object")
    return inner


def unwrapped_schema(wrapper: str, shape: Object) -> Schema:
    """The JSON schema of such a body."""
    return {"type": "object", "properties": {wrapper: shape.schema(), **shape.schema()["properties"]}}
