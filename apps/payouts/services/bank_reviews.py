"""Staff's decision about a store's bank account: it is the store's, or it isn't, and why. Nothing
is paid to an account that isn't verified.

The store's owners hear of each decision; of test accounts only the dashboard tells.
"""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_noop

from apps.core import clock
from apps.core.errors import Failure
from apps.core.text.wording import Worded
from apps.payouts.models import Destination
from apps.payouts.services.destinations import title
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails

REASON_MAX = 500
_PATH = "/dashboard/payouts/destinations"


class BankDecided(Failure):
    message = "This bank account has been decided or removed already"


class BankReasonMissing(Failure):
    message = "A rejection needs a reason"


def verify_bank(destination: Destination, reason: str = "") -> Destination:
    """Staff have seen that the account is the store's. Raises BankDecided."""
    with transaction.atomic():
        fresh = _waiting(destination)
        at = clock.now(fresh.store, fresh.mode)
        _change(fresh, "verified", reason, verified_at=at)
        _tell(
            fresh,
            at,
            Worded("Your {account} was verified", account=title(fresh)),
            gettext_noop("You can pay out to it now."),
        )
    return fresh


def reject_bank(destination: Destination, reason: str) -> Destination:
    """The store sees why, and may add the account again. Raises BankDecided or
    BankReasonMissing."""
    explanation = reason.strip()[:REASON_MAX]
    if not explanation:
        raise BankReasonMissing
    with transaction.atomic():
        fresh = _waiting(destination)
        at = clock.now(fresh.store, fresh.mode)
        _change(fresh, "rejected", explanation, rejected_at=at, rejection_reason=explanation)
        text = gettext_noop(
            "You can’t pay out to it. Remove it, and add it again with other details."
        )
        words = Worded("Your {account} couldn’t be verified", account=title(fresh))
        _tell(fresh, at, words, text, explanation)
    return fresh


def revoke_verification(destination: Destination, reason: str = "") -> Destination:
    """It waits for a decision again. Raises BankDecided."""
    with transaction.atomic():
        fresh = _locked(destination)
        if fresh.verified_at is None:
            raise BankDecided
        _change(fresh, "unverified", reason, verified_at=None)
    return fresh


def _locked(destination: Destination) -> Destination:
    rows = Destination.objects.select_for_update(of=("self",)).select_related("store")
    fresh: Destination | None = rows.filter(
        pk=destination.pk, kind=Destination.Kind.BANK, removed_at=None
    ).first()
    if fresh is None:
        raise BankDecided
    return fresh


def _waiting(destination: Destination) -> Destination:
    fresh = _locked(destination)
    if fresh.status != "pending":
        raise BankDecided
    return fresh


def _change(fresh: Destination, done: str, reason: str, **values: datetime | str | None) -> None:
    for name, value in values.items():
        setattr(fresh, name, value)
    Destination.objects.filter(pk=fresh.pk).update(**values)
    audit.record(
        f"payout_destination.{done}",
        store=fresh.store_id,
        mode=fresh.mode,
        target=fresh,
        name=title(fresh),
        reason=reason,
    )


def _tell(fresh: Destination, at: datetime, words: str, text: str, reason: str = "") -> None:
    decision = account_emails.StaffDecision(
        words, text, _PATH, gettext_noop("View destinations"), reason=reason
    )
    key = f"bank:{fresh.pk}:{at.isoformat()}"
    account_emails.tell_decision(fresh.store, fresh.mode, key, decision)
