"""The notifications of a store: what has happened, which emails a person gets about it, and the
link that ends them."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

from apps.core.errors import NotFound
from apps.dashboard.paging import window
from apps.dashboard.plumbing import PageRequest, go, show
from apps.stores import notification_kinds, notifications
from apps.stores.models import Notification
from apps.stores.notification_kinds import CHOICES, KINDS, NotificationKind
from apps.stores.notifications import Channels

SHOWN = "shown_"
ON = "on"


@dataclass(frozen=True)
class NotificationLine:
    """One kind on the page of settings, with what the person has chosen of it."""

    name: str
    kind: NotificationKind
    channels: Channels

    @property
    def choices(self) -> list[tuple[str, str]]:
        return [(choice, CHOICES[choice]) for choice in self.kind.choices]


def index(request: PageRequest) -> HttpResponse:
    """Newest first. Whoever has opened the first page has seen what is new."""
    member = request.member
    mode = request.access.mode
    since = notifications.read_until(member, mode) or member.created_at
    every = Notification.objects.visible_to(request.access)
    rows = notifications.shown_to(member, every).order_by("-created_at", "-id")
    context = {"window": window(rows, request.GET, {}), "since": since, "unread": 0}
    if "page" not in request.GET and request.method == "GET":
        notifications.mark_read(member, mode)
    return show(request, "dashboard/notifications/list.html", context)


def choose(request: PageRequest) -> HttpResponse:
    """Everybody chooses their own, whatever they may do in the store."""
    if getattr(request, "member", None) is None:
        raise NotFound
    member = request.member
    if request.method == "POST":
        fields = request.POST.dict()
        notifications.choose(request.person, member.store, fields)
        notifications.show_kinds(request.person, member.store, _shown(fields))
        messages.success(request, f"Saved for {member.store.name}.")
        return go("notification_settings")
    chosen = notifications.channels_of(member)
    lines = [NotificationLine(name, kind, chosen[name]) for name, kind in KINDS.items()]
    return show(request, "dashboard/notifications/settings.html", {"lines": lines})


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
