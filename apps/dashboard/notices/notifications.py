"""The notifications of a store: what has happened, which emails a person gets about it, and the
link that ends them."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt

from apps.core.errors import NotFound
from apps.core.messages.fields import is_uuid
from apps.core.text.wording import translated
from apps.dashboard.notices.notification_lines import days_of
from apps.dashboard.site.views import PageRequest, go, show
from apps.dashboard.tables.paging import window
from apps.stores import roles
from apps.stores.models import Member, Notification
from apps.stores.notices import kinds as notification_kinds
from apps.stores.notices import notifications
from apps.stores.notices.kinds import CHOICES, KINDS, NotificationKind
from apps.stores.notices.notifications import Channels

SHOWN = "shown_"
ON = "on"


@dataclass(frozen=True)
class NotificationLine:
    """A kind on the page of settings, with what the person has chosen of it."""

    name: str
    kind: NotificationKind
    channels: Channels

    @property
    def choices(self) -> list[tuple[str, str]]:
        return [(choice, translated(CHOICES[choice])) for choice in self.kind.choices]


def index(request: PageRequest) -> HttpResponse:
    """Newest first. One is read when it is opened or marked, and all at once by a button."""
    member = request.member
    every = Notification.objects.visible_to(request.access)
    rows = notifications.shown_to(member, every).order_by("-created_at", "-id")
    page = window(rows, request.GET, {})
    context = {"window": page, "days": days_of(page.rows, member)}
    return show(request, "dashboard/notifications/list.html", context)


def open_one(request: PageRequest, id: str) -> HttpResponse:
    """To what it is about; from then on it is read."""
    row = _one(request, id)
    notifications.mark_read(request.member, row)
    return HttpResponseRedirect(row.path)


def mark_read(request: PageRequest) -> HttpResponse:
    """One, or without an id all of the mode. Everybody who sees them marks their own."""
    _reader(request)
    id = request.POST.get("id", "")
    if id:
        notifications.mark_read(request.member, _one(request, id))
    else:
        notifications.mark_all_read(request.member, request.access.mode)
    return go("notifications")


def _one(request: PageRequest, id: str) -> Notification:
    if not is_uuid(id):
        raise NotFound
    row: Notification | None = Notification.objects.visible_to(request.access).filter(pk=id).first()
    if row is None:
        raise NotFound
    return row


def choose(request: PageRequest) -> HttpResponse:
    """Everybody who sees something of the store chooses their own."""
    member = _reader(request)
    if request.method == "POST":
        fields = request.POST.dict()
        notifications.choose(request.person, member.store, fields)
        notifications.show_kinds(request.person, member.store, _shown(fields))
        messages.success(request, gettext("Saved for {name}.").format(name=member.store.name))
        return go("notification_settings")
    chosen = notifications.channels_of(member)
    lines = [NotificationLine(name, kind, chosen[name]) for name, kind in KINDS.items()]
    return show(request, "dashboard/notifications/settings.html", {"lines": lines})


def _reader(request: PageRequest) -> Member:
    member: Member | None = getattr(request, "member", None)
    if member is None or not roles.may(member.role, roles.VIEW):
        raise NotFound
    return member


def _shown(fields: Mapping[str, str]) -> dict[str, bool]:
    """Kinds whose box was on the page; without a tick only what is hidden beside it is sent."""
    boxes = {name: fields.get(f"{SHOWN}{name}") for name in KINDS}
    return {name: value == ON for name, value in boxes.items() if value is not None}


# a mail program presses it, without a page or a session; the token is the key, and it only ends
# emails
@csrf_exempt
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Opening the link changes nothing: mail programs look at links too."""
    try:
        user, store, kind = notifications.subscription_of(token)
    except NotFound:
        return render(request, "dashboard/notifications/unsubscribe_over.html", status=404)
    if request.method == "POST":
        notifications.choose(user, store, {kind: notification_kinds.OFF})
    context = {"store": store, "kind": KINDS[kind], "is_done": request.method == "POST"}
    return render(request, "dashboard/notifications/unsubscribe.html", context)
