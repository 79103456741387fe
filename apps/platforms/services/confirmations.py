"""A live destination that came by an onboarding link: the business's contact is notified, can stop
it, or has it used at once by a code.

The link proves nobody, for its platform made it and may open it. Until a contact is verified and
notified, nothing is sent there.
"""

import hmac
import secrets
import unicodedata
import uuid
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.utils.crypto import salted_hmac

from apps.access import waiting_period
from apps.core import clock, mail
from apps.core.db import tenancy
from apps.core.errors import Failure, NotFound
from apps.core.ids import behind_shard, signed_token
from apps.core.messages.fields import is_uuid
from apps.payouts.models import Destination
from apps.payouts.services.destinations import remove_destination, title
from apps.platforms.models import DestinationConfirmation, OnboardingLink
from apps.stores.auditing import audit
from apps.stores.models import Store
from apps.stores.profile import page_language
from apps.stores.selectors import contact_of

CODE_DIGITS = 8
CODE_LIFETIME = timedelta(minutes=30)
TRIES_MAX = 5
EMAILS_MAX = 5
TOLD_AT_ONCE_MAX = 20
SEND_WAIT = timedelta(minutes=1)
_PAGE, _STOP, _CODE = (
    f"apps.platforms.confirmations.{purpose}" for purpose in ("page", "stop", "code")
)
HELD = "held"
WAITING = "waiting"
CONFIRMED = "confirmed"
USABLE = "usable"
STOPPED = "stopped"


class WrongConfirmationCode(Failure):
    message = "This code isn't the one from the latest email, or it has expired"


class ConfirmationJustSent(Failure):
    message = "The email was sent a moment ago. Wait a minute before you send it again."


class TooManyConfirmations(Failure):
    message = "The contact of this business has had many of these emails. Try again tomorrow."


def begin(link: OnboardingLink, destination: Destination) -> DestinationConfirmation:
    """For a destination that was saved as held: tell the contact, if there is one. Raises
    TooManyConfirmations."""
    row: DestinationConfirmation = DestinationConfirmation.objects.create(
        store=link.account,
        mode=link.mode,
        created_at=clock.real_now(),
        link=link,
        destination=destination,
    )
    _tell(row)
    return row


def notify_waiting(account: Store) -> None:
    """The account's contact has been verified: they hear of what was named before. What is too much
    for a day is asked for on its page."""
    rows = DestinationConfirmation.objects.filter(
        store=account, waits_until=None, stopped_at=None, destination__removed_at=None
    )
    for row_id in list(rows.order_by("created_at").values_list("pk", flat=True)[:TOLD_AT_ONCE_MAX]):
        try:
            with transaction.atomic():
                _tell(_locked(row_id))
        except TooManyConfirmations:
            return


def send_again(row: DestinationConfirmation) -> bool:
    """A new code, which ends the one before; False when there is nobody to send it to. Raises
    ConfirmationJustSent, TooManyConfirmations or NotFound."""
    with transaction.atomic():
        row = _locked(row.pk)
        if state_of(row) not in (HELD, WAITING):
            raise NotFound
        if row.told_at is not None and clock.real_now() - row.told_at < SEND_WAIT:
            raise ConfirmationJustSent
        return _tell(row)


def enter_code(row: DestinationConfirmation, text: str) -> None:
    """The contact's code: the destination can be used at once. A wrong code counts whatever
    happens next. Raises WrongConfirmationCode or NotFound."""
    at = clock.real_now()
    typed = "".join(unicodedata.normalize("NFKC", text).split())
    with transaction.atomic():
        row = _locked(row.pk)
        if state_of(row) != WAITING:
            raise NotFound
        is_open = (
            row.code_hash is not None
            and row.code_expires_at is not None
            and at < row.code_expires_at
            and row.tries < TRIES_MAX
        )
        is_right = is_open and hmac.compare_digest(bytes(row.code_hash or b""), _hash(row, typed))
        if is_right:
            row.confirmed_at = at
            row.code_hash = None
            row.save(update_fields=["confirmed_at", "code_hash"])
            Destination.objects.filter(pk=row.destination_id).update(usable_from=None)
            _note(row, "confirmed")
        else:
            row.tries = min(row.tries + 1, TRIES_MAX)
            row.save(update_fields=["tries"])
    if not is_right:
        raise WrongConfirmationCode


def stop(row: DestinationConfirmation, until: datetime) -> bool:
    """By the link of the email, also after a code: the destination is removed. False when that is
    over, or was done already."""
    at = clock.real_now()
    with transaction.atomic():
        row = _locked(row.pk)
        if not can_stop(row, until):
            return False
        row.stopped_at = at
        row.code_hash = None
        row.save(update_fields=["stopped_at", "code_hash"])
        _note(row, "stopped")
        remove_destination(row.destination, at)
    return True


def can_stop(row: DestinationConfirmation, until: datetime) -> bool:
    """True if the link of an email is still good: it was written about this waiting time, which has
    not passed."""
    return row.waits_until == until and until > clock.real_now() and state_of(row) != STOPPED


def state_of(row: DestinationConfirmation) -> str:
    if row.stopped_at is not None or row.destination.removed_at is not None:
        return STOPPED
    if row.confirmed_at is not None:
        return CONFIRMED
    if row.waits_until is None:
        return HELD
    return WAITING if row.waits_until > clock.real_now() else USABLE


# --- tokens: of the page, and of the link that stops ---


def page_url(row: DestinationConfirmation) -> str:
    return f"{settings.PUBLIC_URL}{page_path(row)}"


def page_path(row: DestinationConfirmation) -> str:
    token = behind_shard(signing.dumps(str(row.pk), salt=_PAGE))
    return f"/onboarding/destination/{token}"


def of_page(token: str) -> DestinationConfirmation:
    """The page's confirmation. Raises NotFound."""
    return _find(_loaded(token, _PAGE))


def of_stop(token: str) -> tuple[DestinationConfirmation, datetime]:
    """Confirmation that the email's link stops, and the end of that possibility. Raises
    NotFound."""
    payload = _loaded(token, _STOP)
    try:
        id, until = payload
        moment = datetime.fromisoformat(until)
    except (ValueError, TypeError):
        raise NotFound from None
    return _find(id), moment


def _loaded(token: str, salt: str) -> Any:
    try:
        return signing.loads(signed_token(token), salt=salt)
    except signing.BadSignature:
        raise NotFound from None


def _find(id: Any) -> DestinationConfirmation:
    rows = (
        DestinationConfirmation.objects.filter(store__deleted_at=None)
        .select_related(*_WITH)
        .defer(*_WITHOUT)
    )
    find = rows.filter(pk=id).first
    row: DestinationConfirmation | None = (
        tenancy.opened("the page of a named destination", find) if is_uuid(id) else None
    )
    if row is None:
        raise NotFound
    tenancy.narrow(row.store, row.link.store, modes=[row.mode])
    return row


_WITH = ("store__platform", "link__store", "destination")
_WITHOUT = ("destination__account_sealed",)


def _locked(id: uuid.UUID) -> DestinationConfirmation:
    rows = (
        DestinationConfirmation.objects.select_for_update(of=("self",))
        .select_related(*_WITH)
        .defer(*_WITHOUT)
    )
    row: DestinationConfirmation = rows.get(pk=id)
    return row


# --- the email ---


def _tell(row: DestinationConfirmation) -> bool:
    """Send a new code. The first email begins the waiting time, later ones leave it. False without
    a contact. Raises TooManyConfirmations."""
    contact = contact_of(row.store)
    if contact is None:
        return False
    if row.letters >= EMAILS_MAX:
        raise TooManyConfirmations
    at = clock.real_now()
    code = str(secrets.randbelow(10**CODE_DIGITS)).zfill(CODE_DIGITS)
    if row.waits_until is None:
        row.waits_until = waiting_period.link_usable_from(row.store, at)
        Destination.objects.filter(pk=row.destination_id).update(usable_from=row.waits_until)
    row.contact, row.told_at, row.letters = contact, at, row.letters + 1
    row.code_hash = _hash(row, code)
    row.code_expires_at = at + CODE_LIFETIME
    row.tries = 0
    row.save()
    stop_token = behind_shard(signing.dumps([str(row.pk), row.waits_until.isoformat()], salt=_STOP))
    context = {
        "account": row.store.name,
        "platform": row.link.store.brand_name or row.link.store.name,
        "what": title(row.destination),
        "until": row.waits_until,
        "code": f"{code[:4]} {code[4:]}",
        "minutes": int(CODE_LIFETIME.total_seconds()) // 60,
        "page": page_url(row),
        "stop": f"{settings.PUBLIC_URL}/onboarding/stop/{stop_token}",
    }
    if not mail.send(
        key=f"destination_named:{row.pk}:{row.letters}",
        to=contact,
        template="destination_named",
        context=context,
        language=page_language(),
    ):
        raise TooManyConfirmations
    _note(row, "contact_told")
    return True


def _hash(row: DestinationConfirmation, code: str) -> bytes:
    """Of the code and of what was named: it confirms nothing else."""
    destination = row.destination
    parts = (
        row.pk,
        destination.kind,
        destination.network,
        destination.address,
        destination.currency,
        destination.holder,
        destination.account_hint,
        code,
    )
    return salted_hmac(_CODE, "\n".join(str(part) for part in parts), algorithm="sha256").digest()


def _note(row: DestinationConfirmation, done: str) -> None:
    usable_from = None if done == "confirmed" else row.waits_until
    details = {
        "contact": row.contact,
        "waits_until": row.waits_until,
        **({} if done == "stopped" else {"usable_from": usable_from}),
    }
    audit.record(
        f"payout_destination.{done}",
        store=row.store,
        mode=row.mode,
        target=row.destination,
        name=title(row.destination),
        details=details,
    )
