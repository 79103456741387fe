"""Recognition of an unavailable database: the caller did nothing wrong, and may try again in a
moment."""

from django.db import InterfaceError, InternalError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

RETRY_SECONDS = "5"
# After a failover connections may still lead to the server that only reads.
_READS_ONLY = "25006"


def is_outage(error: BaseException | None) -> bool:
    """True also of a server that takes no writes: one that follows another, or has no room left."""
    if isinstance(error, OperationalError | InterfaceError):
        return True
    return (
        isinstance(error, InternalError)
        and getattr(error.__cause__, "sqlstate", None) == _READS_ONLY
    )


def unavailable(request: HttpRequest, retry_seconds: str = RETRY_SECONDS) -> HttpResponse:
    """The page of a 503."""
    answer = render(request, "503.html", status=503)
    answer["Retry-After"] = retry_seconds
    return answer
