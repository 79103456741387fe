"""A person who has signed in before a page is opened, as cookies of their browser: the form has
tests of its own, and takes as long as the page that follows it."""

from typing import Any

from django.conf import settings
from django.test import Client
from django_otp import DEVICE_ID_SESSION_KEY

from apps.access.factors import second_factor, stepup
from apps.access.person import sessions
from apps.core import clock
from apps.stores.models import User


def cookies_of(person: User, address: str) -> list[Any]:
    """Cookies of a browser after password and, where the person has an app for codes, a fresh
    code."""
    factor = second_factor.confirmed(person)
    client = Client()
    client.force_login(person)
    session: Any = client.session
    at = clock.real_now()
    sessions.begin(session, at)
    if factor is not None:
        session[DEVICE_ID_SESSION_KEY] = factor.persistent_id
        stepup.note(session, person, at)
    session.save()
    name = settings.SESSION_COOKIE_NAME
    return [{"name": name, "value": client.cookies[name].value, "url": address}]
