"""The link of the email about a new sign-in: the session is ended without signing in, and a new
password chosen."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.access import new_browsers
from apps.access.browsers import device_of
from apps.core import clock
from apps.core.db import tenancy


def end(request: HttpRequest, token: str) -> HttpResponse:
    """Opening the link changes nothing; the button on its page does, once."""
    row = new_browsers.read(token)
    is_ended = row.ended_at is not None
    if request.method == "POST":
        with tenancy.everyone("a letter's link names what it stops"):
            new_browsers.end(row, clock.real_now())
        is_ended = True
    context = {"sign_in": row, "device": device_of(row.browser), "is_ended": is_ended}
    return render(request, "dashboard/security/new_sign_in.html", context)
