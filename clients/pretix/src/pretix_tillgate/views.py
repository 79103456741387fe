"""The webhook and the way back. Both only lead to reading the payment from Tillgate."""

from contextlib import suppress
from typing import Any

import tillgate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pretix.base.models import Order
from pretix.multidomain.urlreverse import eventreverse

from . import following
from .payment import IDENTIFIER, Tillgate


@csrf_exempt
@require_POST
def webhook(request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
    """A payment that can't be brought up to date now is answered with 503, and delivered again."""
    provider = Tillgate(request.event)
    if not (secret := provider.settings.get("signing_secret")):
        return HttpResponse("No signing secret is set", status=503)
    header = request.headers.get("Service-Signature")
    try:
        following.follow_event(provider, tillgate.webhooks.verify(request.body, header, secret))
    except tillgate.webhooks.VerificationError as error:
        return HttpResponse(str(error), status=400, content_type="text/plain")
    except tillgate.Error:
        return HttpResponse("Later", status=503)
    return HttpResponse("OK")


def come_back(request: HttpRequest, order: str, secret: str, number: str, **_: Any) -> HttpResponse:
    found = get_object_or_404(Order, event=request.event, code=order, secret=secret)
    payment = get_object_or_404(found.payments, pk=number, provider=IDENTIFIER)
    if remote := payment.info_data.get("id"):
        with suppress(tillgate.Error):  # The webhook or the catch-up brings it later.
            following.follow(Tillgate(request.event), remote)
    found.refresh_from_db()
    known = {"order": found.code, "secret": found.secret}
    target = eventreverse(request.event, "presale:event.order", known)
    return redirect(target + ("?paid=yes" if found.status == Order.STATUS_PAID else ""))
