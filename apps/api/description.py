"""The OpenAPI document and the browsable pages made from it, served without any outside host."""

from typing import Any

from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView


class Description(SpectacularJSONAPIView):
    authentication_classes: list[Any] = []


class Docs(SpectacularSwaggerSplitView):
    authentication_classes: list[Any] = []
    template_name = "docs.html"
