"""Emails to people about their accounts: something that opens one has changed, or a person decided
about their store."""

import uuid
from dataclasses import dataclass

from apps.core import acting, clock
from apps.core.models import Mode
from apps.stores import person_mail
from apps.stores.models import Member, Role, Store, User
from apps.stores.notices import kinds as notification_kinds
from apps.stores.notices import notifications


def tell(user: User, event: str, *, to: str = "") -> None:
    """Write `event` ("Your password was changed", Worded where it has figures) to the person, or
    to the address they had before."""
    context = {
        "what": event,
        "email": user.email,
        "at": clock.real_now(),
        "address": acting.current().address,
    }
    person_mail.send(
        user,
        key=f"account:{user.pk}:{uuid.uuid4()}",
        to=to,
        template="account_changed",
        context=context,
    )


@dataclass(frozen=True)
class StaffDecision:
    """Staff's decision about a record of a store, in words, with the dashboard's next page. Texts
    with figures are Worded; a reason is staff's own."""

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
        context = {"decision": decision, "owned": owner.store.name}
        person_mail.send(
            owner.user, key=f"{key}:{owner.user_id}", template="review_outcome", context=context
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
        notifications.NewNotification(
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
