"""The review of a store's asset that was stopped: it is accepted again, or stays stopped and the
store reads why. Its end is announced to anyone who waits for it."""

import uuid
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_noop

from apps.assets.models import AcceptedAsset
from apps.core import clock, jobs
from apps.core.errors import Failure
from apps.core.text.wording import Worded
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails

REASON_MAX = 500
FOUND_AGAIN = "Every deposit that had left the chain has confirmed again"
_PATH = "/dashboard/settings/assets"
_OF_REVIEWS = (
    "suspended_at",
    "reviewed_at",
    "review_reason",
    "review_ended_at",
    "lost_deposit_ids",
)


class NotStopped(Failure):
    message = "This asset isn’t stopped for review"


class AssetReasonMissing(Failure):
    message = "Say why it stays stopped"


def stop(
    store_id: uuid.UUID, mode: str, asset_id: str, deposit_id: uuid.UUID, at: datetime
) -> bool:
    """Stop it for review because of a lost deposit, inside the caller's transaction; whether it
    wasn't stopped for that one before."""
    rows = AcceptedAsset.objects.select_for_update(no_key=True, of=("self",))
    row = rows.filter(store_id=store_id, mode=mode, asset_id=asset_id).first()
    if row is None or deposit_id in row.lost_deposit_ids:
        return False
    row.suspended_at = row.suspended_at or at
    row.lost_deposit_ids = [*row.lost_deposit_ids, deposit_id]
    row.save(update_fields=["suspended_at", "lost_deposit_ids"])
    return True


def end_review(accepted: AcceptedAsset, reason: str = "") -> AcceptedAsset:
    """It is accepted again, whether or not it was kept stopped before. Raises NotStopped."""
    with transaction.atomic():
        fresh = _stopped(accepted)
        _end(fresh, reason, gettext_noop("We have finished our review."))
    return fresh


def end_by_itself(accepted: AcceptedAsset, text: str) -> None:
    """Accept an asset again whose reason to stop is over, with the `text` that the store reads. The
    caller has locked the row."""
    _end(accepted, FOUND_AGAIN, text)


def _end(fresh: AcceptedAsset, reason: str, text: str) -> None:
    fresh.suspended_at = fresh.reviewed_at = None
    fresh.review_reason = ""
    fresh.lost_deposit_ids = []
    fresh.review_ended_at = clock.real_now()
    _save(fresh, "asset.review_ended", reason)
    _tell(fresh, Worded("{coin} is accepted again", coin=fresh.asset.full_name), text)
    jobs.announce("assets.review_ended")


def keep_stopped(accepted: AcceptedAsset, reason: str) -> AcceptedAsset:
    """Nothing of it is accepted until a review ends otherwise. Raises NotStopped or
    AssetReasonMissing."""
    explanation = reason.strip()[:REASON_MAX]
    if not explanation:
        raise AssetReasonMissing
    with transaction.atomic():
        fresh = _stopped(accepted)
        fresh.reviewed_at = clock.real_now()
        fresh.review_reason = explanation
        _save(fresh, "asset.kept_stopped", explanation)
        words = Worded("{coin} stays stopped", coin=fresh.asset.full_name)
        _tell(fresh, words, gettext_noop("Payments in it aren’t accepted."), explanation)
    return fresh


def _stopped(accepted: AcceptedAsset) -> AcceptedAsset:
    rows = AcceptedAsset.objects.select_for_update(of=("self",))
    fresh: AcceptedAsset = rows.select_related("store", "asset__chain").get(pk=accepted.pk)
    if fresh.suspended_at is None:
        raise NotStopped
    return fresh


def _save(fresh: AcceptedAsset, action: str, reason: str) -> None:
    fresh.save(update_fields=_OF_REVIEWS)
    audit.record(
        action,
        store=fresh.store_id,
        mode=fresh.mode,
        target=fresh,
        name=fresh.asset_id,
        reason=reason,
    )


def _tell(fresh: AcceptedAsset, words: str, text: str, reason: str = "") -> None:
    decision = account_emails.StaffDecision(
        words, text, _PATH, gettext_noop("View coins"), reason=reason
    )
    key = f"asset:{fresh.pk}:{clock.real_now().isoformat()}"
    account_emails.tell_decision(fresh.store, fresh.mode, key, decision)
