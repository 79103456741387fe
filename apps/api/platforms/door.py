"""What the platform paths share: only a store that is a platform comes in, and fields may stand in a wrapper or at top level."""

from typing import Any

from rest_framework.request import Request

from apps.access.on_behalf import NotAPlatform
from apps.api.plumbing.views import Door
from apps.core.literal import Invalid, Schema
from apps.core.requests import Request as Body
from apps.core.requests import shape_of


class PlatformDoor(Door):
    """A view for platforms."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not self.access.store.is_platform:
            raise NotAPlatform

    def fields(self, request: Request, wrapper: str) -> dict[str, object]:
        """Those of a body whose wrapper may be left out. Raises Invalid."""
        body = self.body(request)
        inner = body.get(wrapper)
        if inner is None:
            return body
        if not isinstance(inner, dict):
            raise Invalid(wrapper, "object")
        return inner


def unwrapped_schema(wrapper: str, asked: type[Body]) -> Schema:
    """The JSON schema of a body whose wrapper may be left out."""
    shape = shape_of(asked).schema()
    return {"type": "object", "properties": {wrapper: shape, **shape["properties"]}}
