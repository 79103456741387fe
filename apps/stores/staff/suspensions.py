"""A store's suspension by staff: of new payments, of payouts, of sign-ins, each by itself. Two
members of staff decide it, the owners are notified, and two lift it.

One of a platform holds for its sub-merchants too, apart from their own people's sign-ins. What was
paid in goes on (decision 685). The database refuses what a suspended store may not, no matter who
writes.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, TextChoices
from django.utils.translation import gettext_noop

from apps.core import clock
from apps.core.errors import Failure, RefusalKind
from apps.core.models import Mode
from apps.core.text.wording import Worded
from apps.stores import staff_roles
from apps.stores.emailing import account_emails
from apps.stores.models import StaffRequest, Store, User
from apps.stores.notices import kinds as notification_kinds
from apps.stores.services import change_store_for
from apps.stores.settings import lock_settings
from apps.stores.staff import four_eyes
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind, StaffRequestRefused


class Suspension(TextChoices):
    """Parts of a store that can be suspended."""

    PAYMENTS = "payments", "New payments"
    PAYOUTS = "payouts", "Payouts"
    SIGN_INS = "sign_ins", "Sign-ins"


# Of a platform's, those that its sub-merchants share.
_SHARED = (Suspension.PAYMENTS, Suspension.PAYOUTS)
# What each means, as staff read it before they ask and owners in the email.
_SUSPENDED = gettext_noop("{part} of {store} are suspended")
_ACTIVE_AGAIN = gettext_noop("{part} of {store} are active again")
_OVER = gettext_noop("The suspension is over.")
EFFECTS = {
    Suspension.PAYMENTS: gettext_noop(
        "No payment can be created: by the API, at payment links, invoices and the point of sale,"
        " or for subscriptions. Open payments can still be paid, and deposits are booked."
    ),
    Suspension.PAYOUTS: gettext_noop(
        "Nothing is paid out, swapped or drawn by agents, and payouts that wait aren’t sent."
        " Refunds go only to addresses that paid."
    ),
    Suspension.SIGN_INS: gettext_noop(
        "Nobody opens the store in the dashboard, or connects an app to it. API keys keep working."
    ),
}


class StoreSuspended(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "store_suspended"
    message = "This store is suspended"


class PaymentsSuspended(StoreSuspended):
    message = "This store can't take new payments at the moment"  # customers read it, too
    constraint = "store_payments_suspended"  # by which the database answers


class PayoutsSuspended(StoreSuspended):
    message = "Payouts of this store are suspended"
    constraint = "store_payouts_suspended"


class RefundsToPayers(PayoutsSuspended):
    message = "Payouts of this store are suspended: refunds go only to the addresses that paid"


class SignInsSuspended(StoreSuspended):
    message = "Sign-ins to this store are suspended"


def column_of(part: str) -> str:
    return f"{Suspension(part).value}_suspended_at"


def is_suspended(store: Store, part: str) -> bool:
    """By itself, or with its platform; an archive of test data is."""
    column = column_of(part)
    if getattr(store, column) is not None or store.archive_of_id is not None:
        return True
    platform = store.platform if part in _SHARED and store.platform_id is not None else None
    return platform is not None and getattr(platform, column) is not None


def parts_of(store: Store) -> list[Suspension]:
    """Parts of a store that are suspended now."""
    return [part for part in Suspension if is_suspended(store, part)]


def refuse_payout(store: Store) -> None:
    """Raises PayoutsSuspended."""
    if is_suspended(store, Suspension.PAYOUTS):
        raise PayoutsSuspended


def goes_on(part: str, store: str = "store") -> Q:
    """Of rows whose `store` does this: neither it nor its platform is suspended, and it is no
    archive of test data."""
    column = column_of(part)
    is_on = {f"{store}__{column}": None, f"{store}__platform__{column}": None}
    return Q(**is_on, **{f"{store}__archive_of": None})


def goes_on_sql(part: str, store_id: str) -> str:
    """Condition in SQL that a part of the store goes on; `store_id` is an expression for its ID."""
    column = column_of(part)
    return (
        "NOT EXISTS (SELECT FROM stores_store suspended WHERE"  # noqa: S608  # our own text
        f" (suspended.{column} IS NOT NULL OR suspended.archive_of_id IS NOT NULL)"
        f" AND (suspended.id = {store_id} OR suspended.id ="
        f" (SELECT its.platform_id FROM stores_store its WHERE its.id = {store_id})))"
    )


def due_after(store: Store, part: str, begin: datetime, due: datetime) -> datetime | None:
    """When something is due that began at `begin` and was due in a suspension that is over: after
    its end, with the time that was left when it began. None if it was due in none.

    Times are real ones.
    """
    stores = [store, *([store.platform] if store.platform is not None else [])]
    rows = StaffRequest.objects.filter(
        kind=SUSPENSION.name,
        target_id__in=[target_of(one, part) for one in stores],
        state=StaffRequest.State.APPROVED,
        decided_at__gte=begin,
    )
    since: dict[str, datetime] = {}
    later = None
    for row in rows.order_by("decided_at"):
        if row.decided_at is None:
            continue
        if not four_eyes.content_of(row).facts["lifts"]:
            since[row.target_id] = row.decided_at
            continue
        start = since.pop(row.target_id, begin)
        if start <= (later or due) <= row.decided_at:
            later = row.decided_at + ((later or due) - start)
    return later


def request_suspension(
    store: Store, part: str, reason: str, staff: User, at: datetime, *, lifts: bool = False
) -> StaffRequest:
    """Suspend it, or lift what is suspended, once a second member of staff approves. The owners
    read the reason. Raises StaffForbidden, StaffRequestRefused or what four_eyes.ask raises."""
    chosen = Suspension(part)
    is_on = getattr(store, column_of(chosen)) is not None
    if is_on != lifts:
        raise StaffRequestRefused("Nothing of it would change")
    before, after = ("Suspended", "Active") if lifts else ("Active", "Suspended")
    verb = "Resume" if lifts else "Suspend"
    wish = Proposal(
        target_of(store, chosen),
        f"{verb} {chosen.label.lower()} of {store.name}",
        {"store": str(store.pk), "part": chosen.value, "lifts": lifts},
        [(chosen.label, before, after)],
        reason,
    )
    return four_eyes.ask(SUSPENSION, wish, staff, at)


def target_of(store: Store, part: str) -> str:
    """Target that requests about it are known by."""
    return f"{store.pk}:{Suspension(part).value}"


def targets_of(store: Store) -> Collection[str]:
    return [target_of(store, part) for part in Suspension]


def reasons_of(store: Store) -> list[tuple[Suspension, str]]:
    """Suspended parts of the store itself, with the reason that its owners got."""
    parts = [part for part in Suspension if getattr(store, column_of(part)) is not None]
    if not parts:
        return []
    rows = StaffRequest.objects.filter(
        kind=SUSPENSION.name,
        target_id__in=[target_of(store, part) for part in parts],
        state=StaffRequest.State.APPROVED,
    )
    newest = {row.target_id: row.reason for row in rows.order_by("decided_at")}
    return [(part, newest.get(target_of(store, part), "")) for part in parts]


@dataclass(frozen=True)
class Notice:
    """A line of what the store's people read in the dashboard; `by_platform`: with its platform."""

    part: Suspension
    effect: str
    reason: str
    by_platform: bool = False


def notices_of(store: Store) -> list[Notice]:
    """Suspended parts of a store now, with their meaning; no statement while there are none."""
    own = reasons_of(store)
    notices = [Notice(part, EFFECTS[part], reason) for part, reason in own]
    shared = set(parts_of(store)) - {part for part, _ in own}
    return notices + [Notice(part, EFFECTS[part], "", True) for part in sorted(shared)]


def _before(facts: Facts) -> Facts:
    moment = getattr(lock_settings(facts["store"]), column_of(facts["part"]))
    return {"since": None if moment is None else clock.iso(moment)}


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> Store:
    store = lock_settings(facts["store"])
    part = Suspension(facts["part"])
    moment = None if facts["lifts"] else at
    changed = change_store_for(store, request.reason, {column_of(part): moment})
    _tell(changed, part, request)
    return changed


def _tell(store: Store, part: Suspension, request: StaffRequest) -> None:
    """The owners, by email and in the dashboard."""
    is_on = getattr(store, column_of(part)) is not None
    are = Worded(
        _SUSPENDED if is_on else _ACTIVE_AGAIN,
        part=Worded(part.label),
        store=store.name,
    )
    text = Worded(
        "{effect} If you didn’t expect this, contact us.",
        effect=Worded(EFFECTS[part] if is_on else _OVER),
    )
    account_emails.tell_decision(
        store,
        Mode.LIVE,
        f"staff_request:{request.pk}",
        account_emails.StaffDecision(
            are,
            text,
            "/dashboard/",
            gettext_noop("Open the dashboard"),
            request.reason,
        ),
        kind=notification_kinds.STAFF_CHANGE,
    )


SUSPENSION = RequestKind(
    "suspension",
    "A suspension of a store, or its end",
    staff_roles.SUSPENSION,
    _before,
    _carry_out,
)
