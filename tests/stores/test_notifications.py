"""Notifications: recorded once with what happened, emailed once to who wants it, read on a page,
ended by one press."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as django_mail
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.core import clock, mail
from apps.core.models import OutgoingMail
from apps.payments.models import Payment
from apps.payments.services import completed_emails
from apps.payments.services.change_status import change_status
from apps.payments.states import PaymentDecision
from apps.payouts.models import Payout
from apps.payouts.services import moves
from apps.platforms.requests import VerificationRequest
from apps.platforms.services.verifications import reject_verification, submit_verification
from apps.stores.models import Member, Notification, NotificationChoice, Role, User
from apps.stores.notices import notifications
from apps.stores.notices.kinds import KINDS
from apps.stores.notices.notifications import NewNotification
from tests import make
from tests.billing import records as billing
from tests.cast import Cast, join, person
from tests.dashboard.browse import Browser, text
from tests.taken_out import committed_cast


def kinds(cast: Cast, mode: str = "test") -> list[str]:
    rows = Notification.objects.filter(store=cast.bakery.store, mode=mode)
    return list(rows.order_by("created_at").values_list("kind", flat=True))


def news(
    cast: Cast, kind: str = "payout_problem", subject: object = "1", mode: str = "live"
) -> NewNotification:
    title = "Payout of 0.5 ETH failed"
    path = "/dashboard/payouts"
    return NewNotification(
        cast.bakery.store.pk, mode, kind, subject, title, path, "The network refused it"
    )


def told(cast: Cast, *made: NewNotification) -> list[Any]:
    """The emails of what is recorded, in their order."""
    notifications.record(*made)
    notifications.tell_due()
    mail.send_due()
    return django_mail.outbox


def colleague(cast: Cast, role: str) -> User:
    made = person(role)
    join(cast.bakery.store, made, role)
    return made


# --- what is recorded -----------------------------------------------------------------------------


def test_the_same_is_recorded_and_told_once(cast: Cast) -> None:
    emails = told(cast, news(cast), news(cast))
    told(cast, news(cast))
    assert kinds(cast, "live") == ["payout_problem"]
    assert [email.to for email in emails] == [[cast.alice.email]]
    assert "Payout of 0.5 ETH failed" in emails[0].subject and "refused" in emails[0].body


def test_what_is_rolled_back_is_never_told(cast: Cast) -> None:
    with transaction.atomic():
        notifications.record(news(cast))
        transaction.set_rollback(True)
    notifications.tell_due()
    assert not OutgoingMail.objects.exists()


def test_an_underpaid_payment_needs_attention(cast: Cast) -> None:
    api = cast.bakery.test
    made = make.payment(api, title="Rye bread")
    make.simulated(api, made["id"], "underpaid")
    make.advance(api, 7200)
    assert make.detail(api, made["id"])["status"] in ("failed", "refunded")
    row = Notification.objects.get(store=cast.bakery.store, kind="payment_attention")
    assert row.title == "Payment of €10.00 was underpaid by €5.00" and row.text.startswith(
        "Rye bread: "
    )
    assert row.path == f"/dashboard/payments/{made['id']}"


def test_a_late_deposit_is_told_once(cast: Cast) -> None:
    api = cast.bakery.test
    made = make.payment(api)
    make.advance(api, 7200)
    make.late_deposit(made["id"])
    rows = Notification.objects.filter(store=cast.bakery.store, title__startswith="Late deposit")
    assert rows.count() == 1


def test_payouts_that_arrive_or_fail_for_good_are_told(cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    made = make.payout(cast.bakery.test, 10**17)
    payout = Payout.objects.select_related("asset").get(pk=made["id"])
    Payout.objects.filter(pk=payout.pk).update(status="pending")
    payout.refresh_from_db()
    before = Notification.objects.filter(kind="payout_problem").count()
    moves.fail(payout, Payout.FailureCode.TEMPORARILY_UNAVAILABLE, "busy", clock.real_now())
    assert Notification.objects.filter(kind="payout_problem").count() == before
    Payout.objects.filter(pk=payout.pk).update(status="pending", retry_at=None)
    payout.refresh_from_db()
    moves.fail(payout, Payout.FailureCode.DESTINATION_INVALID, "no such address", clock.real_now())
    row = Notification.objects.get(kind="payout_problem", subject=f"{payout.pk}:failed")
    assert (row.title, row.text) == ("Payout of 0.1 ETH failed", "no such address")


def test_a_paid_invoice_and_a_decision_are_told(cast: Cast) -> None:
    api = cast.bakery.test
    billing.pay(api, billing.opened(api))
    made = submit_verification(
        cast.bakery.store,
        VerificationRequest(business_legal_name="Bakery GmbH", business_country="DE"),
    )
    reject_verification(made, "The name is another")
    assert {"invoice_paid", "verification"} <= set(kinds(cast))
    assert kinds(cast, "live") == ["verification"]
    notifications.tell_due()
    assert not OutgoingMail.objects.filter(template="notification").exists()
    assert OutgoingMail.objects.filter(template="review_outcome").count() == 1


@pytest.mark.commits
def test_two_sweeps_at_once_send_one_email(django_db_setup: None, django_db_blocker: Any) -> None:
    """On rows that are really committed, and two connections."""
    with django_db_blocker.unblock(), committed_cast() as cast:
        gate = threading.Barrier(2)
        notifications.record(news(cast))
        member = Member.objects.get(store=cast.bakery.store, user=cast.alice)
        day = clock.real_now() - timedelta(days=1)
        completed(cast, day)
        Member.objects.filter(pk=member.pk).update(summary_due_at=day)
        row = Notification.objects.get(store=cast.bakery.store)

        def sweep(_: int) -> None:
            gate.wait()
            try:
                notifications.tell(row.pk)
                completed_emails.send_summary(member.pk)
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(sweep, range(2)))
        emails = OutgoingMail.objects.filter(to=cast.alice.email)
        assert sorted(emails.values_list("template", flat=True)) == [
            "daily_summary",
            "notification",
        ]


# --- who is emailed -------------------------------------------------------------------------------


def test_test_mode_is_shown_and_never_emailed(cast: Cast) -> None:
    assert not told(cast, news(cast, mode="test"))
    assert Notification.objects.get().told_at is not None


def test_who_cannot_move_money_is_told_only_if_they_ask(cast: Cast) -> None:
    viewer = colleague(cast, Role.VIEWER)
    admin = colleague(cast, Role.ADMIN)
    emails = told(cast, news(cast))
    assert {email.to[0] for email in emails} == {cast.alice.email, admin.email}
    notifications.choose(viewer, cast.bakery.store, {"payout_problem": "immediately"})
    notifications.choose(admin, cast.bakery.store, {"payout_problem": "off"})
    django_mail.outbox.clear()
    assert {item.to[0] for item in told(cast, news(cast, subject="2"))} == {
        cast.alice.email,
        viewer.email,
    }


def test_who_has_left_or_is_locked_out_is_not_told(cast: Cast) -> None:
    gone = colleague(cast, Role.ADMIN)
    locked = colleague(cast, Role.ADMIN)
    Member.objects.filter(user=gone).delete()
    User.objects.filter(pk=locked.pk).update(is_active=False)
    assert [item.to for item in told(cast, news(cast))] == [[cast.alice.email]]


def test_emails_of_a_day_are_bounded(cast: Cast, settings: Any) -> None:
    limit = settings.EMAIL_LIMITS["notification"]
    settings.EMAIL_LIMITS = {"notification": limit._replace(in_all=3, by_store=3)}
    emails = told(cast, *(news(cast, subject=number) for number in range(5)))
    assert len(emails) == 3 and len(kinds(cast, "live")) == 5


# --- choices, and the link that ends them ---------------------------------------------------------


def test_choices_are_saved_for_one_store_and_shown(cast: Cast) -> None:
    browser = Browser(cast.alice)
    shown = browser.get("notifications/settings").content.decode()
    assert re.search(r'id="payment_completed".*?value="daily" selected', shown, re.DOTALL)
    answer = browser.post(
        "notifications/settings",
        payment_completed="off",
        payout_problem="never",
        verification="off",
    )
    assert answer.status_code == 303
    rows = NotificationChoice.objects.filter(user=cast.alice)
    assert {row.kind: row.choice for row in rows} == {"payment_completed": "off"}
    browser.post("notifications/settings", payment_completed="immediately")
    assert NotificationChoice.objects.get(user=cast.alice).choice == "immediately"
    assert rows.exclude(store=cast.bakery.store).count() == 0


def unsubscribe_url(email: Any) -> str:
    header = email.extra_headers["List-Unsubscribe"]
    assert email.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    path: str = header.strip("<>")[header.index("/dashboard") - 1 :]
    assert path in email.body
    return path


def test_opening_the_link_changes_nothing_and_pressing_ends_the_emails(cast: Cast) -> None:
    path = unsubscribe_url(told(cast, news(cast))[0])
    page = Client().get(path)
    assert page.status_code == 200 and "Payouts that fail" in text(page)
    assert not NotificationChoice.objects.exists()
    assert Client().post(path).status_code == 200
    django_mail.outbox.clear()
    assert not told(cast, news(cast, subject="2"))


def test_a_mail_program_ends_them_without_a_session(cast: Cast) -> None:
    path = unsubscribe_url(told(cast, news(cast))[0])
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post(path, {"List-Unsubscribe": "One-Click"})
    assert answer.status_code == 200
    chosen = NotificationChoice.objects.get()
    assert (chosen.user, chosen.kind, chosen.choice) == (cast.alice, "payout_problem", "off")


@pytest.mark.parametrize("change", ["x", ":AAAA", ""])
def test_a_link_that_was_changed_ends_nothing(cast: Cast, change: str) -> None:
    path = notifications.unsubscribe_path(cast.alice, cast.bakery.store, "payout_problem")
    forged = f"{path}{change}" if change else path[:-1] + ("A" if path[-1] != "A" else "B")
    for method in ("get", "post"):
        assert getattr(Client(), method)(forged).status_code == 404
    assert not NotificationChoice.objects.exists()


# --- the page -------------------------------------------------------------------------------------


def test_the_bell_counts_until_they_are_marked_as_read(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert "unread" not in text(browser.get())
    notifications.record(*(news(cast, subject=number, mode="test") for number in range(3)))
    assert "Notifications, 3 unread" in text(browser.get())
    shown = text(browser.get("notifications"))
    assert shown.count("Unread:") == 3 and "Payout of 0.5 ETH failed" in shown
    browser.post("notifications/read")
    assert "unread" not in text(browser.get())
    bob = Browser(cast.bob)
    assert "unread" not in text(bob.get())  # he joined after it


def test_a_store_sees_its_own_of_its_mode(cast: Cast) -> None:
    notifications.record(news(cast, mode="test"), news(cast, mode="live"))
    other = Browser(cast.strangers.owner).get("notifications")
    assert "No test notifications yet" in text(other)
    browser = Browser(cast.alice)
    assert browser.get("notifications").content.count(b"<bdi>Payout of 0.5 ETH failed</bdi>") == 1


def test_a_page_of_many_asks_no_more_than_a_page_of_few(cast: Cast) -> None:
    browser = Browser(cast.alice)
    counts = []
    browser.get("notifications")
    for number in (2, 60):
        notifications.record(
            *(news(cast, subject=f"{number}:{item}", mode="test") for item in range(number))
        )
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert browser.get("notifications").status_code == 200
        counts.append(len(seen))
    assert counts[0] == counts[1]


# --- completed payments ---------------------------------------------------------------------------

NIGHT = datetime(2026, 11, 30, 5, 0, tzinfo=UTC)


def completed(cast: Cast, at: datetime, *, cents: int = 1250, currency: str = "EUR") -> Payment:
    made = make.payment(cast.bakery.live)
    rows = Payment.objects.filter(pk=made["id"])
    rows.update(
        status="completed",
        created_at=at - timedelta(minutes=5),
        completed_at=at,
        settlement_amount_cents=cents,
        settlement_currency=currency,
    )
    return rows.get()


def summaries(at: datetime) -> list[Any]:
    with time_machine.travel(at, tick=True):
        completed_emails.tell_all()
        mail.send_due()
    return list(OutgoingMail.objects.filter(template="daily_summary"))


def test_the_day_before_is_summed_up_at_seven_where_somebody_is(cast: Cast) -> None:
    User.objects.filter(pk=cast.alice.pk).update(time_zone="Asia/Tokyo")
    assert not summaries(NIGHT - timedelta(days=1))  # the first time only the moment is found
    # 29 November in Tokyo ends at 15:00 UTC
    day = datetime(2026, 11, 29, 14, 59, tzinfo=UTC)
    completed(cast, day)
    completed(cast, day, cents=750)
    completed(cast, day, cents=999, currency="USD")
    completed(cast, day + timedelta(minutes=2), cents=5_000_000)
    assert not summaries(datetime(2026, 11, 29, 21, 59, tzinfo=UTC))
    assert len(summaries(datetime(2026, 11, 29, 22, 1, tzinfo=UTC))) == 1
    assert len(summaries(datetime(2026, 11, 29, 23, 0, tzinfo=UTC))) == 1
    body = django_mail.outbox[0].body
    assert "€20.00" in body and "$9.99" in body and "29 November 2026" in body
    assert "50,000" not in body


def test_a_day_without_payments_and_who_wants_none_get_no_email(cast: Cast) -> None:
    summaries(NIGHT - timedelta(days=1))
    assert not summaries(NIGHT + timedelta(hours=3))
    notifications.choose(cast.alice, cast.bakery.store, {"payment_completed": "off"})
    completed(cast, NIGHT + timedelta(hours=3))
    assert not summaries(NIGHT + timedelta(days=1, hours=4))


def test_a_day_on_which_nothing_ran_is_made_up_for(cast: Cast) -> None:
    summaries(NIGHT - timedelta(days=1))
    completed(cast, NIGHT - timedelta(hours=8))
    completed(cast, NIGHT + timedelta(hours=8))
    assert len(summaries(NIGHT + timedelta(days=1, hours=4))) == 1
    assert "2 payments: €25.00" in django_mail.outbox[0].body


def test_each_completed_payment_is_told_where_somebody_asks_for_it(cast: Cast) -> None:
    notifications.choose(cast.alice, cast.bakery.store, {"payment_completed": "immediately"})
    api = cast.bakery.live
    found = make.payment(api, title="Rye")
    from apps.payments.documents.events import intent_event  # noqa: F401

    row = Payment.objects.get(pk=found["id"])
    began = PaymentDecision("processing", None, "payment_intent.processing")
    done = PaymentDecision("completed", "completed_exact", "payment_intent.completed")
    change_status(row, began, done, at=clock.real_now())
    for _ in range(2):
        completed_emails.tell_all()
        notifications.tell_due()
    mail.send_due()
    (email,) = [item for item in django_mail.outbox if "completed" in item.subject]
    assert "Rye" in email.body


def test_every_kind_has_a_default_that_it_offers() -> None:
    assert all(item.default in item.choices for item in KINDS.values())
