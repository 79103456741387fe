"""The end of a stop that lost deposits caused: once each of them has confirmed again the asset is
accepted, and the payouts that were held for nothing else go on.

What a person has decided or corrected meanwhile stays with people.
"""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from apps.assets import reviews
from apps.assets.models import AcceptedAsset
from apps.chain.models import Deposit
from apps.core import clock, jobs
from apps.core.rows import Job
from apps.ledger.selectors import is_corrected_since
from apps.payouts import states
from apps.payouts.models import Payout, PayoutApproval
from apps.payouts.services import moves
from apps.payouts.services.create import reason_for_review
from apps.stores.auditing import audit

JOB = Job("payouts.end_stops")


def end_stops() -> int:
    """The sweep: look at every stop that nobody has decided about; how many there were."""
    rows = AcceptedAsset.objects.filter(suspended_at__isnull=False, reviewed_at=None)
    stopped = rows.exclude(lost_deposit_ids=[]).order_by("suspended_at")
    return JOB.walk(stopped.values_list("pk", flat=True), end_stop)


def end_stop(accepted_id: object) -> None:
    """Ends a stop, inside the caller's transaction; while a deposit is missing it stays."""
    rows = AcceptedAsset.objects.select_for_update(no_key=True, of=("self",))
    accepted: AcceptedAsset = rows.select_related("store", "asset__chain").get(pk=accepted_id)
    since = accepted.suspended_at
    if since is None or accepted.reviewed_at is not None or not _is_over(accepted):
        return
    held = held_for_stops(accepted).filter(updated_at__gte=since)
    waiting = list(held.select_for_update(of=("self",)))
    reviews.end_by_itself(accepted, _text(waiting))
    for payout in waiting:
        _go_on(payout)
    jobs.enqueue("payouts.advance", mode=accepted.mode)


def _is_over(accepted: AcceptedAsset) -> bool:
    ids = accepted.lost_deposit_ids
    back = Deposit.objects.filter(pk__in=ids, status=Deposit.Status.CONFIRMED, is_lost=False)
    return (
        bool(ids)
        and back.count() == len(ids)
        and not is_corrected_since(accepted.store_id, accepted.mode, accepted.asset_id, ids)
    )


def held_for_stops(accepted: AcceptedAsset) -> "QuerySet[Payout]":
    """The payouts that wait because the asset was stopped, oldest first. What the store has to
    approve itself is left out."""
    rows = Payout.objects.select_related("asset__chain", "store")
    held = rows.filter(
        store=accepted.store_id,
        mode=accepted.mode,
        asset=accepted.asset_id,
        status=Payout.Status.REQUIRES_REVIEW,
        review_reason=states.ASSET_STOPPED,
        is_outcome_unknown=False,
    ).exclude(approval__status=PayoutApproval.Status.WAITING)
    return held.order_by("created_at")


def _text(waiting: Sequence[Payout]) -> str:
    if waiting:
        return gettext_noop(
            "The deposits that had left the chain have confirmed again. Payouts that waited for it"
            " go on."
        )
    return gettext_noop("The deposits that had left the chain have confirmed again.")


def _go_on(payout: Payout) -> None:
    """On its way, unless there is another reason to look at it."""
    at = clock.now(payout.store, payout.mode)
    reason = reason_for_review(payout, at)
    if reason:
        moves.set_columns(payout, review_reason=reason)
        return
    moves.move(payout, Payout.Status.PENDING, at, reviews.FOUND_AGAIN, review_reason="")
    audit.record(
        "payout.released",
        store=payout.store_id,
        mode=payout.mode,
        target=payout,
        name=moves.name_of(payout),
        reason=reviews.FOUND_AGAIN,
    )
