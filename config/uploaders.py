"""Uploader of a request, before the application has looked: as the application will read it."""

from django.conf import settings
from django.core.handlers.wsgi import get_str_from_wsgi
from django.http import HttpRequest, parse_cookie

from apps.core.web.middleware import client_address
from config.gateway import Scope, environ_of
from config.upload_shares import UploaderClaim


def uploader_of(scope: Scope) -> UploaderClaim:
    """The session that it brings, if any, and the client's address. Of several cookies of one name,
    in several headers and spellings, Django takes one: so it is asked."""
    request = HttpRequest()
    request.META = environ_of(scope, b"")
    cookies = parse_cookie(get_str_from_wsgi(request.META, "HTTP_COOKIE", ""))
    return UploaderClaim(cookies.get(settings.SESSION_COOKIE_NAME, ""), client_address(request))
