"""Base of the platform paths: only a store that is a platform comes in."""

from typing import Any

from rest_framework.request import Request

from apps.access.on_behalf import NotAPlatform
from apps.api.plumbing.views import ApiView


class PlatformView(ApiView):
    """A view for platforms."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not self.access.store.is_platform:
            raise NotAPlatform
