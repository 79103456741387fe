"""Answers to pretix: the plugin's provider, and to catch up from time to time."""

import logging
from typing import Any

from django.dispatch import receiver
from django_scopes import scope, scopes_disabled
from pretix.base.models import Event, OrderPayment
from pretix.base.signals import periodic_task, register_payment_providers
from pretix.helpers.periodic import minimum_interval

from . import following
from .payment import IDENTIFIER, Tillgate

logger = logging.getLogger(__name__)


@receiver(register_payment_providers, dispatch_uid="tillgate_provider")
def provider(sender: Event, **_: Any) -> type[Tillgate]:
    return Tillgate


@receiver(periodic_task, dispatch_uid="tillgate_catch_up")
@minimum_interval(minutes_after_success=5, minutes_after_error=1)
def catch_up(sender: Any, **_: Any) -> None:
    """Each event by itself: one whose key was revoked keeps no other from catching up."""
    with scopes_disabled():
        used = OrderPayment.objects.filter(provider=IDENTIFIER).values("order__event")
        events = list(Event.objects.filter(pk__in=used).select_related("organizer"))
    for event in events:
        try:
            with scope(organizer=event.organizer):
                following.catch_up(Tillgate(event))
        except Exception:
            logger.exception("Tillgate: event %s couldn't catch up", event.slug)
