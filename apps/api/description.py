"""The OpenAPI document and the browsable pages made from it, served without any outside host."""

from collections.abc import Callable
from functools import cache

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe


@csrf_exempt
@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The document is the same for everybody, and made once per process: drawing it up takes a second."""
    return HttpResponse(_document(), content_type="application/json", headers={"Cache-Control": "public, max-age=300"})


@cache
def _document() -> bytes:
    from drf_spectacular.generators import SchemaGenerator  # half of what REST framework weighs, for this page alone

    return orjson.dumps(SchemaGenerator().get_schema(request=None, public=True))


@require_safe
def docs(request: HttpRequest) -> HttpResponseBase:
    return _pages()(request)


@cache
def _pages() -> Callable[[HttpRequest], HttpResponseBase]:
    from drf_spectacular.views import SpectacularSwaggerSplitView

    options: dict[str, object] = {"url_name": "openapi", "authentication_classes": [], "template_name": "docs.html"}
    return SpectacularSwaggerSplitView.as_view(**options)
