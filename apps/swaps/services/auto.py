"""Automatic swaps: what a completed payment brought in another asset is sold for the one the store
wants, once per payment.

A sweep finds the payments. The swap's key is the payment and the asset, so a sweep that is killed
anywhere can run again.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery

from apps.access import operations, waiting_period
from apps.access.access import Access
from apps.assets.models import Asset
from apps.core import clock
from apps.core.db.sql import Statement
from apps.core.errors import Failure
from apps.core.rows import PAUSED_SQL, Job
from apps.core.text.wording import Worded
from apps.ledger.selectors import payment_split
from apps.payments.models import Payment
from apps.payments.services.auto_swap import COMPLETED, FAILED, PENDING, SKIPPED, note_auto_swap
from apps.stores.auditing import audit
from apps.stores.staff.suspensions import Suspension, goes_on_sql
from apps.swaps.models import AutoSwap, Swap
from apps.swaps.requests import SwapRequest
from apps.swaps.services.create import create_swap
from apps.swaps.services.quote import QuoteUnavailable

log = structlog.get_logger(__name__)
LOOKS_AT = (AutoSwap,)
# Test mode has its own copies of the two stablecoins on its own chain, and a stablecoin of no chain
# that is always there.
TARGETS = {"live": ("ETH_USDC", "ETH_USDT"), "test": ("SETH_USDC", "USDC_SETH", "USDT_SETH")}
CALLER = "auto_swap"
PATIENCE = timedelta(hours=1)
JOB = Job("swaps.auto_swap", limit=200, in_transaction=False)
DUE_MAX = 5_000
# From the few stores that want it, each with its next payments: what it costs depends on them and
# on what is due, never on how many payments there are. A payment leaves the index
# `payment_unswapped` as soon as it shows how far its swap is.
_DUE = Statement(f"""
SELECT due.id FROM swaps_autoswap s CROSS JOIN LATERAL (
    SELECT p.id, p.completed_at, row_number() OVER (ORDER BY p.completed_at) AS turn
    FROM payments_payment p
    WHERE p.store_id = s.store_id AND p.mode = s.mode AND p.completed_at >= s.since
      AND p.status = 'completed' AND p.auto_swap_status IS NULL
      AND p.id::text NOT IN ({PAUSED_SQL})
    ORDER BY p.completed_at LIMIT %(of_store)s
) AS due
WHERE s.target_asset_id IS NOT NULL AND (s.mode = %(mode)s OR %(mode)s = '')
    AND (s.store_id = %(store_id)s::uuid OR %(store_id)s::uuid IS NULL)
    AND {goes_on_sql(Suspension.PAYOUTS, "s.store_id")}
ORDER BY due.turn, due.completed_at LIMIT %(limit)s
""")  # noqa: S608  # our own text


class NotATarget(Failure):
    field = "target_asset_id"
    message = "Choose one of the stablecoins offered"


@dataclass(frozen=True)
class _PaymentOwner:
    """Owner of the payment, as the services below ask for it."""

    store_id: uuid.UUID
    mode: str


def targets(mode: str) -> list[Asset]:
    """The assets that incoming payments can be swapped into."""
    return list(
        Asset.objects.filter(pk__in=TARGETS[mode], chain__mode=mode, is_active=True).select_related(
            "chain"
        )
    )


def set_auto_swap(access: Access, target_asset_id: str | None) -> AutoSwap:
    """Swap what completes from now on (or from the end of its waiting period) into this asset; None
    stops it.

    Raises NotATarget, or what operations.check refuses with.
    """
    operation = operations.AUTO_SWAP_STOP if target_asset_id is None else operations.AUTO_SWAP
    operations.check(access, operation)
    target = next((asset for asset in targets(access.mode) if asset.pk == target_asset_id), None)
    if target_asset_id is not None and target is None:
        raise NotATarget
    at = access.now()
    with transaction.atomic():
        setting: AutoSwap
        setting, _ = AutoSwap.objects.visible_to(access).get_or_create(
            store=access.store, mode=access.mode, defaults={"created_at": at, "since": at}
        )
        before = setting.target_asset_id
        if before != target_asset_id:
            until = waiting_period.usable_from(access, operation, access.mode)
            if until is not None or before is None:
                setting.since = until or at
            setting.target_asset = target
            setting.save(update_fields=["since", "target_asset"])
            details = {"target": [before or "nothing", target_asset_id or "nothing"]}
            waiting_period.tell(
                access,
                operation,
                setting.pk,
                Worded("Swap incoming payments into {asset}", asset=target_asset_id),
                until,
            )
            audit.record(
                "auto_swap.changed",
                store=access.store,
                mode=access.mode,
                target=setting,
                name="Automatic swaps",
                details=details,
            )
    return setting


def stop_auto_swap(id: uuid.UUID, until: datetime) -> bool:
    """By an owner's link: nothing is swapped by itself. False when it has begun already."""
    with transaction.atomic():
        setting = (
            AutoSwap.objects.select_for_update()
            .filter(pk=id, since=until, target_asset__isnull=False)
            .first()
        )
        if setting is None or until <= clock.real_now():
            return False
        AutoSwap.objects.filter(pk=setting.pk).update(target_asset=None)
        audit.record(
            "auto_swap.stopped",
            store=setting.store_id,
            mode=setting.mode,
            target=setting,
            name="Automatic swaps",
            details={"target": [setting.target_asset_id, "nothing"]},
        )
    return True


def swap_completed_payments(store_id: uuid.UUID | None = None, *, mode: str = "") -> int:
    """The sweep (of a mode): begin what is due and show what has ended; how many payments there
    were."""
    mode = mode if store_id is None else "test"
    begun = JOB.walk(_begun(store_id, mode), _follow, mode=f"{mode}+" if mode else "+")
    return begun + JOB.walk(_due(store_id, mode), _follow, mode=mode)


def _begun(store_id: uuid.UUID | None, mode: str) -> "QuerySet[Payment]":
    """Payments whose swap isn't shown as ended."""
    rows = Payment.objects.filter(auto_swap_status=PENDING)
    rows = rows.filter(mode=mode) if mode else rows
    return _with_target(rows if store_id is None else rows.filter(store_id=store_id))


def _due(store_id: uuid.UUID | None, mode: str) -> "QuerySet[Payment]":
    """Completed payments that no swap was begun for though their store wants it."""
    ids = _DUE.rows(
        store_id=store_id,
        mode=mode,
        job=JOB.name,
        now=clock.real_now(),
        of_store=JOB.limit + 1,
        limit=DUE_MAX,
    )
    rows = Payment.objects.filter(pk__in=[payment_id for (payment_id,) in ids])
    return _with_target(rows.filter(status=Payment.Status.COMPLETED, auto_swap_status__isnull=True))


def _with_target(rows: "QuerySet[Payment]") -> "QuerySet[Payment]":
    choices = AutoSwap.objects.filter(
        store=OuterRef("store"), mode=OuterRef("mode"), target_asset__isnull=False
    )
    return (
        rows.annotate(swap_target_id=Subquery(choices.values("target_asset_id")[:1]))
        .select_related("store")
        .order_by("completed_at")
    )


def _follow(payment: Payment) -> None:
    at = clock.now(payment.store, payment.mode)
    swaps = {swap.source_asset_id: swap for swap in Swap.objects.filter(payment=payment)}
    target_id: str | None = payment.swap_target_id  # type: ignore[attr-defined]  # annotated
    if payment.auto_swap_status is None and target_id is not None:
        to_sell = {
            asset_id: amount for asset_id, amount in _nets(payment).items() if asset_id != target_id
        }
        if not to_sell:
            note_auto_swap(payment, SKIPPED, at)
            return
        begun = [
            _begin(payment, target_id, asset_id, amount, at)
            for asset_id, amount in sorted(to_sell.items())
        ]
        if None in begun:
            return  # nobody to ask at the moment: the next sweep goes on
        swaps = {swap.source_asset_id: swap for swap in begun if isinstance(swap, Swap)}
        note_auto_swap(payment, PENDING if swaps else FAILED, at)
    if swaps and all(
        swap.status in (Swap.Status.COMPLETED, Swap.Status.FAILED) for swap in swaps.values()
    ):
        is_all = all(swap.status == Swap.Status.COMPLETED for swap in swaps.values())
        note_auto_swap(payment, COMPLETED if is_all else FAILED, at)


def _nets(payment: Payment) -> dict[str, int]:
    """The merchant's net of a payment, by asset."""
    splits = payment_split([payment.pk]).get(payment.pk, {})
    nets = {
        pk: split.gross_atomic - split.service_fee_atomic - split.platform_fee_atomic
        for pk, split in splits.items()
    }
    own = payment.addresses.filter(own_wallet__isnull=False).values_list("asset_id", flat=True)
    in_own_wallet = set(own)
    return {
        asset_id: net for asset_id, net in nets.items() if net > 0 and asset_id not in in_own_wallet
    }


def _begin(
    payment: Payment, target_id: str, asset_id: str, amount_atomic: int, at: datetime
) -> Swap | str | None:
    """The swap, or why there is none; None when it should be tried again."""
    owner = _PaymentOwner(payment.store_id, payment.mode)
    try:
        swap, _ = create_swap(
            owner,
            SwapRequest(asset_id, target_id, amount_atomic),
            key=f"{payment.pk}:{asset_id}",
            caller=CALLER,
            payment=payment,
        )
    except QuoteUnavailable as refusal:
        is_late = payment.completed_at is not None and payment.completed_at + PATIENCE <= at
        return refusal.text if is_late else None
    except Failure as refusal:
        log.warning(
            "auto_swap_refused", payment=str(payment.pk), asset=asset_id, reason=refusal.text
        )
        return refusal.text
    return swap


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """A payment is swapped when it completes; swaps that ended are shown with the next step."""
    moments = [
        moment
        for rows in (_begun(store_id, "test"), _due(store_id, "test"))
        for moment in rows.values_list("completed_at", flat=True)
        if moment is not None and (after is None or moment > after)
    ]
    return min(moments, default=None)


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    swap_completed_payments(store_id)
