"""`/dev/mailbox`: the emails that were written to the folder instead of being sent. In production
there is no such page."""

from collections.abc import Callable

from csp.decorators import csp_replace
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from apps.core import mailbox


def index(request: HttpRequest) -> HttpResponse:
    _only_outside_production()
    return _kept_by_nobody(render(request, "dev/mailbox.html", {"emails": mailbox.stored_emails()}))


def show_one(request: HttpRequest, name: str) -> HttpResponse:
    return _kept_by_nobody(render(request, "dev/email.html", {"email": _find(name)}))


Page = Callable[[HttpRequest, str], HttpResponse]
_STYLED: Callable[[Page], Page] = csp_replace(  # type: ignore[assignment]  # it is typed for views without arguments
    {
        "style-src": ["'unsafe-inline'"],
        "sandbox": ["allow-popups", "allow-top-navigation-by-user-activation"],
    }
)


@_STYLED
def show_html(request: HttpRequest, name: str) -> HttpResponse:
    """The email as a mail program draws it; its styles are in it, so this page may have them and
    nothing else."""
    return _kept_by_nobody(HttpResponse(_find(name).html))


def _find(name: str) -> mailbox.StoredEmail:
    _only_outside_production()
    email = mailbox.stored_email(name)
    if email is None:
        raise Http404
    return email


def _only_outside_production() -> None:
    if settings.IS_PRODUCTION:
        raise Http404


def _kept_by_nobody(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store, private"
    return response
