"""A member of staff shows the authenticator app once more before money leaves."""

from typing import cast

from django.http import HttpRequest

from apps.access import stepup
from apps.core import clock
from apps.core.web.middleware import client_address
from apps.stores.models import User


def take(request: HttpRequest) -> None:
    """The code that the form was sent with. Raises a Failure."""
    code = request.POST.get("code", "").strip()
    stepup.take(
        request.session,
        cast(User, request.user),
        code=code,
        address=client_address(request),
        at=clock.real_now(),
    )
