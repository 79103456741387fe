"""A sign-in from a new browser or network sends an email, whose link ends the session; a known one
sends none."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.core import mail as django_mail

from apps.access.models import KnownBrowser
from apps.access.person.new_browsers import token_of
from apps.access.person.sessions import tidy
from apps.core import clock, mail
from apps.stores.models import AuditEntry
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_sessions import CHROME, row_of, signed_in

pytestmark = pytest.mark.django_db


def emails() -> list[str]:
    mail.send_due()
    return [
        item.body for item in django_mail.outbox if item.subject == "New sign-in to your account"
    ]


def test_a_new_browser_or_network_is_told_once_and_the_first_of_all_never(cast: Cast) -> None:
    signed_in(cast.alice)
    signed_in(cast.alice, address="203.0.99.1")  # the same provider's network
    assert emails() == []
    signed_in(cast.alice, CHROME)
    signed_in(cast.alice, CHROME)
    (body,) = emails()
    assert "Chrome on Windows" in body and "203.0.113.7" in body
    signed_in(cast.alice, address="198.51.100.9")
    signed_in(cast.bob, CHROME, "198.51.100.9")
    assert len(emails()) == 2
    assert [item.to for item in django_mail.outbox if item.subject.startswith("New sign-in")] == [
        [cast.alice.email]
    ] * 2


def test_the_link_ends_that_session_without_signing_in(cast: Cast) -> None:
    here = signed_in(cast.alice)
    there = signed_in(cast.alice, CHROME)
    found = re.search(r"/dashboard/sign-ins/\S+", emails()[0])
    assert found is not None
    visitor = Browser()
    assert "Chrome on Windows" in text(visitor.get(found.group()))
    assert there.get().status_code == 200, "looking changes nothing"
    done = visitor.post(found.group())
    assert "Session ended" in text(done) and "/dashboard/forgot" in done.content.decode()
    assert (here.get().status_code, there.get().status_code) == (200, 302)
    again = visitor.get(found.group())
    assert "This session has already ended" in text(again) and "was signed out on" in text(again)
    assert "/dashboard/forgot" in again.content.decode()
    visitor.post(found.group())
    assert AuditEntry.objects.filter(action="session.ended").count() == 1
    signed_in(cast.alice, CHROME)
    assert len(emails()) == 2, "what was ended isn't known"


def test_a_made_up_or_old_link_opens_nothing(cast: Cast) -> None:
    there = signed_in(cast.alice)
    token = token_of(row_of(there))
    assert Browser().get(f"sign-ins/{token}").status_code == 200
    assert Browser().get(f"sign-ins/{token}x").status_code == 404
    with time_machine.travel(clock.real_now() + timedelta(days=8), tick=True):
        expired = Browser().get(f"sign-ins/{token}")
    assert expired.status_code == 404
    assert "This link no longer works" in text(expired) and "after 7 days" in text(expired)
    assert "/dashboard/security/sessions" in text(expired) and "/dashboard/forgot" in text(expired)


def test_a_browser_that_wasnt_used_for_a_year_is_forgotten(cast: Cast) -> None:
    signed_in(cast.alice)
    tidy(clock.real_now() + timedelta(days=364))
    assert KnownBrowser.objects.count() == 1
    tidy(clock.real_now() + timedelta(days=366))
    assert not KnownBrowser.objects.exists()
