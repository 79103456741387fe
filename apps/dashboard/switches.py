"""Which store and which mode the person looks at; both are kept in the session."""

from django.http import HttpResponse, HttpResponseRedirect

from apps.access.sessions import MODE_KEY, STORE_KEY, memberships
from apps.core.errors import NotFound
from apps.core.models import Mode
from apps.dashboard.plumbing import PageRequest, find, go, next_url
from apps.stores.models import Store


def store(request: PageRequest) -> HttpResponse:
    """Another store of the person, always beginning at its first page: nothing of the old store may
    be shown in it."""
    stores = memberships(request.person).values("store_id")
    chosen = find(Store.objects.filter(pk__in=stores), request.POST.get("store_id", ""))
    request.session[STORE_KEY] = str(chosen.pk)
    return go("home")


def mode(request: PageRequest) -> HttpResponse:
    """Live or test. A list stays open; one record doesn't, because it exists in one mode only."""
    chosen = request.POST.get("mode")
    if chosen not in Mode.values:
        raise NotFound
    request.session[MODE_KEY] = chosen
    return HttpResponseRedirect(next_url(request))
