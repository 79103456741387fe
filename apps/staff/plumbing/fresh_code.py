"""A member of staff shows the authenticator app once more: for each act over five minutes after the
last code, and for each approval by which money leaves."""

from typing import cast

from django.http import HttpRequest

from apps.access.factors import stepup
from apps.core import clock
from apps.core.web.middleware import client_address
from apps.stores.models import User

_TAKEN = "is_staff_code_taken"  # on the request: a code is taken once


def is_due(request: HttpRequest) -> bool:
    """True if the last code of this session was taken more than five minutes ago."""
    return not stepup.is_fresh(request.session, cast(User, request.user), clock.real_now())


def take(request: HttpRequest) -> None:
    """The code that the form was sent with. Raises a Failure."""
    if getattr(request, _TAKEN, False):
        return
    person = cast(User, request.user)
    at = clock.real_now()
    code = request.POST.get("code", "").strip()
    stepup.take(request.session, person, code=code, address=client_address(request), at=at)
    stepup.note(request.session, person, at)
    setattr(request, _TAKEN, True)
