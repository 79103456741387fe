"""Shared frame of every page's view: session, store, role, mode, rate and step-up.

A page is a plain function of a request that carries `access` and `member`. Nothing it answers may
be kept by a cache.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, cast
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.db import models
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.urls.resolvers import URLPattern
from django.utils import timezone, translation
from django.utils.functional import SimpleLazyObject
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from apps.access.access import Access
from apps.access.factors import stepup
from apps.access.person import sessions
from apps.core import clock
from apps.core.acting import ActorKind, become
from apps.core.documents import drawings
from apps.core.errors import Failure, NotFound, RefusalKind
from apps.core.messages.fields import Invalid, is_uuid
from apps.core.redis import buckets
from apps.core.text import regions
from apps.core.web import variables
from apps.core.web.forms import sentences as sentences
from apps.core.web.middleware import client_address
from apps.dashboard.go_live import first_mode
from apps.dashboard.notices.inbox import Inbox
from apps.dashboard.site.frame import frame_of, theme_of
from apps.dashboard.site.languages import language_of
from apps.dashboard.site.navigation import MenuLine, menu_of
from apps.stores import profile, roles
from apps.stores.models import Member, User
from apps.stores.staff import suspensions
from apps.stores.test_clock import clock_of

Refusals = (Failure, Invalid)
SIDES_KEPT_MAX = 1024


class PageRequest(HttpRequest):
    """A request of a signed-in person; `access` and `member` are missing on pages for people
    without a store."""

    person: User
    access: Access
    proof: str  # of the second factor, where the page has asked (apps.dashboard.site.confirming)
    member: Member
    inbox: Inbox
    zone: ZoneInfo  # of the person: times are shown and days begin in it


Answer = HttpResponse | StreamingHttpResponse
View = Callable[..., Answer]
ZONE_COOKIE = "time_zone"  # what the browser says of itself (static/js/dashboard.js)
EVERYBODY = "everybody"
SIGNED_IN = "signed in"
WRITES = "dashboard_writes"
VISITOR_WRITES = "visitor_writes"


@dataclass(frozen=True)
class Page:
    """A line of the table of pages. `permission` is asked for reading, `write` for a POST; `stepup`
    for both.

    A page that `is_act` asks for a code itself, for what is done there
    (apps.dashboard.site.confirming). One that `renders` a file takes from the person's bucket of
    that policy too, which the API counts with it. Whatever is sent to a page takes from
    `writes`: of the person in all sessions, or of the address of a visitor.
    """

    path: str
    name: str
    view: View
    permission: str = roles.VIEW
    write: str = ""
    methods: tuple[str, ...] = ("GET",)
    stepup: bool = False
    is_act: bool = False
    renders: str = ""

    def route(self) -> URLPattern:
        return path(self.path, view_of(self), name=self.name)

    @property
    def writes(self) -> str:
        """The policy of its POSTs; empty when it takes none."""
        if "POST" not in self.methods:
            return ""
        return VISITOR_WRITES if self.permission == EVERYBODY else WRITES

    @property
    def is_export(self) -> bool:
        return self.path.endswith(".csv")

    def needs(self, method: str) -> str:
        return self.write if method == "POST" and self.write else self.permission


def form(
    path: str,
    name: str,
    view: View,
    permission: str = roles.VIEW,
    write: str = "",
    *,
    stepup: bool = False,
    is_act: bool = False,
) -> Page:
    """A page that is also sent back: with its form, or its question."""
    return Page(path, name, view, permission, write, ("GET", "POST"), stepup, is_act)


def button(
    path: str, name: str, view: View, permission: str = roles.VIEW, *, is_act: bool = False
) -> Page:
    """A page that is only posted to, by a button on another page."""
    return Page(path, name, view, permission, methods=("POST",), is_act=is_act)


def view_of(page: Page) -> View:
    """The view of a page, behind everything that is asked first."""

    @wraps(page.view)
    def enter(request: HttpRequest, **arguments: str) -> Answer:
        method = "GET" if request.method == "HEAD" else str(request.method)
        response: Answer = HttpResponseNotAllowed(page.methods)
        if method in page.methods:
            with _speaking_to(cast(PageRequest, request), page):
                response = _answer(request, page, method, arguments)
        response["Cache-Control"] = "no-store, private"
        return response

    return enter


@contextmanager
def _speaking_to(request: PageRequest, page: Page) -> Iterator[None]:
    """In the zone, language and form of the person who has signed in; a visitor's language is that
    of their browser. Exports are English for everybody."""
    user = request.user
    language = str(settings.LANGUAGE_CODE) if page.is_export else language_of(request)
    with translation.override(language):
        if not isinstance(user, User):
            yield
            return
        request.zone = profile.zone_of(user, request.COOKIES.get(ZONE_COOKIE, ""))
        with timezone.override(request.zone), regions.shown_in(user.region):
            yield


def _answer(request: HttpRequest, page: Page, method: str, arguments: dict[str, str]) -> "Answer":
    refused = _refusal(request, page, method)
    if refused is not None:
        return refused
    try:
        answer = _shown(cast(PageRequest, request), page, arguments)
        if method == "POST" and hasattr(request, "access"):
            inbox_of(cast(PageRequest, request)).forget()
        return answer
    except stepup.StepUpRequired:
        return away(request, _stepup_url(request))
    except Failure as refusal:
        if refusal.kind is not RefusalKind.NOT_FOUND:
            raise
        raise Http404 from None


def _refusal(request: HttpRequest, page: Page, method: str) -> HttpResponse | None:
    """The answer to somebody who may not be here; None opens the page."""
    if page.permission == EVERYBODY:
        is_write = method == "POST"
        address = client_address(request)
        return _take_token(request, page.writes, "live", address) if is_write else None
    now = clock.real_now()
    if not request.user.is_authenticated:
        return away(request, _sign_in_url(request, page))
    if not sessions.is_alive(request.user, request.session, now):
        logout(request)
        return away(request, _sign_in_url(request, page))
    browser = request.headers.get("User-Agent", "")
    sessions.keep(
        request.session, request.user, now, address=client_address(request), browser=browser
    )
    limited = _take_token(request, "dashboard", "live", str(request.session.session_key))
    if limited is None and method == "POST":
        limited = _take_token(request, page.writes, "live", str(request.user.pk))
    if limited is not None:
        return limited
    refused = _enter_store(cast(PageRequest, request), page.needs(method))
    if refused is not None:
        return refused
    if _is_guarded(request, page) and not stepup.is_fresh(request.session, request.user, now):
        return away(request, _stepup_url(request))
    return _take_for_file(cast(PageRequest, request), page) if page.renders else None


def _shown(request: PageRequest, page: Page, arguments: dict[str, str]) -> "Answer":
    """The view's answer; a file that has to be drawn takes more of the person's bucket than one
    that is there."""
    if not page.renders:
        return page.view(request, **arguments)
    try:
        with drawings.charged_to(page.renders, request.access.mode, _whose_files(request)):
            return page.view(request, **arguments)
    except drawings.TooManyDrawings as refusal:
        return too_fast(request, refusal.taken)


def _whose_files(request: PageRequest) -> str:
    access = request.access
    return f"{access.store_id}:{access.kind}:{request.person.pk}"


def _take_for_file(request: PageRequest, page: Page) -> HttpResponse | None:
    return _take_token(request, page.renders, request.access.mode, _whose_files(request))


def _is_guarded(request: HttpRequest, page: Page) -> bool:
    """True if the reader may send the page; those who may only look at it need no code."""
    member = getattr(request, "member", None)
    return page.stepup and (
        not page.write or (member is not None and roles.may(member.role, page.write))
    )


def _enter_store(request: PageRequest, permission: str) -> HttpResponse | None:
    request.person = cast(User, request.user)
    become(ActorKind.PERSON, request.person.pk, request.person.email)
    member = sessions.member_of(request.person, request.session)
    is_shut = member is not None and member.store.sign_ins_suspended_at is not None
    if member is not None and not is_shut:
        if not sessions.is_settled(member, request.session):
            mode = sessions.mode_of(member, request.session) or first_mode(member.store)
            sessions.settle(request.session, request.person, member, mode)
        request.member, request.access = (
            member,
            sessions.access_as(request.person, member, request.session),
        )
        request.META[variables.STORE] = str(member.store_id)
    if permission == SIGNED_IN:
        return None
    if member is None:
        return render(request, "dashboard/no_store.html", status=403)
    if is_shut:
        context = {"store": member.store, "own_stores": sessions.stores_of(request.person)}
        return render(request, "dashboard/shut.html", context, status=403)
    if roles.may(member.role, permission):
        return _refuse_while_resetting(request)
    if is_htmx(request):
        messages.error(request, gettext("Your role does not allow this."))
        return away(request, reverse("dashboard:home"))
    if not roles.may(member.role, roles.VIEW) and request.path == reverse("dashboard:home"):
        return away(request, reverse("dashboard:till"))  # a cashier's place
    return show(request, "dashboard/refused.html", {"role": member.role}, status=403)


def _refuse_while_resetting(request: PageRequest) -> HttpResponse | None:
    """Nothing of test mode is shown or done while its records are put away (decision 740)."""
    if not request.access.store.is_closed_in(request.access.mode):
        return None
    status = 200 if request.method in ("GET", "HEAD") else 409
    return show(request, "dashboard/test_data/resetting.html", status=status)


def _take_token(request: HttpRequest, policy: str, mode: str, bucket: str) -> HttpResponse | None:
    try:
        reading = buckets.take(policy, mode, bucket)
    except buckets.Unavailable:
        return None
    return too_fast(request, reading) if reading.is_limited else None


def too_fast(request: HttpRequest, reading: buckets.Allowance) -> HttpResponse:
    response = render(
        request, "dashboard/too_fast.html", {"seconds": reading.retry_after_seconds}, status=429
    )
    for name, value in reading.headers().items():
        response[name] = value
    return response


def is_htmx(request: HttpRequest) -> bool:
    return bool(getattr(request, "htmx", False))


def away(request: HttpRequest, url: str) -> HttpResponse:
    """Send the whole browser somewhere: a part that HTMX asked for must not be filled with another
    page."""
    if is_htmx(request):
        return HttpResponse(status=403, headers={"HX-Redirect": url})
    return HttpResponseRedirect(url, status=303 if request.method == "POST" else 302)


def _sign_in_url(request: HttpRequest, page: Page) -> str:
    """Signing in leads back to the page that somebody was on; who sent a form reads why it is to
    be filled in again."""
    own = request.get_full_path() if "GET" in page.methods else ""
    back = request.htmx.current_url_abs_path or "" if is_htmx(request) else own  # type: ignore[attr-defined]  # django_htmx put it there
    parameters = {"next": back, "ended": "1" if request.method == "POST" else ""}
    query = urlencode({name: value for name, value in parameters.items() if value})
    return reverse("dashboard:sign_in") + (f"?{query}" if query else "")


def _stepup_url(request: HttpRequest) -> str:
    return f"{reverse('dashboard:stepup')}?{urlencode({'next': request.get_full_path()})}"


def next_url(request: HttpRequest) -> str:
    """Address that the person wanted to open, if it is a page of the dashboard."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    home = reverse("dashboard:home")
    prefixes = (home, reverse("admin:index"), reverse("oauth_consent"))
    is_ours = target.startswith(prefixes) and url_has_allowed_host_and_scheme(
        target, allowed_hosts=None
    )
    return target if is_ours else home


def show(
    request: PageRequest,
    template: str,
    context: Mapping[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """A page of a store, with what its frame needs; a person without a store gets the page
    alone."""
    member = getattr(request, "member", None)
    if member is None:
        return render(
            request, template, {"frame": "dashboard/bare.html", **(context or {})}, status=status
        )
    frame = SimpleLazyObject(lambda: frame_of(request.access, member))
    menu = SimpleLazyObject(lambda: menu_of(member.role, request.path, without=frame.unused))
    inbox = inbox_of(request)
    around = {
        "access": request.access,
        "member": member,
        "may": {permission: roles.may(member.role, permission) for permission in roles.TABLE},
        "test_clock": None if request.access.is_live else clock_of(request.access.store),
        # A part of a page, which HTMX asks for, shows none of these.
        "menu": menu,
        "side": SimpleLazyObject(lambda: _side(menu.sections, inbox.badge)),
        "own_stores": SimpleLazyObject(lambda: sessions.stores_of(request.person)),
        "unread": SimpleLazyObject(lambda: frame.unread_count),
        "initials": _initials(request.person),
        "theme": theme_of(request),
        "inbox": inbox,
        "suspended": SimpleLazyObject(lambda: suspensions.notices_of(request.access.store)),
    }
    return render(request, template, {**around, **(context or {})}, status=status)


def _side(sections: tuple[MenuLine, ...], badge: str) -> SafeString:
    """The side bar, which a page has twice: beside it, and behind the button of small screens."""
    return _drawn_side(get_language() or "", sections, badge)


# Kept for all stores: it has words, addresses and the count alone.
@lru_cache(maxsize=SIDES_KEPT_MAX)
def _drawn_side(language: str, sections: tuple[MenuLine, ...], badge: str) -> SafeString:
    return render_to_string("dashboard/_side.html", {"sections": sections, "badge": badge})


def inbox_of(request: PageRequest) -> Inbox:
    """Counted once for a page: beside Home in the side bar, and on the pages that show it."""
    if not hasattr(request, "inbox"):
        request.inbox = Inbox(request.access)
    return request.inbox


def _initials(person: User) -> str:
    """Two letters at most, of the name or else of the address."""
    words = person.name.split() or [person.email]
    return "".join(word[0] for word in [words[0], *words[1:][-1:]]).upper()


def go(name: str, *arguments: object) -> HttpResponse:
    """On to another page after a POST."""
    return HttpResponseRedirect(
        reverse(f"dashboard:{name}", args=[str(argument) for argument in arguments]), status=303
    )


def find(rows: "models.QuerySet[Any]", id: str) -> Any:
    """The row with this id among `rows`; else the one 404."""
    row = rows.filter(pk=id).first() if is_uuid(id) else None
    if row is None:
        raise NotFound
    return row
