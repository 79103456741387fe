"""A store asks to be a platform; a person says yes or no, once."""

from django.db import transaction
from django.utils.translation import gettext_noop

from apps.access.access import Access
from apps.core import clock
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, RefusalKind
from apps.core.machine import Step
from apps.core.text.wording import Worded
from apps.platforms.models import AccessRequest
from apps.platforms.requests import PlatformAccess
from apps.platforms.states import ACCESS_REQUEST, APPROVED, REJECTED
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails
from apps.stores.models import Store

NO_REASON = "No reason was given"
REASON_MAX = 500


class Pending(Failure):
    kind = RefusalKind.CONFLICT
    code = "access_request_pending"
    message = "A request for platform access is already pending"


class AlreadyAPlatform(Failure):
    kind = RefusalKind.CONFLICT
    code = "already_a_platform"
    message = "This store is already a platform"


class OfASubMerchant(Failure):
    """A sub-merchant's platform already earns of its payments; there is no room for another one
    between them."""

    kind = RefusalKind.CONFLICT
    code = "sub_merchant_account"
    message = "A sub-merchant account can't become a platform"


class AccessAlreadyReviewed(Failure):
    message = "This request has been decided already"


def request_access(access: Access, request: PlatformAccess) -> AccessRequest:
    """A request that waits for a person. Raises Pending, AlreadyAPlatform or OfASubMerchant."""
    if access.store.is_platform:
        raise AlreadyAPlatform
    if access.store.platform_id is not None:
        raise OfASubMerchant
    with refused_by("access_request_one_pending", Pending):
        access_request = AccessRequest.objects.create(
            store=access.store, reason=request.reason, created_at=clock.real_now()
        )
        audit.record(
            "platform_access.requested",
            store=access.store,
            target=access_request,
            name=access.store.name,
            reason=request.reason or "",
        )
    return access_request


def approve_access(request: AccessRequest, reason: str = "") -> AccessRequest:
    """The store is a platform from now on; keys made earlier keep their scopes. Raises
    AccessAlreadyReviewed."""
    with transaction.atomic():
        fresh = _locked(request)
        at = clock.real_now()
        ACCESS_REQUEST.change_locked(fresh, Step(APPROVED), at=at, reviewed_at=at)
        Store.objects.filter(pk=fresh.store_id).update(is_platform=True)
        account_emails.tell_owners(
            fresh.store, f"platform_access:{fresh.pk}", _approved(fresh.store)
        )
        audit.record(
            "platform_access.approved",
            store=fresh.store_id,
            target=fresh,
            name=fresh.store.name,
            reason=reason,
        )
    return fresh


def reject_access(request: AccessRequest, reason: str = "") -> AccessRequest:
    """The store may ask again. Raises AccessAlreadyReviewed."""
    explanation = reason.strip()[:REASON_MAX] or NO_REASON
    with transaction.atomic():
        fresh = _locked(request)
        at = clock.real_now()
        ACCESS_REQUEST.change_locked(
            fresh, Step(REJECTED), at=at, reviewed_at=at, rejection_reason=explanation
        )
        account_emails.tell_owners(
            fresh.store, f"platform_access:{fresh.pk}", _rejected(fresh.store, explanation)
        )
        audit.record(
            "platform_access.rejected",
            store=fresh.store_id,
            target=fresh,
            name=fresh.store.name,
            reason=explanation,
        )
    return fresh


def _approved(store: Store) -> account_emails.StaffDecision:
    text = gettext_noop(
        "It can open accounts for its merchants now. Keys that were made before don’t reach them:"
        " create a new one."
    )
    return account_emails.StaffDecision(
        Worded("{store} is a platform", store=store.name),
        text,
        "/dashboard/platform",
        gettext_noop("Open your platform"),
    )


def _rejected(store: Store, reason: str) -> account_emails.StaffDecision:
    return account_emails.StaffDecision(
        Worded("{store} did not become a platform", store=store.name),
        gettext_noop("It stays as it is. You can ask again at any time."),
        "/dashboard/platform",
        gettext_noop("Ask again"),
        reason,
    )


def latest_request(access: Access) -> AccessRequest | None:
    return (
        AccessRequest.objects.filter(store_id=access.store_id)
        .order_by("-created_at", "-id")
        .first()
    )


def _locked(request: AccessRequest) -> AccessRequest:
    fresh = (
        AccessRequest.objects.select_for_update(of=("self",))
        .select_related("store")
        .get(pk=request.pk)
    )
    if fresh.status != AccessRequest.Status.PENDING:
        raise AccessAlreadyReviewed
    return fresh
