"""Logos as we have drawn them: named by their content, so that a cache may keep them for good.
Nothing else is served."""

import uuid

from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.hosted.domains import store_of

# Whatever a browser took it for, it could do nothing.
_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Disposition": 'inline; filename="logo.png"',
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}


@require_safe
def logo(request: HttpRequest, store_id: str, digest: str) -> HttpResponse:
    if store_of(request) not in (None, uuid.UUID(store_id)):
        raise Http404
    name = f"logos/{store_id}/{digest}.png"
    try:
        with default_storage.open(name) as file:
            response = HttpResponse(file.read(), content_type="image/png", headers=_HEADERS)
    except OSError:
        raise Http404 from None
    response._csp_replace = {"default-src": ["'none'"], "sandbox": []}  # type: ignore[attr-defined]  # read by the policy's middleware
    return response
