"""How notifications are shown: by the reader's days, each with the sign of its kind, its amount at
the end and a button to what it is about."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from uuid import UUID

from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.core import clock
from apps.core.badges import BAD, GOOD, INFO, QUIET, WAIT
from apps.core.templatetags.tillgate import day, day_of_week
from apps.core.text.moments import in_zone
from apps.core.text.wording import translated
from apps.dashboard.tables import days
from apps.stores.models import Member, Notification
from apps.stores.notices import kinds
from apps.stores.notices.notifications import is_unread
from apps.stores.notices.sentences import in_readers_language, without_amount


@dataclass(frozen=True)
class Sign:
    """An icon and the tone of its disc; neither says anything that the title doesn't."""

    icon: str
    tone: str


REVIEW = Sign("shield-check", INFO)
SIGNS = {
    kinds.PAYMENT_COMPLETED: Sign("banknotes", GOOD),
    kinds.PAYMENT_ATTENTION: Sign("exclamation-triangle", WAIT),
    kinds.UNMATCHED_TRANSFER: Sign("question-mark-circle", WAIT),
    kinds.ASSET_STOPPED: Sign("pause-circle", BAD),
    kinds.PAYOUT_CONFIRMED: Sign("check-circle", GOOD),
    kinds.PAYOUT_PROBLEM: Sign("exclamation-triangle", BAD),
    kinds.PAYOUT_APPROVAL: Sign("check-badge", WAIT),
    kinds.REFUND_FAILED: Sign("arrow-uturn-left", BAD),
    kinds.SPENDING_PROBLEM: Sign("exclamation-triangle", BAD),
    kinds.INVOICE_PAID: Sign("document-text", GOOD),
    kinds.SUBSCRIPTION_PAST_DUE: Sign("arrow-path", WAIT),
    kinds.ENDPOINT_OFF: Sign("bolt", BAD),
    kinds.VERIFICATION: REVIEW,
    kinds.STAFF_CHANGE: Sign("identification", QUIET),
    kinds.PLATFORM_FEE: Sign("building-storefront", INFO),
}
# How the subject of what waits for our review ends.
_IN_REVIEW = (":requires_review", ":under_review")
_ACTIONS = {
    "/dashboard/payments/": _("View payment"),
    "/dashboard/transfers/": _("View deposit"),
    "/dashboard/payouts/": _("View payout"),
    "/dashboard/approvals/": _("Review payout"),
    "/dashboard/invoices/": _("View invoice"),
    "/dashboard/subscriptions/": _("View subscription"),
    "/dashboard/swaps": _("View swaps"),
    "/dashboard/webhooks/": _("View endpoint"),
    "/dashboard/verification": _("View verification"),
    "/dashboard/settings": _("View settings"),
    "/dashboard/team": _("View team"),
    "/dashboard/agents": _("View agent"),
}


@dataclass(frozen=True)
class NotificationItem:
    """One row. `amount` is text, empty where there is none; then the title may have one."""

    title: str
    text: str
    amount: str
    hour: SafeString | str
    sign: Sign
    id: UUID
    action: str
    is_unread: bool


@dataclass(frozen=True)
class NotificationDay:
    label: SafeString | str
    items: list[NotificationItem]


def days_of(rows: Iterable[Notification], member: Member) -> list[NotificationDay]:
    """Of rows that are newest first, as this person has read them or not."""
    grouped = groupby(rows, key=lambda row: timezone.localtime(row.created_at).date())
    return [
        NotificationDay(_label(one), [_item(row, member) for row in rows]) for one, rows in grouped
    ]


def sign_of(kind: str, subject: str) -> Sign:
    return REVIEW if subject.endswith(_IN_REVIEW) else SIGNS[kind]


def action_of(path: str) -> str:
    return next(
        (translated(words) for begin, words in _ACTIONS.items() if path.startswith(begin)),
        gettext("View"),
    )


def _item(row: Notification, member: Member) -> NotificationItem:
    return NotificationItem(
        title=in_readers_language(without_amount(row.title, row.amount)),
        text=in_readers_language(row.text),
        amount=row.amount,
        hour=in_zone(row.created_at, "HH:mm"),
        sign=sign_of(row.kind, row.subject),
        id=row.pk,
        action=action_of(row.path),
        is_unread=is_unread(member, row),
    )


def _label(one: date) -> SafeString | str:
    today = timezone.localtime(clock.real_now()).date()
    if one == today:
        return gettext("Today")
    if one == today - timedelta(days=1):
        return gettext("Yesterday")
    return day_of_week(one) if one.year == today.year else day(days.begin(one))
