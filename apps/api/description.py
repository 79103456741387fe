"""The OpenAPI document, drawn up once. The documentation is made from it (apps.docs)."""

import subprocess
import sys
import threading
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

SECONDS = 60
_one_at_a_time = threading.Lock()


@csrf_exempt
@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The document is the same for everybody, and kept: drawing it up takes a second."""
    with _one_at_a_time:  # who comes first has it drawn up, the others wait for that
        document = _document()
    return HttpResponse(
        document, content_type="application/json", headers={"Cache-Control": "public, max-age=300"}
    )


@cache
def _document() -> bytes:
    """By a process that ends: the generator and what it leaves behind are a tenth of a web process,
    which Python never gives back."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "openapi"]
    return subprocess.run(  # noqa: S603  our own
        command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, check=True, timeout=SECONDS
    ).stdout
