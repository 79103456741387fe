"""A business's answers, and a person's decision about them, with events for the store's endpoints
and its platform's."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_noop
from msgspec.structs import asdict

from apps.core import clock
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, RefusalKind
from apps.core.machine import Step
from apps.core.models import Mode
from apps.core.text.wording import Worded
from apps.platforms.documents import verification_event
from apps.platforms.requests import OwnVerificationRequest, VerificationRequest
from apps.platforms.services import confirmations
from apps.platforms.states import APPROVED, REJECTED, VERIFICATION
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails
from apps.stores.models import Store, Verification
from apps.stores.notices.kinds import VERIFICATION as VERIFICATION_KIND
from apps.stores.notices.notifications import NewNotification, record
from apps.stores.services import change_store
from apps.stores.verifying import documents as verification_documents
from apps.webhooks import events

NO_REASON = "No reason was given"
REASON_MAX = 500


class AlreadyPending(Failure):
    kind = RefusalKind.CONFLICT
    code = "verification_already_pending"
    message = "A verification of this account is already pending"


class VerificationAlreadyReviewed(Failure):
    message = "This verification has been decided already"


def submit_verification(account: Store, request: VerificationRequest) -> Verification:
    """A verification that waits for a person. Raises AlreadyPending."""
    at = clock.real_now()
    with refused_by("verification_one_pending", AlreadyPending):
        verification = Verification.objects.create(
            store=account, submitted_at=at, created_at=at, updated_at=at, **asdict(request)
        )
        audit.record(
            "verification.submitted",
            store=account,
            target=verification,
            name=verification.business_legal_name,
        )
    return verification


def submit_own(store: Store, request: OwnVerificationRequest) -> Verification:
    """A store about its own business, with its documents. Its address is the seller's too while the
    store has none.

    Raises AlreadyPending.
    """
    with transaction.atomic():
        verification = submit_verification(store, request)
        verification_documents.attach_drafts(verification)
        if not (store.street or store.city):
            address = {
                name: getattr(request, name) or "" for name in ("street", "postal_code", "city")
            }
            change_store(store, country=request.business_country, **address)
    return verification


def approve_verification(verification: Verification, reason: str = "") -> Verification:
    """The store's KYC is confirmed, and its contact with it. Raises VerificationAlreadyReviewed."""
    at = clock.real_now()
    with transaction.atomic():
        fresh = _locked(verification)
        VERIFICATION.change_locked(fresh, Step(APPROVED), at=at, reviewed_at=at, updated_at=at)
        Store.objects.filter(pk=fresh.store_id, kyc_confirmed_at=None).update(kyc_confirmed_at=at)
        confirmations.notify_waiting(
            Store.objects.select_related("platform").get(pk=fresh.store_id)
        )
        _tell(fresh, "approved", reason, at)
    return fresh


def reject_verification(verification: Verification, reason: str = "") -> Verification:
    """The store may submit again; a KYC confirmed earlier stays.

    Raises VerificationAlreadyReviewed.
    """
    at = clock.real_now()
    explanation = reason.strip()[:REASON_MAX] or NO_REASON
    with transaction.atomic():
        fresh = _locked(verification)
        VERIFICATION.change_locked(
            fresh,
            Step(REJECTED),
            at=at,
            reviewed_at=at,
            updated_at=at,
            rejection_reason=explanation,
        )
        _tell(fresh, "rejected", explanation, at)
    return fresh


def _locked(verification: Verification) -> Verification:
    fresh = Verification.objects.select_for_update(of=("self",)).get(pk=verification.pk)
    if fresh.status != Verification.Status.PENDING:
        raise VerificationAlreadyReviewed
    return fresh


def _tell(verification: Verification, done: str, reason: str, at: datetime) -> None:
    """Verifications have no mode, so the endpoints of both hear of it."""
    store = Store.objects.get(pk=verification.store_id)
    audit.record(
        f"verification.{done}",
        store=store,
        target=verification,
        name=verification.business_legal_name,
        reason=reason,
    )
    for mode in Mode.values:
        events.record(
            store_id=store.pk,
            mode=mode,
            type=f"store.verification.{done}",
            object=verification_event(store, verification),
            at=at + clock.offset(store, mode),
            platform_id=store.platform_id,
        )
    words = "is verified" if done == "approved" else "could not be verified"
    title = f"Your business {words}"
    path = "/dashboard/verification"
    for mode in Mode.values:
        record(
            NewNotification(store.pk, mode, VERIFICATION_KIND, verification.pk, title, path, reason)
        )
    account_emails.tell_owners(
        store, f"verification:{verification.pk}", _email(store, done, reason)
    )


def _email(store: Store, done: str, reason: str) -> account_emails.StaffDecision:
    path = (
        "/dashboard/verification"
        if store.platform_id is None
        else f"/dashboard/platform/accounts/{store.pk}"
    )
    if done == "approved":
        return account_emails.StaffDecision(
            Worded("{store} is verified", store=store.name),
            gettext_noop("We reviewed the business details and approved them."),
            path,
            gettext_noop("Open the dashboard"),
        )
    text = gettext_noop(
        "We couldn’t verify the business details as submitted. Update them and submit them again."
    )
    return account_emails.StaffDecision(
        Worded("{store} could not be verified", store=store.name),
        text,
        path,
        gettext_noop("Open the dashboard"),
        reason,
    )
