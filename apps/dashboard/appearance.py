"""Light or dark, as the person chose on this device; without a choice the pages follow their
system."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from apps.core.errors import NotFound
from apps.dashboard import plumbing

COOKIE = "theme"
AGE_SECONDS = 365 * 24 * 3600
SYSTEM = "system"
THEMES = ("light", "dark")


def theme_of(request: HttpRequest) -> str:
    """The theme that was chosen; empty: the system's."""
    chosen = request.COOKIES.get(COOKIE, "")
    return chosen if chosen in THEMES else ""


def switch(request: "plumbing.PageRequest") -> HttpResponse:
    """Kept in a cookie and not with the person: a phone and a desktop stand in different light."""
    chosen = request.POST.get("theme")
    answer = HttpResponseRedirect(plumbing.next_url(request))
    if chosen == SYSTEM:
        answer.delete_cookie(COOKIE, samesite="Lax")
    elif chosen in THEMES:
        is_secure = settings.SESSION_COOKIE_SECURE
        answer.set_cookie(
            COOKIE, chosen, AGE_SECONDS, secure=is_secure, httponly=True, samesite="Lax"
        )
    else:
        raise NotFound
    return answer
