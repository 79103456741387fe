"""A person's profile: their zone is that of every page and email, a file is the same for
everybody."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core import mail as django_mail
from django.utils import timezone

from apps.core import mail
from apps.core.templatetags.tillgate import day, document_day, moment, plain_moment
from apps.payments.documents import invoice
from apps.payments.models import Payment
from apps.stores import profile
from apps.stores.emailing import account_emails
from apps.stores.models import AuditEntry, User
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text

LATE = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
FORM = {"name": "Alice Baker", "time_zone": "Asia/Tokyo", "language": "en"}


def test_a_moment_is_told_in_the_zone_that_is_active_and_its_element_in_utc() -> None:
    assert "30 Nov 2026, 23:30\N{NO-BREAK SPACE}UTC<" in moment(LATE)
    with timezone.override("Europe/Berlin"):
        shown = moment(LATE)
        assert "1 Dec 2026, 00:30\N{NO-BREAK SPACE}CET<" in shown
        assert 'datetime="2026-11-30T23:30:00+00:00" title="2026-11-30 23:30:00 UTC"' in shown
        assert ">1 Dec 2026<" in day(LATE) and ">30 Nov 2026<" in document_day(LATE)
        assert plain_moment(LATE) == "1 December 2026, 00:30 CET"
    with timezone.override("Asia/Dubai"):
        assert "03:30\N{NO-BREAK SPACE}UTC+04" in moment(LATE)


def test_a_profile_is_saved_and_pages_follow_it(cast: Cast) -> None:
    browser = Browser(cast.alice)
    payment = make.payment(cast.bakery.test)
    path = f"payments/{payment['id']}"
    assert "\N{NO-BREAK SPACE}UTC<" in browser.get(path).content.decode()
    assert re.search(r"Pages use UTC, where it’s now \d\d:\d\d\. ", text(browser.get("profile")))
    assert browser.post("profile", **FORM).status_code == 303
    assert re.search(r"Asia/Tokyo, where it’s now \d\d:\d\d JST\. ", text(browser.get("profile")))
    cast.alice.refresh_from_db()
    assert (cast.alice.name, cast.alice.time_zone) == ("Alice Baker", "Asia/Tokyo")
    shown = browser.get(path).content.decode()
    assert "\N{NO-BREAK SPACE}JST<" in shown and "\N{NO-BREAK SPACE}UTC<" not in shown
    assert 'value="Asia/Tokyo" selected' in browser.get("profile").content.decode()
    assert AuditEntry.objects.get(action="profile.changed").target_id == str(cast.alice.pk)


def test_days_of_the_payments_list_are_the_readers(cast: Cast) -> None:
    made = make.payment(cast.bakery.test)
    Payment.objects.filter(pk=made["id"]).update(created_at=LATE)
    browser = Browser(cast.alice)
    first_of_december = "payments?from=2026-12-01&to=2026-12-01"
    assert made["id"] not in browser.get(first_of_december).content.decode()
    assert browser.post("profile", **FORM).status_code == 303
    shown = browser.get(first_of_december).content.decode()
    assert made["id"] in shown and "From (JST)" in shown


def test_who_has_chosen_no_zone_sees_their_browsers(cast: Cast) -> None:
    browser = Browser(cast.alice)
    path = f"payments/{make.payment(cast.bakery.test)['id']}"
    browser.client.cookies["time_zone"] = "Asia/Tokyo"
    assert "\N{NO-BREAK SPACE}JST<" in browser.get(path).content.decode()
    for made_up in ("../../etc/passwd", "Asia/Nowhere", "x" * 3000):
        browser.client.cookies["time_zone"] = made_up
        assert "\N{NO-BREAK SPACE}UTC<" in browser.get(path).content.decode()
    User.objects.filter(pk=cast.alice.pk).update(time_zone="America/New_York")
    browser.client.cookies["time_zone"] = "Asia/Tokyo"
    assert "\N{NO-BREAK SPACE}JST<" not in browser.get(path).content.decode()


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", " ", "Your name is required."),
        ("time_zone", "Mars/Olympus", "Choose a time zone from the list."),
        ("language", "xx", "Choose a language from the list."),
    ],
)
def test_what_cannot_be_chosen_is_told_at_its_field(
    cast: Cast, field: str, value: str, said: str
) -> None:
    refused = Browser(cast.alice).post("profile", **{**FORM, field: value})
    assert refused.status_code == 422 and said in text(refused)
    cast.alice.refresh_from_db()
    assert cast.alice.time_zone == ""


def test_an_email_tells_the_time_of_its_reader_and_not_of_who_caused_it(cast: Cast) -> None:
    User.objects.filter(pk=cast.alice.pk).update(time_zone="Asia/Tokyo")
    cast.alice.refresh_from_db()
    with timezone.override("America/New_York"):
        account_emails.tell(cast.alice, "Your password was changed")
        account_emails.tell(cast.bob, "Your password was changed")
    mail.send_due()
    told = {item.to[0]: item.body for item in django_mail.outbox}
    assert re.search(r"\d\d:\d\d JST", told[cast.alice.email])
    assert re.search(r"\d\d:\d\d UTC", told[cast.bob.email])


def test_a_file_is_the_same_for_every_reader(cast: Cast) -> None:
    made = make.payment(cast.bakery.test)
    payment = Payment.objects.get(pk=made["id"])
    with timezone.override("Asia/Tokyo"):
        drawn: Any = invoice._page(payment)
    assert "JST" not in drawn and "\N{NO-BREAK SPACE}UTC<" in drawn


def test_every_zone_that_is_offered_can_be_used() -> None:
    names = profile.zone_names()
    assert names[0] == "UTC" and {"Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata"} <= set(
        names
    )
    assert not {"EST", "Etc/GMT+5", "posixrules"} & set(names)
    assert [profile.zone_of(User(time_zone=name)).key for name in names] == list(names)
