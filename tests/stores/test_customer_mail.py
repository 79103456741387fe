"""Emails in a store's name: in test mode to its own people alone, in live mode as many as its age
and verification allow, and never before emails about accounts. An SMTP server receives them."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from apps.access.person import recovery
from apps.core import clock, emails, mail
from apps.core.models import OutgoingMail
from apps.core.redis import buckets
from apps.stores.emailing import customer_mail
from apps.stores.models.mail import TestLetter
from apps.stores.services import change_store
from tests import make
from tests.cast import Api, Cast, Shop
from tests.core.test_mail_backends import Post, smtp
from tests.dashboard.browse import Browser

__all__ = ["smtp"]
PHISHING = "ACTION REQUIRED: your wallet is locked. Go to https://evil.example/unlock"


@pytest.fixture(autouse=True)
def as_in_production(settings: Any) -> None:
    settings.TEST_MAIL_TO_EVERYBODY = False


def everything_leaves() -> None:
    while mail.send_due():
        pass


def readers(post: Post) -> set[str]:
    return {email["To"] for email in post.emails}


def send_invoice(api: Api, email: str, name: str = "Ann") -> None:
    customer = api.post("/billing/customers", {"customer": {"email": email, "name": name}}).json()
    lines = [{"description": "Mug", "quantity": 1, "unit_amount_cents": 1200}]
    invoice = {"customer_id": customer["id"], "currency": "EUR", "line_items": lines}
    made = api.post("/billing/invoices", {"invoice": invoice}).json()
    assert api.post(f"/billing/invoices/{made['id']}/finalize").status_code == 200
    assert api.post(f"/billing/invoices/{made['id']}/send").status_code == 200


def is_queued(shop: Shop, number: int, mode: str = "live", to: str = "") -> bool:
    return customer_mail.send(
        shop.store,
        mode,
        key=f"{shop.store.pk}:{number}:{to}",
        to=to or f"c{number}@example.com",
        template="portal_link",
        context={"name": "", "email": "c", "portal_url": "https://x", "is_test": mode == "test"},
    )


def due_today(shop: Shop) -> int:
    soon = clock.real_now() + timedelta(hours=12)
    rows = OutgoingMail.objects.filter(in_name_of=shop.store.pk, status="queued")
    return rows.filter(next_attempt_at__lt=soon).count()


def test_a_test_store_writes_to_nobody_but_its_own_people(cast: Cast, smtp: Post) -> None:
    bakery = cast.bakery
    own = cast.bob.email.upper()
    for email in (*(f"stranger{n}@example.com" for n in range(4)), own, cast.charlie.email):
        send_invoice(bakery.test, email)
    everything_leaves()
    assert {reader.lower() for reader in readers(smtp)} == {cast.bob.email}
    assert TestLetter.objects.filter(store=bakery.store, is_sent=False).count() == 5

    page = Browser(cast.bob).get("test-emails").content.decode()
    assert page.count("Shown only") == 5 and "stranger3@example.com" in page
    shown = TestLetter.objects.get(to="stranger0@example.com")
    opened = Browser(cast.bob).get(f"test-emails/{shown.pk}").content.decode()
    assert "/invoice/" in opened and "You have a new invoice" in opened
    other = Browser(cast.charlie)
    assert "stranger" not in other.get("test-emails").content.decode()
    assert other.get(f"test-emails/{shown.pk}").status_code == 404


def test_who_has_left_the_store_is_a_stranger(cast: Cast, smtp: Post) -> None:
    cast.bob.memberships.all().delete()
    send_invoice(cast.bakery.test, cast.bob.email)
    everything_leaves()
    assert smtp.emails == []


def test_a_visitor_has_no_receipt_of_a_test_payment_sent_anywhere(bakery: Shop, smtp: Post) -> None:
    page = Api(bakery.secrets["test_publishable"])
    made = make.payment(page, title="Refund pending: call +49 111")
    make.simulated(bakery.test, made["id"])
    path = f"/pay/{made['reference']}"
    client = Client()
    for number in range(3):
        sent = client.post(f"{path}/receipt", {"email": f"victim{number}@example.com"})
        assert sent.status_code == 303
    everything_leaves()
    assert smtp.emails == []
    assert TestLetter.objects.filter(store=bakery.store).count() == 3
    assert "Only the store’s own team gets emails" in client.get(path).content.decode()


def test_what_test_mode_shows_is_bounded_and_forgotten(bakery: Shop, settings: Any) -> None:
    settings.TEST_EMAILS_PER_DAY = 3
    assert [is_queued(bakery, number, "test") for number in range(5)] == [True] * 3 + [False] * 2
    assert is_queued(bakery, 0, "live")
    with time_machine.travel(clock.real_now() + timedelta(days=91)):
        assert customer_mail.forget(clock.real_now()) == {"test_emails": 3}


def test_a_new_stores_emails_beyond_a_days_leave_later_and_beyond_a_weeks_never(
    bakery: Shop, settings: Any
) -> None:
    first = settings.STORE_EMAILS[False].first
    days = settings.STORE_EMAILS_DAYS_AHEAD
    sent = [is_queued(bakery, number) for number in range(first * (days + 1) + 10)]
    assert sent.count(False) == 10 and not any(sent[-10:])
    assert due_today(bakery) == first
    with time_machine.travel(clock.real_now() + timedelta(hours=25)):
        assert due_today(bakery) == 2 * first


def test_age_and_verification_let_more_emails_leave(bakery: Shop, settings: Any) -> None:
    def per_day(days: int) -> int:
        at = bakery.store.created_at + timedelta(days=days)
        return customer_mail.allowance_of(bakery.store, at).per_day

    new, verified = settings.STORE_EMAILS[False], settings.STORE_EMAILS[True]
    assert [per_day(days) for days in (0, 10, 9999)] == [
        new.first,
        new.first + 10 * new.per_day_of_age,
        new.most,
    ]
    change_store(bakery.store, kyc_confirmed_at=clock.real_now())
    assert (per_day(0), per_day(9999)) == (verified.first, verified.most)


def test_a_stores_burst_is_spread_so_that_others_emails_come_between(
    cast: Cast, settings: Any, smtp: Post
) -> None:
    for shop in (cast.bakery, cast.strangers):
        change_store(shop.store, kyc_confirmed_at=clock.real_now())
    for number in range(150):
        is_queued(cast.bakery, number)
    is_queued(cast.strangers, 1, to="honest@example.com")
    everything_leaves()
    assert "honest@example.com" in readers(smtp)
    assert len(smtp.emails) == settings.STORE_EMAILS_PER_MINUTE + 1


def test_a_reset_link_leaves_before_everything_that_stores_have_queued(
    cast: Cast, smtp: Post
) -> None:
    for number in range(40):
        is_queued(cast.bakery, number)
    recovery.ask(cast.alice.email, "192.0.2.1")
    mail.send_due(1)
    assert readers(smtp) == {cast.alice.email}


def test_who_used_up_a_persons_reset_links_cannot_keep_them_silent(cast: Cast) -> None:
    def ask(number: int) -> int:
        buckets.client().flushdb()
        recovery.ask(cast.alice.email, f"192.0.2.{number}")
        rows = OutgoingMail.objects.filter(to=cast.alice.email, template="password_reset")
        return rows.filter(status="queued").count()

    asked = [ask(number) for number in range(12)]
    assert asked[-3:] == [10, 10, 10]
    for hours in (1, 2):
        with time_machine.travel(clock.real_now() + timedelta(hours=hours, minutes=1)):
            assert [ask(99), ask(100)] == [10 + hours] * 2


@pytest.mark.parametrize(
    ("name", "greeted"),
    [
        ("Ann", "Ann"),
        ("Dr. María-José O’Neill", "Dr. María-José O’Neill"),
        ("Müller & Co. KG", "Müller & Co. KG"),
        ("अनन्या शर्मा", "अनन्या शर्मा"),
        ("山田 太郎", "山田 太郎"),
        (PHISHING, ""),
        ("evil.example", ""),
        ("Ann\nCall +49 111 222", ""),
        ("Call 0049 111 222", ""),
        ("you have won a very big prize", ""),
        ("<b>Ann</b>", ""),
    ],
)
def test_a_greeting_has_names_and_nothing_else(name: str, greeted: str) -> None:
    assert emails.greeting_name(name) == greeted


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Booking.com", "Booking.com"),
        ("Alice's Bakery", "Alice's Bakery"),
        ("Pay\r\nBcc: x@example.com", "Pay Bcc: x@example.com"),
        (PHISHING, "ACTION REQUIRED: your wallet is locked. Go to"),
        ("evil.example/unlock now", "now"),
        ("www.evil.example", ""),
        ("\u202eabc", "abc"),
        ("x" * 99, "x" * 60),
    ],
)
def test_a_stores_name_has_no_link_in_it(name: str, shown: str) -> None:
    assert emails.shown_name(name) == shown


def test_a_customers_email_says_no_words_of_strangers_in_our_voice(
    bakery: Shop, smtp: Post
) -> None:
    bakery.store.name = "Shop https://evil.example/x"
    bakery.store.save(update_fields=["name"])
    send_invoice(bakery.live, f"c-{uuid.uuid4().hex}@example.com", PHISHING[:100])
    everything_leaves()
    (arrived,) = smtp.emails
    text = arrived.get_body(("plain",)).get_content()
    assert "evil.example" not in text + str(arrived["Subject"]) + str(arrived["From"])
    assert text.startswith("Hello,")
