"""Emails to people about their accounts: something that opens one has changed, or a person decided
about their store."""

import uuid
from dataclasses import asdict, dataclass

from apps.core import acting, clock, mail
from apps.core.models import Mode
from apps.stores.models import Member, Role, Store, User
from apps.stores.notices import kinds as notification_kinds
from apps.stores.notices import notifications
from apps.stores.profile import zone_of


def tell(user: User, event: str, *, to: str = "") -> None:
    """Write `what` ("Your password was changed") to the person, or to the address they had
    before."""
    context = {
        "what": event,
        "email": user.email,
        "at": clock.real_now(),
        "address": acting.current().address,
    }
    mail.send(
        key=f"account:{user.pk}:{uuid.uuid4()}",
        to=to or user.email,
        template="account_changed",
        context=context,
        zone=zone_of(user),
    )


@dataclass(frozen=True)
class StaffDecision:
    """Staff's decision about a record of a store, in words, with the dashboard's next page."""

    title: str
    text: str
    path: str
    action: str
    reason: str = ""


def tell_owners(store: Store, key: str, decision: StaffDecision) -> None:
    """Write to the store's owners, once per key; to its platform's when nobody of its own is
    here."""
    owners = _owners_of(store) or (_owners_of(store.platform) if store.platform is not None else [])
    for owner in owners:
        context = {**asdict(decision), "owned": owner.store.name}
        mail.send(
            key=f"{key}:{owner.user_id}",
            to=owner.user.email,
            template="review_outcome",
            context=context,
        )


def tell_decision(
    store: Store,
    mode: str,
    key: str,
    decision: StaffDecision,
    kind: str = notification_kinds.VERIFICATION,
) -> None:
    """In the dashboard, and to the owners what is of live mode; once per key."""
    notifications.record(
        notifications.News(
            store.pk,
            mode,
            kind,
            key,
            decision.title,
            decision.path,
            decision.reason or decision.text,
        )
    )
    if mode == Mode.LIVE:
        tell_owners(store, key, decision)


def _owners_of(store: Store) -> list[Member]:
    return list(
        Member.objects.filter(store=store, role=Role.OWNER, user__is_active=True).select_related(
            "user", "store"
        )
    )
