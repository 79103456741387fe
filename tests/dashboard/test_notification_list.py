"""The page of notifications: by day, each with its kind's sign, its amount at the end, one button
to what it is about, and a dot while it is unread."""

from datetime import timedelta

import pytest

from apps.core import clock
from apps.dashboard.notices import notification_lines
from apps.stores.models import Member, Notification
from apps.stores.notices import notifications
from apps.stores.notices.kinds import KINDS
from apps.stores.notices.notifications import News
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text


def news(cast: Cast, subject: str, title: str, *, amount: str = "", kind: str = "") -> News:
    store = cast.bakery.store.pk
    path = "/dashboard/payouts/01a2267b-4ade-7c60-b91c-6d2aa50bcf25"
    return News(store, "test", kind or "payout_problem", subject, title, path, "Why", amount)


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
    again = browser.get("notifications")
    assert "Unread:" not in text(again)


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
    make.simulated(api, made["id"], "overpaid")
    (row,) = Notification.objects.filter(store=cast.bakery.store)
    assert (row.title, row.amount) == ("Payment of €10.00 was overpaid", "€10.00")
    ((_, items),) = shown(Browser(cast.alice))
    assert [(item.title, item.amount, item.action) for item in items] == [
        ("Payment was overpaid", "€10.00", "View payment")
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
