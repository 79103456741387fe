"""Tells whether somebody looks at a page: a browser that goes there says so in its headers.
Programs that make previews of links, and mail scanners, say nothing of the kind."""

from django.conf import settings
from django.http import HttpRequest


def is_looked_at(request: HttpRequest) -> bool:
    """True if a browser shows the page to somebody who isn't signed in to the dashboard. What it
    fetches ahead, nobody has seen."""
    headers = request.headers
    return (
        request.method == "GET"
        and headers.get("Sec-Fetch-Mode") == "navigate"
        and "prefetch" not in headers.get("Sec-Purpose", "")
        and settings.SESSION_COOKIE_NAME not in request.COOKIES
    )
