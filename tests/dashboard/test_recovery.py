"""A forgotten password and a new email address: emails whose links work once, and answers that
tell strangers nothing."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.core import mail as django_mail

from apps.access.factors import second_factor
from apps.core import clock, mail
from apps.core.models import OutgoingMail
from apps.stores.models import AuditEntry, User
from tests.cast import PASSWORD, Cast
from tests.dashboard.browse import Browser, code_of, text

NEW_PASSWORD = "a new sentence to remember"
NEW = "alice.new@example.com"


def link(to: str, page: str) -> str:
    mail.send_due()
    message = [item for item in django_mail.outbox if item.to == [to]][-1]
    found = re.search(rf"/dashboard/{page}/\S+", message.body)
    assert found is not None
    return found.group()


def subjects(to: str) -> list[str]:
    mail.send_due()
    return [item.subject for item in django_mail.outbox if item.to == [to]]


def forgotten(cast: Cast) -> str:
    Browser().post("forgot", email=f" {cast.alice.email.upper()} ")
    return link(cast.alice.email, "reset")


def test_a_forgotten_password_is_replaced_and_every_session_ends(cast: Cast) -> None:
    inside = Browser(cast.alice)
    path = forgotten(cast)
    visitor = Browser()
    assert cast.alice.email in text(visitor.get(path))
    assert visitor.post(path, password=NEW_PASSWORD).headers["Location"] == "/dashboard/sign-in"
    assert "Sign in with your new password." in text(visitor.get("sign-in"))
    assert inside.get().status_code == 302
    assert visitor.get().status_code == 302
    assert Browser().post("sign-in", email=cast.alice.email, password=PASSWORD).status_code == 401
    assert (
        Browser().post("sign-in", email=cast.alice.email, password=NEW_PASSWORD).status_code == 302
    )
    assert "Your password was changed" in subjects(cast.alice.email)
    assert (
        AuditEntry.objects.filter(action="password.changed", target_id=str(cast.alice.pk)).count()
        == 1
    )


def test_a_link_works_once_and_for_an_hour(cast: Cast) -> None:
    path = forgotten(cast)
    Browser().post(path, password=NEW_PASSWORD)
    assert Browser().get(path).status_code == 404
    assert Browser().post(path, password="yet another sentence").status_code == 404
    later = forgotten(cast)
    with time_machine.travel(clock.real_now() + timedelta(hours=1, minutes=1), tick=True):
        assert Browser().post(later, password=NEW_PASSWORD).status_code == 404


def test_signing_in_ends_a_link_that_was_asked_for_before(cast: Cast) -> None:
    path = forgotten(cast)
    Browser().post("sign-in", email=cast.alice.email, password=PASSWORD)
    assert Browser().get(path).status_code == 404


def test_a_link_is_of_one_person(cast: Cast) -> None:
    path = forgotten(cast).replace(str(cast.alice.pk), str(cast.charlie.pk))
    assert Browser().get(path).status_code == 404
    assert Browser().get("reset/not-an-id/x-y").status_code == 404


def test_the_second_factor_is_still_asked_for(cast: Cast) -> None:
    factor = second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    Browser().post(forgotten(cast), password=NEW_PASSWORD)
    browser = Browser()
    assert (
        browser.post("sign-in", email=cast.alice.email, password=NEW_PASSWORD)
        .headers["Location"]
        .startswith("/dashboard/sign-in/code")
    )
    assert browser.code(code_of(factor)).status_code == 302


def test_a_bad_password_is_told_and_the_link_stays(cast: Cast) -> None:
    path = forgotten(cast)
    assert "too short" in text(Browser().post(path, password="short"))
    assert Browser().post(path, password=NEW_PASSWORD).status_code == 303


@pytest.mark.parametrize(
    "email", ["nobody@example.com", "no address", "a\x00@example.com", "", "x" * 5000]
)
def test_an_unknown_address_is_answered_like_a_known_one_and_gets_no_email(
    cast: Cast, email: str
) -> None:
    known, unknown = (Browser().post("forgot", email=item) for item in (cast.alice.email, email))
    assert (known.status_code, unknown.status_code) == (200, 200)
    assert "we’ve sent a link to reset the password" in text(unknown)
    assert OutgoingMail.objects.count() == 1


def test_asking_for_emails_is_counted(cast: Cast) -> None:
    answers = [Browser().post("forgot", email=cast.alice.email) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert int(answers[-1]["Retry-After"]) >= 1


def test_a_person_who_is_not_active_gets_no_email(cast: Cast) -> None:
    User.objects.filter(pk=cast.alice.pk).update(is_active=False)
    Browser().post("forgot", email=cast.alice.email)
    assert not OutgoingMail.objects.exists()


def test_a_new_address_counts_when_its_link_was_opened(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert (
        browser.post("security/email", email=NEW, password=PASSWORD).headers["Location"]
        == "/dashboard/security"
    )
    path = link(NEW, "email")
    assert NEW in text(Browser().get(path))
    cast.alice.refresh_from_db()
    old = cast.alice.email
    assert old != NEW
    assert Browser().post(path).headers["Location"] == "/dashboard/sign-in"
    assert browser.get().status_code == 302
    assert Browser().post("sign-in", email=NEW, password=PASSWORD).status_code == 302
    assert f"Your email address was changed to {NEW}" in subjects(old)
    assert Browser().post(path).status_code == 404


def test_what_a_new_address_needs(cast: Cast) -> None:
    browser = Browser(cast.alice)
    for email, password, sentence in (
        ("no address", PASSWORD, "That is not an email address."),
        ("a\x00@example.com", PASSWORD, "That is not an email address."),
        (NEW, "wrong", "Your current password is incorrect."),
    ):
        answer = browser.post("security/email", email=email, password=password)
        assert answer.status_code == 422 and sentence in text(answer), email
    assert not OutgoingMail.objects.exists()


def test_a_taken_address_is_answered_like_a_free_one_and_gets_no_email(cast: Cast) -> None:
    assert (
        Browser(cast.alice)
        .post("security/email", email=cast.charlie.email.upper(), password=PASSWORD)
        .status_code
        == 303
    )
    assert not OutgoingMail.objects.exists()


def test_an_address_taken_meanwhile_is_refused(cast: Cast) -> None:
    Browser(cast.alice).post("security/email", email=NEW, password=PASSWORD)
    path = link(NEW, "email")
    cast.charlie.email = NEW.upper()
    cast.charlie.save()
    assert "already exists" in text(Browser().post(path))


def test_a_link_for_a_new_address_ends_with_a_new_password_and_after_a_day(cast: Cast) -> None:
    Browser(cast.alice).post("security/email", email=NEW, password=PASSWORD)
    path = link(NEW, "email")
    with time_machine.travel(clock.real_now() + timedelta(days=1, minutes=1), tick=True):
        assert Browser().get(path).status_code == 404
    Browser().post(forgotten(cast), password=NEW_PASSWORD)
    assert Browser().post(path).status_code == 404
    assert Browser().get("email/made-up").status_code == 404
