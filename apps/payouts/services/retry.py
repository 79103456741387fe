"""A merchant's acts on a failed payout: try it again, or take the coins back."""

from django.db import transaction

from apps.access import operations
from apps.access.access import Access
from apps.core import clock
from apps.core.errors import Failure, RefusalKind
from apps.payouts.models import Payout
from apps.payouts.services import moves
from apps.stores.auditing import audit
from apps.stores.staff.suspensions import refuse_payout


class NotRetryable(Failure):
    code = "not_retryable"
    message = "Payout can't be retried"


class RetryInProgress(Failure):
    kind = RefusalKind.CONFLICT
    code = "retry_in_progress"
    message = "A retry of this payout is in progress"


def retry_payout(payout: Payout, *, by: Access | None = None) -> Payout:
    """Set a failed payout on its way again. Raises NotRetryable, RetryInProgress or
    PayoutsSuspended."""
    operations.check(by, operations.PAYOUT_RETRY)
    with transaction.atomic():
        fresh = moves.locked(payout)
        if fresh.status == Payout.Status.RETRYING:
            raise RetryInProgress
        if fresh.status != Payout.Status.FAILED or fresh.funds != Payout.Funds.RESERVED:
            raise NotRetryable
        refuse_payout(fresh.store)
        moves.begin_retry(fresh, clock.now(fresh.store, fresh.mode))
        audit.record(
            "payout.retried",
            store=fresh.store_id,
            mode=fresh.mode,
            target=fresh,
            name=moves.name_of(fresh),
        )
    return fresh


def give_up_payout(payout: Payout, *, by: Access | None = None) -> Payout:
    """The merchant wants the coins back instead. Raises NotRetryable when it hasn't failed, isn't
    clear, or was given back."""
    operations.check(by, operations.PAYOUT_GIVE_UP)
    with transaction.atomic():
        fresh = moves.locked(payout)
        if (
            fresh.status != Payout.Status.FAILED
            or fresh.funds != Payout.Funds.RESERVED
            or fresh.is_outcome_unknown
        ):
            raise NotRetryable("The coins of this payout can't be returned")
        moves.release(fresh, clock.now(fresh.store, fresh.mode))
        audit.record(
            "payout.given_up",
            store=fresh.store_id,
            mode=fresh.mode,
            target=fresh,
            name=moves.name_of(fresh),
        )
    return fresh
