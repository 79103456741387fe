"""Emails that others can have sent to a person are bounded per mailbox and day; those about
people's own accounts never are."""

import logging
import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings

from apps.access.person import recovery
from apps.core import clock, mail
from apps.core.mail_limits import NewMail, StoreAllowance
from apps.core.models import OutgoingMail
from apps.core.redis import buckets
from apps.stores.emailing import account_emails
from tests.cast import Cast
from tests.console.test_figures import told

# Nobody but the person, staff or the service itself causes these, or they tell of what somebody
# does to the account.
NEVER_DROPPED = {
    *(
        "account_changed",
        "credentials_shrunk",
        "member_removed",
        "operation",
        "review_outcome",
        "webhook_endpoint_off",
    ),
    "payout_approval",
    "payout_approval_decided",
    "staff_request",
}
CUSTOMER = settings.EMAIL_LIMITS["customer"]
LINK = {
    "name": "C",
    "email": "c@example.com",
    "portal_url": "https://pay.example/portal/x",
    "is_test": True,
}


@dataclass
class Shop:
    name: str = "Bakery"
    brand_name: str = ""
    support_email: str = ""
    pk: uuid.UUID = field(default_factory=uuid.uuid4)


def is_queued(to: str, store: Shop, number: int, template: str = "portal_link") -> bool:
    return mail.send(
        key=f"{store.pk}:{to}:{number}", to=to, template=template, context=LINK, store=store
    )


def dropped() -> int:
    return OutgoingMail.objects.filter(status="dropped").count()


def test_every_kind_of_email_is_bounded_or_named_as_one_that_never_is() -> None:
    kinds = {path.stem for path in Path("templates/email").glob("*.txt")} - {
        "_layout",
        "_customer",
        "_notice",
    }
    bounded = [template for limit in settings.EMAIL_LIMITS.values() for template in limit.templates]
    assert sorted([*bounded, *NEVER_DROPPED]) == sorted(kinds)


def test_a_stores_emails_to_one_mailbox_end_for_the_day_however_the_address_is_spelled(
    db: None,
) -> None:
    store = Shop()
    spellings = ("c@example.com", "C@Example.com", "c+1@example.com", "ｃ@example.com")
    sent = [
        is_queued(spellings[number % 4], store, number) for number in range(CUSTOMER.by_store + 5)
    ]
    assert sent == [True] * CUSTOMER.by_store + [False] * 5
    assert is_queued("c@example.com", Shop(), 0) and is_queued("d@example.com", store, 0)
    with time_machine.travel(clock.real_now() + timedelta(hours=25)):
        assert is_queued("c@example.com", store, 99)


def test_many_stores_together_end_too(db: None) -> None:
    stores = [Shop() for _ in range(CUSTOMER.in_all // 20 + 1)]
    sent = [is_queued("c@example.com", store, number) for store in stores for number in range(20)]
    assert sum(sent) == CUSTOMER.in_all


def test_emails_that_are_queued_together_are_bounded_as_one_after_the_other(db: None) -> None:
    store, other, busy = Shop(), Shop(), Shop()
    allowance = StoreAllowance(per_day=20, per_minute=10, days_ahead=1)
    mails = [
        NewMail(
            f"{place}:{number}",
            to,
            "portal_link",
            {**LINK, "email": to},
            store=sender,
            allowance=allowance if sender is busy else None,
        )
        for number in range(CUSTOMER.by_store + 3)
        for place, sender, to in (
            ("one", store, "c@example.com"),
            ("other", other, "c@example.com"),
            ("many", busy, f"{number}@example.com"),
        )
    ]
    sent = dict(zip((one.key for one in mails), mail.send_all(mails), strict=True))
    assert sum(sent.values()) == 3 * CUSTOMER.by_store + 3
    for name in ("one", "other"):
        assert not sent[f"{name}:{CUSTOMER.by_store}"] and sent[f"{name}:{CUSTOMER.by_store - 1}"]
    rows = OutgoingMail.objects.filter(key__startswith="many:", status="queued")
    waits = sorted((row.next_attempt_at - row.created_at).total_seconds() for row in rows)  # type: ignore[operator]  # of what is queued
    assert waits[0] == 0 and waits[10] == 60 and waits[20] > 86_000
    assert mail.send_all(mails[:1]) == [False], "the mailbox has had enough"
    assert dropped() == 6, "and a key is kept once"


def test_what_is_dropped_is_counted_and_logged_without_the_address_or_the_text(
    db: None, caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    before = told()['tillgate_trouble{what="mail_dropped"}']
    store = Shop()
    with caplog.at_level(logging.WARNING):
        for number in range(CUSTOMER.by_store + 2):
            is_queued("victim@example.com", store, number)
        is_queued("victim@example.com", store, 0)  # an email that was sent: nothing is dropped
    lines = [str(record.msg) for record in caplog.records if "mail_dropped" in str(record.msg)]
    assert len(lines) == dropped() == 2
    assert not any("victim" in line for line in lines) and "portal_link" in lines[0]
    row = OutgoingMail.objects.filter(status="dropped").first()
    assert row is not None and (row.sealed_letter, row.next_attempt_at) == ("", None)
    assert told()['tillgate_trouble{what="mail_dropped"}'] == before + 2
    assert mail.send_due() == CUSTOMER.by_store


def test_who_asks_for_reset_links_again_and_again_drops_no_notice_about_the_account(
    cast: Cast,
) -> None:
    for number in range(15):
        recovery.ask(cast.alice.email, f"192.0.2.{number}")
        buckets.client().flushdb()
    emails = OutgoingMail.objects.filter(to=cast.alice.email)
    assert (emails.filter(status="queued").count(), dropped()) == (10, 5)
    for _ in range(15):
        account_emails.tell(cast.alice, "Your password was changed")
    assert emails.filter(template="account_changed", status="queued").count() == 15
