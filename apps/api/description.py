"""The OpenAPI document and the browsable pages made from it, served without any outside host."""

from functools import cache
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularSwaggerSplitView


@csrf_exempt
@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The document is the same for everybody, and made once per process: drawing it up takes a second."""
    return HttpResponse(_document(), content_type="application/json", headers={"Cache-Control": "public, max-age=300"})


@cache
def _document() -> bytes:
    return orjson.dumps(SchemaGenerator().get_schema(request=None, public=True))


class Docs(SpectacularSwaggerSplitView):
    authentication_classes: list[Any] = []
    template_name = "docs.html"
