"""Store and mode that the person looks at, both kept in the session, and the theme."""

from django.conf import settings
from django.http import HttpResponse, HttpResponseRedirect

from apps.access.person.sessions import choose_mode, look_at, memberships
from apps.core.errors import NotFound
from apps.core.models import Mode
from apps.dashboard.site.frame import THEME_COOKIE, THEMES
from apps.dashboard.site.views import PageRequest, find, go, next_url
from apps.stores.models import Store

THEME_SECONDS = 365 * 24 * 3600
OF_SYSTEM = "system"


def store(request: PageRequest) -> HttpResponse:
    """Another store of the person, always beginning at its first page, in the mode that they used
    last there: nothing of the old store may be shown in it."""
    stores = memberships(request.person).values("store_id")
    chosen = find(Store.objects.filter(pk__in=stores), request.POST.get("store_id", ""))
    look_at(request.session, chosen.pk)
    return go("home")


def mode(request: PageRequest) -> HttpResponse:
    """Live or test. A list stays open; one record doesn't, because it exists in one mode only."""
    chosen = request.POST.get("mode")
    if chosen not in Mode.values or not hasattr(request, "member"):
        raise NotFound
    choose_mode(request.session, request.person, request.member, chosen)
    return HttpResponseRedirect(next_url(request))


def theme(request: PageRequest) -> HttpResponse:
    """Kept in a cookie and not with the person: a phone and a desktop are in different light."""
    chosen = request.POST.get("theme")
    answer = HttpResponseRedirect(next_url(request))
    if chosen == OF_SYSTEM:
        answer.delete_cookie(THEME_COOKIE, samesite="Lax")
    elif chosen in THEMES:
        is_secure = settings.SESSION_COOKIE_SECURE
        answer.set_cookie(
            THEME_COOKIE, chosen, THEME_SECONDS, secure=is_secure, httponly=True, samesite="Lax"
        )
    else:
        raise NotFound
    return answer
