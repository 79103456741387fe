"""The waiting period of new destinations and credentials in live mode: owners are notified, and any
of them can cancel it.

Keys, apps and the operator wait for nothing; a credential that a person has just made sends only to
addresses that the store knows (decision 617). The hours are the store's; a shorter time begins when
the present one has passed.
"""

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core import signing
from django.db import transaction
from django.utils.translation import gettext_noop

from apps.access import operation_emails, operations, rights
from apps.access.access import Access
from apps.access.models import WaitingPeriodSettings
from apps.access.operations import Operation
from apps.core import clock
from apps.core.errors import DatedFailure, Failure, NotFound
from apps.core.messages.fields import is_uuid
from apps.core.models import Mode
from apps.core.text.wording import Worded
from apps.stores.auditing import audit
from apps.stores.models import Store
from apps.stores.settings import lock_settings, write_settings

HOURS_MAX = 72
HOURS_DEFAULT = 24
# Of what waits until somebody has been asked: every look at the time refuses it without knowing
# that there is such a thing.
HELD = datetime(9999, 12, 31, tzinfo=UTC)
_SALT = "apps.access.waiting_period"
# What StillWaiting says, whole.
_WAITING = (
    gettext_noop("This destination can be used from {until}"),
    gettext_noop("This schedule can be used from {until}"),
    gettext_noop("This wallet can be used from {until}"),
    gettext_noop(
        "This destination can be used when the contact of its business has been verified and told"
    ),
    gettext_noop(
        "This schedule can be used when the contact of its business has been verified and told"
    ),
    gettext_noop(
        "This wallet can be used when the contact of its business has been verified and told"
    ),
)


class StillWaiting(DatedFailure):
    """Still in its waiting period."""

    field = "destination"

    def __init__(self, subject: str, until: datetime, *, field: str = "") -> None:
        words = (
            "can be used when the contact of its business has been verified and told"
            if until == HELD
            else "can be used from {until}"
        )
        super().__init__(f"{subject} {words}", until, field=field)


class StillNew(DatedFailure):
    """A credential that a person made lately would send coins to an address that the store doesn't
    know."""

    field = "destination"

    def __init__(self, until: datetime) -> None:
        super().__init__(
            gettext_noop("This credential can send to new addresses from {until}"), until
        )


class NotHours(Failure):
    field = "hours"
    message = f"Choose from 0 to {HOURS_MAX} hours"


def hours_of(row: WaitingPeriodSettings, at: datetime) -> int:
    """A store's waiting period now, in hours."""
    if (
        row.cooling_hours_next is not None
        and row.cooling_hours_next_from is not None
        and row.cooling_hours_next_from <= at
    ):
        return row.cooling_hours_next
    return row.cooling_hours


def usable_from(access: Access | None, operation: Operation, mode: str) -> datetime | None:
    """Time from which something added now can be used; None: at once."""
    hours = hours_ahead(access, operation, mode)
    return clock.real_now() + timedelta(hours=hours) if hours else None


def hours_ahead(access: Access | None, operation: Operation, mode: str) -> int:
    """Waiting period of something added now, in hours; 0: it is used at once."""
    if access is None or access.user is None or not operation.waits or mode != Mode.LIVE:
        return 0
    return hours_of(WaitingPeriodSettings.of(access.store), clock.real_now())


def link_usable_from(store: Store, at: datetime) -> datetime:
    """Time from which something added through an onboarding link can be used. A link proves nobody:
    where people wait for nothing, it waits as long as usual."""
    return at + timedelta(hours=hours_of(WaitingPeriodSettings.of(store), at) or HOURS_DEFAULT)


def tell(
    access: Access,
    operation: Operation,
    target: Any,
    subject: str,
    until: datetime | None,
    *,
    done: str = "",
) -> None:
    """Write to whom the row names what was done; what waits has a link that stops it. `done` is
    that of apps.access.operation_emails."""
    stop = None if until is None else stop_of(operation, target, until)
    operation_emails.tell(access, operation, subject, stop=stop, done=done)


def stop_of(operation: Operation, target: Any, until: datetime) -> operation_emails.StopLink:
    """The link of an email that stops what waits till then."""
    token = signing.dumps([operation.name, str(target), until.isoformat()], salt=_SALT)
    return operation_emails.StopLink(until, token)


def credential_waits(
    access: Access | None, operation: Operation, scopes: Iterable[str], mode: str
) -> datetime | None:
    """From when on a credential with these scopes, which a person makes now, sends coins to
    addresses that the store doesn't know; None: at once."""
    return usable_from(access, operation, mode) if rights.is_guarded(scopes) else None


def tell_credential(
    access: Access | None,
    operation: Operation,
    target: Any,
    name: str,
    scopes: Iterable[str],
    *,
    mode: str,
    until: datetime | None,
) -> None:
    """Somebody made a credential, or let an app in, that can send money away or open a way for it:
    the owners read of it, with a link that revokes it. `target` is its id, or an app's token
    family."""
    if not rights.is_guarded(scopes):
        return
    over = clock.real_now() + timedelta(hours=HOURS_MAX)
    token = signing.dumps([operation.name, str(target), over.isoformat()], salt=_SALT)
    stop = operation_emails.StopLink(until, token, is_revoked=True)
    details = Worded("{name}, with the scopes {scopes}", name=name, scopes=", ".join(scopes))
    operation_emails.tell(access, operation, details, mode=mode, stop=stop)


def read(token: str) -> tuple[str, uuid.UUID, datetime]:
    """The operation, its subject and the end of the waiting period. Raises NotFound."""
    try:
        content: Any = signing.loads(token, salt=_SALT, max_age=timedelta(hours=HOURS_MAX))
        name, target, until = content
        moment = datetime.fromisoformat(until)
    except (signing.BadSignature, ValueError, TypeError):
        raise NotFound from None
    if not is_uuid(target):
        raise NotFound
    return str(name), uuid.UUID(target), moment


# --- the time itself ------------------------------------------------------------------------------


def change_hours(access: Access, hours: int) -> None:
    """A longer time counts at once, a shorter one when the present one has passed. Raises NotHours,
    or what operations.check does."""
    operations.check(access, operations.WAITING_PERIOD_CHANGE)
    if not 0 <= hours <= HOURS_MAX:
        raise NotHours
    at = clock.real_now()
    with transaction.atomic():
        store = lock_settings(access.store_id)
        present = hours_of(WaitingPeriodSettings.of(store), at)
        if hours == present:
            _keep(store, present, None, None)
            return
        until = at + timedelta(hours=present) if hours < present else None
        if until is None:
            _keep(store, hours, None, None)
        else:
            _keep(store, present, hours, until)
        tell(
            access,
            operations.WAITING_PERIOD_CHANGE,
            store.pk,
            Worded(
                "From then on it is {hours} hours, instead of {before}",
                hours=hours,
                before=present,
            ),
            until,
        )
        audit.record(
            "store.cooling_changed",
            store=store,
            target=store,
            name=store.name,
            details={"hours": [present, hours]},
        )


def stop_change(store_id: uuid.UUID, until: datetime) -> bool:
    """The time stays as it is; False when it has changed already, or was never to."""
    with transaction.atomic():
        store = Store.objects.select_for_update(no_key=True).filter(pk=store_id).first()
        if store is None or until <= clock.real_now():
            return False
        present = WaitingPeriodSettings.of(store)
        if present.cooling_hours_next_from != until:
            return False
        _keep(store, present.cooling_hours, None, None)
        audit.record("store.cooling_kept", store=store, target=store, name=store.name)
    return True


def _keep(store: Store, hours: int, later: int | None, since: datetime | None) -> None:
    write_settings(
        store,
        {
            "cooling_hours": hours,
            "cooling_hours_next": later,
            "cooling_hours_next_from": since,
        },
    )
