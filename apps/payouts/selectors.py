"""Reads of payouts: a view begins with `visible_to`; what of a store's test coins is simulated."""

from django.db import models
from django.db.models import Sum

from apps.chain.models import Deposit
from apps.chain.networks.families import stored
from apps.core import searching
from apps.core.messages.fields import is_uuid
from apps.core.models import Viewer
from apps.core.searching import found_by_any
from apps.payments.models import PaymentAddress, Refund, TransferReturn
from apps.payouts.models import Destination, Payout, Schedule


def payouts_visible_to(viewer: Viewer) -> "models.QuerySet[Payout]":
    """Newest first."""
    rows = (
        Payout.objects.visible_to(viewer)
        .select_related("asset__chain", "store", "destination")
        .defer("destination__account_sealed")
        .prefetch_related("transitions")
    )
    return rows.order_by("-created_at", "-id")


def filtered(
    rows: "models.QuerySet[Payout]",
    *,
    status: str | None,
    rail: str | None,
    schedule_id: str | None,
    asset_id: str | None,
) -> "models.QuerySet[Payout]":
    """An unrecognised status or rail is ignored; a schedule or asset that isn't there has no
    payouts."""
    if status in Payout.Status.values:
        rows = rows.filter(status=status)
    if rail in Payout.Rail.values:
        rows = rows.filter(rail=rail)
    if schedule_id:
        rows = rows.filter(schedule_id=schedule_id) if is_uuid(schedule_id) else rows.none()
    return rows.filter(asset_id=asset_id.replace("\x00", "")) if asset_id else rows


def search(rows: "models.QuerySet[Payout]", text: str) -> "models.QuerySet[Payout]":
    """Payouts whose id, transaction or recipient's address it is; of the newest, those whose
    reference in the bank it is or whose destination's name holds it as well."""
    if not text:
        return rows
    named = stored(text)
    lookups = [models.Q(tx_hash=named), models.Q(destination_address=named)]
    if is_uuid(text):
        lookups.append(models.Q(pk=text))
    parts = models.Q(provider_tx_id=text) | models.Q(paid_external_reference=text)
    return found_by_any(
        rows,
        *lookups,
        in_newest=parts | models.Q(destination__label__icontains=text),
        most=searching.LOOKED_THROUGH_MAX,
    )


def schedules_visible_to(viewer: Viewer) -> "models.QuerySet[Schedule]":
    """Oldest first, deleted ones too."""
    rows = (
        Schedule.objects.visible_to(viewer)
        .select_related("asset__chain", "destination", "store", "swap_target_asset")
        .defer("destination__account_sealed")
    )
    return rows.order_by("created_at", "id")


def destinations_visible_to(viewer: Viewer) -> "models.QuerySet[Destination]":
    """Those that can be named, newest first."""
    return (
        Destination.objects.visible_to(viewer)
        .filter(removed_at=None)
        .select_related("store")
        .order_by("-created_at", "id")
    )


def simulated_balance(payout: Payout) -> int:
    """Coins of a store that no chain knows: simulated deposits, less simulated payouts."""
    of_store = {"store_id": payout.store_id, "mode": payout.mode, "asset_id": payout.asset_id}
    addresses = PaymentAddress.objects.filter(
        payment__store=payout.store_id, payment__mode=payout.mode
    ).values("address")
    deposits = Deposit.objects.filter(
        address__in=addresses,
        asset=payout.asset_id,
        is_simulated=True,
        status=Deposit.Status.CONFIRMED,
    )
    remaining = int(deposits.aggregate(sum=Sum("amount_atomic"))["sum"] or 0)
    refunds = Refund.objects.filter(**of_store, is_simulated=True).exclude(
        status=Refund.Status.FAILED
    )
    returns = TransferReturn.objects.filter(**of_store, is_simulated=True).exclude(
        status=Refund.Status.FAILED
    )
    payouts = (
        Payout.objects.filter(**of_store, is_simulated=True)
        .exclude(funds=Payout.Funds.RETURNED)
        .exclude(pk=payout.pk)
    )
    return remaining - sum(
        int(rows.aggregate(sum=Sum("amount_atomic"))["sum"] or 0)
        for rows in (refunds, returns, payouts)
    )
