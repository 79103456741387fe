"""A platform's fee on its sub-merchants' payments: never above staff's ceiling, and in live mode a
raise waits fifteen days after everybody who pays it was notified (decision 618)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from apps.core import emails, mail, money
from apps.core.clock import iso
from apps.core.models import Mode
from apps.stores import person_mail
from apps.stores.models import Member, Store
from apps.stores.notices import kinds as notification_kinds
from apps.stores.notices import notifications
from apps.stores.selectors import contact_of

NOTICE = timedelta(days=15)
_NOTHING = Decimal(0)


@dataclass(frozen=True)
class Fees:
    """Fees of a payment made now, as fractions of 1. `platform` is None where no platform earns."""

    service: Decimal
    platform: Decimal | None


def fees_of(store: Store, mode: str, at: datetime) -> Fees:
    """A platform's negotiated rate holds for all its sub-merchants. `at` is machine time."""
    if store.platform_id is None:
        return Fees(store.fee_fraction, None)
    columns = ("fee_fraction", "platform_fee_fraction", "platform_fee_ceiling_fraction")
    platform = Store.objects.only(*columns).get(pk=store.platform_id)
    return Fees(platform.fee_fraction, fee_now(store, platform, mode, at))


def chosen_fee(account: Store, platform: Store) -> Decimal | None:
    """The account's own fee, or its platform's; at most the ceiling. None: no platform earns."""
    own = account.platform_fee_fraction
    fee = platform.platform_fee_fraction if own is None else own
    ceiling = platform.platform_fee_ceiling_fraction
    return fee if fee is None or ceiling is None else min(fee, ceiling)


def fee_now(account: Store, platform: Store, mode: str, at: datetime) -> Decimal | None:
    """Fee of a payment made `at` this machine time: in live mode the former fee, as long as a raise
    waits."""
    fee = chosen_fee(account, platform)
    if mode != Mode.LIVE or not is_waiting(account, at):
        return fee
    before = account.platform_fee_before_fraction or _NOTHING
    return min(fee or _NOTHING, before)


def is_waiting(account: Store, at: datetime) -> bool:
    """True if a raise has been announced and doesn't hold yet."""
    return account.platform_fee_from is not None and account.platform_fee_from > at


def change_fee(
    account: Store, platform: Store, after: Decimal | None, at: datetime
) -> dict[str, object]:
    """The columns of an account, which is locked, whose chosen fee becomes `after`. Its owner, its
    team and its contact are notified of a raise by tell_raise, in the same transaction."""
    present = fee_now(account, platform, Mode.LIVE, at) or _NOTHING
    if (after or _NOTHING) <= present:
        return {"platform_fee_before_fraction": None, "platform_fee_from": None}
    return {"platform_fee_before_fraction": present, "platform_fee_from": at + NOTICE}


def raise_default(platform: Store, before: Decimal | None, at: datetime) -> None:
    """Staff have changed a platform's own fee, which accounts without one of their own pay:
    `before` is what it was. Its accounts are locked."""
    former = Store(platform_fee_fraction=before)
    former.platform_fee_ceiling_fraction = platform.platform_fee_ceiling_fraction
    accounts = Store.objects.select_for_update(of=("self",), no_key=True).filter(
        platform=platform, platform_fee_fraction=None, deleted_at=None
    )
    for account in accounts.order_by("pk"):
        columns = change_fee(account, former, chosen_fee(account, platform), at)
        for name, value in columns.items():
            setattr(account, name, value)
        account.save(update_fields=list(columns))
        tell_raise(account, platform)


def tell_raise(account: Store, platform: Store) -> None:
    """Email the account's team and the contact of its business, and notify the team in the
    dashboard, of a raise that waits; nothing when none does."""
    since = account.platform_fee_from
    if since is None:
        return
    before = money.points_text(account.platform_fee_before_fraction or _NOTHING)
    after = money.points_text(chosen_fee(account, platform) or _NOTHING)
    key = f"platform_fee:{account.pk}:{after}:{iso(since)}"
    notifications.record(
        notifications.NewNotification(
            account.pk,
            Mode.LIVE,
            notification_kinds.PLATFORM_FEE,
            key,
            f"{platform.name} raises its fee to {after}%",
            "/dashboard/settings",
            f"From {since:%Y-%m-%d %H:%M} UTC it keeps {after}% of each new payment, instead of"
            f" {before}%.",
        )
    )
    context = {
        "store": account.name,
        "platform": platform.name,
        "before": before,
        "after": after,
        "since": since,
    }
    people = Member.objects.filter(store=account, user__is_active=True).select_related("user")
    users = [member.user for member in people.order_by("pk")]
    email = "platform_fee_raised"
    for user in users:
        mailbox = emails.mailbox(user.email)
        person_mail.send(user, key=f"{key}:{mailbox}", template=email, context=context)
    contact = contact_of(account)
    if contact and emails.mailbox(contact) not in {emails.mailbox(user.email) for user in users}:
        mailbox = emails.mailbox(contact)
        mail.send(key=f"{key}:{mailbox}", to=contact, template=email, context=context)
