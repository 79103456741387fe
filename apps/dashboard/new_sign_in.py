"""The link of the email about a new sign-in: the session is ended without signing in, and a new
password chosen."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.access import new_browsers
from apps.access.browsers import device_of
from apps.core import clock
from apps.core.db import tenancy
from apps.core.errors import NotFound


def end(request: HttpRequest, token: str) -> HttpResponse:
    """Opening the link changes nothing; the button on its page does, once."""
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
        "device": device_of(row.browser),
        "is_ended": was_ended or request.method == "POST",
        "was_ended": was_ended,
    }
    return render(request, "dashboard/security/new_sign_in.html", details)
