"""The page of notifications: by day, each with its kind's sign, its amount at the end, one button
to what it is about, and a dot while it is unread."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from apps.core import clock
from apps.dashboard.notices import notification_lines
from apps.stores.models import Member, Notification
from apps.stores.notices import notifications
from apps.stores.notices.kinds import KINDS
from apps.stores.notices.notifications import NewNotification
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.taken_out import committed_cast


def news(
    cast: Cast, subject: str, title: str, *, amount: str = "", kind: str = ""
) -> NewNotification:
    store = cast.bakery.store.pk
    path = "/dashboard/payouts/01a2267b-4ade-7c60-b91c-6d2aa50bcf25"
    return NewNotification(
        store, "test", kind or "payout_problem", subject, title, path, "Why", amount
    )


def shown(browser: Browser) -> list[tuple[str, list[notification_lines.NotificationItem]]]:
    days = browser.get("notifications").context["days"]
    return [(day.label, day.items) for day in days]


def test_days_of_the_reader_group_them_and_a_dot_marks_what_is_unread(cast: Cast) -> None:
    browser = Browser(cast.alice)
    notifications.record(*(news(cast, str(number), "Payout failed") for number in range(3)))
    now = clock.real_now()
    rows = list(Notification.objects.filter(store=cast.bakery.store).order_by("pk"))
    for row, days in zip(rows, (0, 1, 40), strict=True):
        Notification.objects.filter(pk=row.pk).update(created_at=now - timedelta(days=days))
    Member.objects.filter(user=cast.alice).update(created_at=now - timedelta(days=30))
    first = browser.get("notifications")
    days = first.context["days"]
    assert [day.label for day in days[:2]] == ["Today", "Yesterday"] and len(days) == 3
    assert [[item.is_unread for item in day.items] for day in days] == [[True], [True], [False]]
    assert text(first).count("Unread:") == 2
    assert text(browser.get("notifications")).count("Unread:") == 2, "a look reads nothing"


def recorded(cast: Cast, count: int = 3, mode: str = "test") -> list[str]:
    """Ids of new notifications, newest first."""
    rows = [news(cast, f"{mode}{number}", "Payout failed") for number in range(count)]
    notifications.record(*(row._replace(mode=mode) for row in rows))
    found = Notification.objects.filter(store=cast.bakery.store, mode=mode)
    return [str(id) for id in found.order_by("-created_at", "-id").values_list("pk", flat=True)]


def unread(browser: Browser) -> list[str]:
    """Ids that the page marks, which the bell counts on every page."""
    page = browser.get("notifications")
    found = [str(item.id) for day in page.context["days"] for item in day.items if item.is_unread]
    for seen in (page, browser.get("balances")):
        words = f"Notifications, {len(found)} unread" if found else "Notifications"
        assert words in text(seen) and (found or ", 0 unread" not in text(seen))
    return found


def test_a_row_is_read_by_itself_and_the_others_stay_unread_and_counted(cast: Cast) -> None:
    browser = Browser(cast.alice)
    first, second, third = recorded(cast)
    assert unread(browser) == [first, second, third]
    assert browser.post("notifications/read", id=second).status_code == 303
    assert unread(browser) == [first, third]
    opened = browser.get(f"notifications/{third}")
    assert opened.status_code == 302 and "/dashboard/payouts/" in opened["Location"]
    assert unread(browser) == [first]
    browser.post("notifications/read", id=second)
    assert unread(browser) == [first], "twice is once"
    later = recorded(cast, 4)
    assert unread(browser) == [later[0], first]


def test_what_one_person_read_is_unread_by_another(cast: Cast) -> None:
    bob = Browser(cast.bob)
    first, second = recorded(cast, 2)
    Browser(cast.alice).post("notifications/read", id=first)
    assert unread(bob) == [first, second]
    assert unread(Browser(cast.alice)) == [second]


def test_all_are_read_at_once_in_the_mode_that_is_seen(cast: Cast) -> None:
    browser = Browser(cast.alice)
    recorded(cast)
    live = recorded(cast, 2, mode="live")
    browser.switch("live")
    browser.post("notifications/read", id=live[1])
    browser.switch("test")
    assert browser.post("notifications/read").status_code == 303
    assert unread(browser) == []
    browser.switch("live")
    assert unread(browser) == [live[0]]


def test_anothers_notification_is_neither_opened_nor_read(cast: Cast) -> None:
    (theirs,) = recorded(cast, 1)
    stranger = Browser(cast.charlie)
    for id in (theirs, "nothing", str(cast.alice.pk)):
        assert stranger.get(f"notifications/{id}").status_code == 404
        assert stranger.post("notifications/read", id=id).status_code == 404
    assert unread(Browser(cast.alice)) == [theirs]


@pytest.mark.commits
def test_rows_that_are_read_at_once_are_all_kept(
    django_db_setup: None, django_db_blocker: Any
) -> None:
    def read(row: Notification) -> None:
        notifications.mark_read(member, row)
        connection.close()

    with django_db_blocker.unblock(), committed_cast() as cast:
        ids = recorded(cast, 6)
        member = Member.objects.get(user=cast.alice, store=cast.bakery.store)
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(read, Notification.objects.filter(pk__in=ids)))
        assert {str(id) for id in Member.objects.get(pk=member.pk).read_ids} == set(ids)


def test_an_amount_stands_at_the_end_and_not_in_the_title_too(cast: Cast) -> None:
    notifications.record(
        news(cast, "1", "Payout of 0.5 ETH failed", amount="0.5 ETH"),
        news(cast, "2", "Your business is verified", kind="verification"),
    )
    ((_, items),) = shown(Browser(cast.alice))
    by_title = {item.title: item.amount for item in items}
    assert by_title == {"Payout failed": "0.5 ETH", "Your business is verified": ""}


def test_what_happens_to_payments_and_coins_carries_its_amount(cast: Cast) -> None:
    """The title of the email has it as well."""
    api = cast.bakery.test
    made = make.payment(api, title="Rye")
    paid = make.simulated(api, made["id"], "overpaid")
    (row,) = Notification.objects.filter(store=cast.bakery.store)
    over = f"€{paid['overpayment']['excess_cents'] / 100:.2f}"
    assert (row.title, row.amount) == (f"Payment of €10.00 was overpaid by {over}", over)
    ((_, items),) = shown(Browser(cast.alice))
    assert [(item.title, item.amount, item.action) for item in items] == [
        ("Payment of €10.00 was overpaid", over, "View payment")
    ]


@pytest.mark.parametrize(
    ("path", "action"),
    [
        ("/dashboard/payments/1", "View payment"),
        ("/dashboard/transfers/1", "View deposit"),
        ("/dashboard/payouts/1", "View payout"),
        ("/dashboard/approvals/1", "Review payout"),
        ("/dashboard/invoices/1", "View invoice"),
        ("/dashboard/subscriptions/1", "View subscription"),
        ("/dashboard/webhooks/1", "View endpoint"),
        ("/dashboard/verification", "View verification"),
        ("/dashboard/elsewhere", "View"),
    ],
)
def test_the_button_says_where_it_leads(path: str, action: str) -> None:
    assert notification_lines.action_of(path) == action


def test_every_kind_has_a_sign_and_a_review_is_blue_whatever_its_kind() -> None:
    assert set(notification_lines.SIGNS) == set(KINDS)
    assert notification_lines.sign_of("payout_problem", "1:failed").tone == "bad"
    for subject in ("1:requires_review", "1:under_review"):
        assert notification_lines.sign_of("payout_problem", subject).tone == "info"
