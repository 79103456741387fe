"""The web server's application behind its gateway, with its first objects taken out of the garbage
collector's sight.

A collection looks at every object that is alive, and most of those are modules that stay for ever:
requests would pay for that again and again. Afterwards it runs a tenth as often; a request leaves
few cycles behind.
"""

import gc
import os
from collections.abc import Collection, Mapping

from django.core.wsgi import get_wsgi_application

from config import shared_figures

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.update(shared_figures.shared_by(os.getppid()))  # the server, whose workers we all are

from django.conf import settings
from django.urls import get_resolver

from config import memory
from config.gateway import Gateway, Headers, Scope  # its lanes are settings
from config.uploaders import uploader_of

# Anyone who waits for a row or a turn in a thread of the web server gets 503 after this long.
# Behind a pooler the settings of its role say so.
LOCK_TIMEOUT = "8s"
if not settings.DATABASE_POOLER:
    settings.DATABASES["default"]["OPTIONS"]["options"] += f" -c lock_timeout={LOCK_TIMEOUT}"
_threaded = get_wsgi_application()


def _headers_of(scope: Scope) -> Headers:
    """Headers that let a shop's page read why it was refused."""
    from apps.api.plumbing import cors  # with all routes, once they are needed

    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    requested_headers = headers.get(b"access-control-request-headers", "")
    authorization = headers.get(b"authorization", "")
    answer_headers = cors.headers_of_path(
        str(scope["path"]), str(scope["method"]), authorization, requested_headers
    )
    return [
        (name.lower().encode(), value.encode("latin-1")) for name, value in answer_headers.items()
    ]


def _news_of(keys: Collection[str]) -> Mapping[str, str]:
    """Texts that pages of payments would hear now, on a connection as requests have it."""
    from django.db import close_old_connections

    from apps.payments.documents.news import beats_of_all

    close_old_connections()
    try:
        return beats_of_all(keys)
    finally:
        close_old_connections()


memory.share_heaps()
application = Gateway(_threaded, _headers_of, uploader_of, _news_of)
get_resolver().url_patterns  # noqa: B018  # all routes and what they load, which stays
memory.freeze_loaded()
gc.set_threshold(*memory.SERVING_THRESHOLDS)
