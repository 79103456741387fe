"""The person's sessions: each browser with its address and last use; one or all others are signed
out, here or by the link of the email about a new sign-in."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from apps.access.models import SignIn
from apps.access.person import new_browsers, sessions
from apps.access.person.browsers import device_of
from apps.core import clock
from apps.core.db import tenancy
from apps.core.errors import NotFound
from apps.core.text.wording import translated
from apps.dashboard.account.security import stay_signed_in
from apps.dashboard.site.views import PageRequest, find, go, show
from apps.stores.auditing import audit
from apps.stores.services import sign_out_everywhere


def index(request: PageRequest) -> HttpResponse:
    current = str(request.session.get(sessions.SIGN_IN_KEY))
    rows = sessions.open_of(request.person, clock.real_now())
    devices = [(row, translated(device_of(row.browser)), str(row.pk) == current) for row in rows]
    return show(
        request,
        "dashboard/security/sessions.html",
        {"rows": devices, "other_count": sum(not is_here for _, _, is_here in devices)},
    )


def end_one(request: PageRequest, id: str) -> HttpResponse:
    at = clock.real_now()
    row: SignIn = find(sessions.open_of(request.person, at), id)
    if str(row.pk) == request.session.get(sessions.SIGN_IN_KEY):
        messages.error(request, gettext("This is your current session. Sign out instead."))
    else:
        sessions.end(row, at)
        messages.success(
            request,
            gettext("{browser} has been signed out.").format(
                browser=translated(device_of(row.browser))
            ),
        )
    return go("sessions")


def end_others(request: PageRequest) -> HttpResponse:
    sign_out_everywhere(request.person)
    audit.record("session.others_ended", target=request.person, name=request.person.email)
    stay_signed_in(request)
    messages.success(request, gettext("You’ve been signed out everywhere else."))
    return go("sessions")


def end_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Without signing in, so that a new password is chosen. Opening the link changes nothing; the
    button on its page does, once."""
    try:
        row = new_browsers.read(token)
    except NotFound:
        context = {"days": new_browsers.LINK_LASTS.days}
        return render(request, "dashboard/security/new_sign_in_over.html", context, status=404)
    was_ended = row.ended_at is not None
    if request.method == "POST":
        with tenancy.everyone("an email’s link names what it stops"):
            new_browsers.end(row, clock.real_now())
    details = {
        "sign_in": row,
        "device": translated(device_of(row.browser)),
        "is_ended": was_ended or request.method == "POST",
        "was_ended": was_ended,
    }
    return render(request, "dashboard/security/new_sign_in.html", details)
