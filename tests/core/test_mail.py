"""Outgoing mail: queued with the caller's transaction, sent once, tried again, and wiped when it
has left."""

import smtplib
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as django_mail
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.backends.locmem import EmailBackend as Memory
from django.db import connection, transaction
from django.test import Client
from django.utils.html import escape

from apps.core import clock, mail, mailbox
from apps.core.models import OutgoingMail
from tests.cast import Cast

VALUES = {
    "store": "Alice's Bakery",
    "mode": "test",
    "url": "https://shop.example/hook?a=1&b=2",
    "id": "x",
}


class Broken(BaseEmailBackend):
    """A mail server that is down."""

    def send_messages(self, email_messages: Any) -> int:
        raise ConnectionRefusedError


class Refusing(BaseEmailBackend):
    """A mail server that knows no such person."""

    def send_messages(self, email_messages: Any) -> int:
        raise smtplib.SMTPRecipientsRefused({"a@example.com": (550, b"no such user")})


class Rescued(Memory):
    """In the middle of sending, the row's lease runs out and another worker sends it."""

    def send_messages(self, email_messages: Any) -> int:
        OutgoingMail.objects.update(attempts=5)
        return super().send_messages(email_messages)


def queue(key: str = "k", to: str = "a@example.com", **options: Any) -> None:
    mail.send(key=key, to=to, template="webhook_endpoint_off", context=VALUES, **options)


def row() -> OutgoingMail:
    return OutgoingMail.objects.get()


def test_an_email_has_text_and_html_and_says_who_sends_it(db: None) -> None:
    queue()
    assert django_mail.outbox == []
    assert mail.send_due() == 1
    (email,) = django_mail.outbox
    assert (email.subject, email.to) == (
        "Webhook endpoint disabled: Alice's Bakery",
        ["a@example.com"],
    )
    assert VALUES["url"] in email.body and "Alice&#x27;s" not in email.body
    html, kind = email.alternatives[0]
    assert kind == "text/html" and "a=1&amp;b=2" in html and "Alice&#x27;s Bakery" in html
    assert email.from_email == '"Tillgate" <tillgate@localhost>' and email.reply_to == []


def test_a_key_is_sent_once(db: None) -> None:
    queue()
    queue(to="b@example.com")
    assert (mail.send_due(), mail.send_due()) == (1, 0)
    queue()
    assert mail.send_due() == 0
    assert [email.to for email in django_mail.outbox] == [["a@example.com"]]


def test_an_email_of_a_transaction_that_failed_is_never_sent(db: None) -> None:
    with transaction.atomic():
        queue()
        transaction.set_rollback(True)
    assert mail.send_due() == 0


def test_customers_hear_from_the_store_and_answer_to_its_support(cast: Cast) -> None:
    store = cast.bakery.store
    store.name = 'Alice\n"the" Bäckerei'
    store.support_email = "help@bakery.example"
    queue(store=store)
    mail.send_due()
    (email,) = django_mail.outbox
    assert email.reply_to == ["help@bakery.example"]
    assert "help@bakery.example" in email.message()["Reply-To"]
    assert str(email.message()["From"]).endswith("<tillgate@localhost>")


def test_the_email_is_sealed_while_it_waits_and_wiped_when_it_has_left(db: None) -> None:
    queue()
    with connection.cursor() as cursor:
        cursor.execute("SELECT core_outgoingmail::text FROM core_outgoingmail")
        assert "shop.example" not in cursor.fetchone()[0]
    assert row().sealed_letter
    mail.send_due()
    assert (row().status, row().sealed_letter, row().next_attempt_at) == ("sent", "", None)


def test_a_server_that_is_down_is_tried_again_later_and_later_and_at_last_given_up(
    db: None, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "tests.core.test_mail.Broken"
    queue()
    at = clock.real_now()
    for seconds in mail.RETRY_SECONDS:
        with time_machine.travel(at, tick=False):
            assert mail.send_due() == 0
            assert mail.send_due() == 0
        due = row().next_attempt_at
        assert due is not None and due == at + timedelta(seconds=seconds)
        at = due
    with time_machine.travel(at, tick=False):
        mail.send_due()
    assert (row().status, row().error, row().attempts) == (
        "failed",
        "ConnectionRefusedError",
        len(mail.RETRY_SECONDS) + 1,
    )
    assert row().sealed_letter == ""


def test_a_server_that_is_back_gets_what_waited_with_the_same_message_id(
    db: None, settings: Any
) -> None:
    working = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "tests.core.test_mail.Broken"
    queue()
    mail.send_due()
    settings.EMAIL_BACKEND = working
    with time_machine.travel(clock.real_now() + timedelta(minutes=2), tick=True):
        assert mail.send_due() == 1
    assert django_mail.outbox[0].message()["Message-ID"] == f"<{row().pk}@localhost>"


def test_a_person_whom_the_server_does_not_know_is_not_tried_again_and_holds_nobody_up(
    db: None, settings: Any
) -> None:
    working = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "tests.core.test_mail.Refusing"
    queue()
    mail.send_due()
    assert row().status == "failed"
    settings.EMAIL_BACKEND = working
    queue("other", "b@example.com")
    assert mail.send_due() == 1


def test_a_worker_that_died_gives_its_email_back_after_ten_minutes(db: None) -> None:
    queue()
    assert mail._claim(clock.real_now()) is not None
    assert mail.send_due() == 0
    with time_machine.travel(clock.real_now() + timedelta(minutes=11), tick=True):
        assert mail.send_due() == 1


def test_a_worker_that_was_overtaken_writes_nothing(db: None, settings: Any) -> None:
    settings.EMAIL_BACKEND = "tests.core.test_mail.Rescued"
    queue()
    mail.send_due()
    assert (row().status, row().attempts) == ("queued", 5)


def test_a_demo_shows_what_it_would_have_sent(db: None, settings: Any, tmp_path: Any) -> None:
    settings.EMAIL_BACKEND = "apps.core.mailbox.Folder"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    client = Client()
    assert "No email yet" in client.get("/dev/mailbox").content.decode()
    queue()
    mail.send_due()
    (email,) = mailbox.stored_emails()
    listed = client.get("/dev/mailbox").content.decode()
    assert f"/dev/mailbox/{email.name}" in listed
    assert "a@example.com" in listed.replace("<wbr>", "")
    assert "https://shop.example/hook" in client.get(f"/dev/mailbox/{email.name}").content.decode()
    drawn = client.get(f"/dev/mailbox/{email.name}/html")
    assert "Webhook endpoint disabled" in drawn.content.decode()
    assert (
        "sandbox" in drawn["Content-Security-Policy"]
        and "script-src 'self'" in drawn["Content-Security-Policy"]
    )
    assert client.get("/dev/mailbox/../secret").status_code == 404


@pytest.mark.parametrize(
    "name", ["قهوة عربية بالهيل والزعفران مع تمر المجهول الفاخر", '<b>"O\'Neill" & Söhne']
)
def test_a_sender_of_any_script_is_shown_apart_from_the_address(
    name: str, settings: Any, tmp_path: Any
) -> None:
    settings.EMAIL_BACKEND = "apps.core.mailbox.Folder"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    quoted = name.replace('"', '\\"')
    EmailMessage("Hello", "Text", f'"{quoted}" <shop@example.com>', ["a@example.com"]).send()
    (email,) = mailbox.stored_emails()
    assert (email.sender, email.sender_address) == (name, "shop@example.com")
    assert f"<bdi>{escape(name)}</bdi>" in Client().get("/dev/mailbox").content.decode()


def test_in_production_there_is_no_mailbox(db: None, settings: Any) -> None:
    settings.IS_PRODUCTION = True
    assert [
        Client().get(path).status_code
        for path in ("/dev/mailbox", "/dev/mailbox/x", "/dev/mailbox/x/html")
    ] == [404] * 3
