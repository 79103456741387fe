"""Emails about completed live payments to members: the day before in one email at seven where they
are, or each by itself.

A summary is due at a time kept with the member; anyone who moves that time on sends it, so two runs
send one.
"""

from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django.db import transaction
from django.db.models import Count, Q, Sum

from apps.core import clock
from apps.core.models import Mode
from apps.core.money import Fiat
from apps.core.rows import Job
from apps.core.text.regions import in_english
from apps.payments.models import Payment
from apps.stores.models import Member, NotificationChoice
from apps.stores.notices import notifications
from apps.stores.notices.kinds import DAILY, IMMEDIATELY, PAYMENT_COMPLETED
from apps.stores.notices.notifications import NewNotification
from apps.stores.profile import zone_of
from apps.webhooks.models import Event

SUMMARIES = Job("payments.send_summaries", limit=100)
ONE_BY_ONE = Job("payments.tell_completed", limit=100)
HOUR = time(7)
# How long a payment may have been open before it was completed, for the index on when it was made.
OPEN_MAX = timedelta(days=8)
# What commits late has an earlier time, so some is looked at again: each is recorded once.
LOOKED_BACK = timedelta(hours=1)
AT_ONCE_MAX = 200


@dataclass(frozen=True)
class CurrencyTotal:
    """The completed payments of a day in one currency."""

    count: int
    sum: Fiat


def tell_all() -> None:
    """The summaries that are due, and the payments that somebody hears of one by one."""
    now = clock.real_now()
    due = Member.objects.filter(Q(summary_due_at=None) | Q(summary_due_at__lte=now))
    SUMMARIES.walk(due.order_by("pk").values_list("pk", flat=True), send_summary)
    stores = NotificationChoice.objects.filter(
        Q(choice=IMMEDIATELY) | Q(is_shown=True), kind=PAYMENT_COMPLETED
    )
    store_ids = stores.order_by("store_id").distinct("store_id").values_list("pk", flat=True)
    ONE_BY_ONE.walk(NotificationChoice.objects.filter(pk__in=store_ids).order_by("pk"), _record_new)


def send_summary(member_id: int) -> None:
    """The member's summary, if it still is due; the first time only its next moment is found."""
    now = clock.real_now()
    with transaction.atomic():
        members = Member.objects.select_for_update(of=("self",), no_key=True)
        member = members.select_related("user", "store").filter(pk=member_id).first()
        if member is None or (member.summary_due_at is not None and member.summary_due_at > now):
            return
        zone = zone_of(member.user)
        due = member.summary_due_at
        today = datetime.combine(now.astimezone(zone).date(), time(), zone)
        seven = datetime.combine(today.date(), HOUR, zone)
        member.summary_due_at = seven if seven > now else seven + timedelta(days=1)
        member.save(update_fields=["summary_due_at"])
        if due is None or member.store.deleted_at is not None or not member.user.is_active:
            return
        if notifications.choices_of(member)[PAYMENT_COMPLETED] == DAILY:
            begin = datetime.combine(due.astimezone(zone).date(), time(), zone) - timedelta(days=1)
            _send(member, begin, today)


def _send(member: Member, begin: datetime, end: datetime) -> None:
    sums = totals(member, begin, end)
    if not sums:
        return
    last = end - timedelta(seconds=1)
    is_one_day = begin.date() == last.date()
    context = {
        "totals": sums,
        "store": member.store.name,
        "day": last,
        "since": None if is_one_day else begin,
        "path": f"/dashboard/payments?status=completed&from={begin:%Y-%m-%d}&to={last:%Y-%m-%d}",
    }
    key = f"daily_summary:{member.pk}:{end:%Y-%m-%d}"
    notifications.send(key, "daily_summary", member.store, PAYMENT_COMPLETED, member.user, context)


def totals(member: Member, begin: datetime, end: datetime) -> list[CurrencyTotal]:
    """By currency, the largest number first."""
    rows = Payment.objects.filter(
        store_id=member.store_id,
        mode=Mode.LIVE,
        created_at__gte=begin - OPEN_MAX,
        created_at__lt=end,
        completed_at__gte=begin,
        completed_at__lt=end,
    )
    by_currency = rows.values_list("settlement_currency").annotate(
        count=Count("pk"), cents=Sum("settlement_amount_cents")
    )
    return [
        CurrencyTotal(count, Fiat(cents, currency))
        for currency, count, cents in by_currency.order_by("-count", "settlement_currency")
    ]


def _record_new(choice: NotificationChoice) -> None:
    """The newest completed payments of a store of which somebody hears one by one."""
    since = clock.real_now() - LOOKED_BACK
    events = Event.objects.filter(
        store_id=choice.store_id,
        mode=Mode.LIVE,
        created_at__gt=since,
        type="payment_intent.completed",
        account_id=None,
    )
    new = list(
        events.order_by("-created_at").values_list("object__payment_intent_id", flat=True)[
            :AT_ONCE_MAX
        ]
    )
    payments = Payment.objects.filter(pk__in=new, store_id=choice.store_id)
    notifications.record(*(_news(payment) for payment in payments))


def _news(payment: Payment) -> NewNotification:
    worth = in_english(Fiat(payment.settlement_amount_cents, payment.settlement_currency))
    return NewNotification(
        payment.store_id,
        payment.mode,
        PAYMENT_COMPLETED,
        payment.pk,
        f"Payment of {worth} completed",
        f"/dashboard/payments/{payment.pk}",
        payment.title or payment.order_id or "",
        worth,
    )
