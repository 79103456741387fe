"""Reads of swaps: a view begins with `visible_to`; the swaps of a payment, and what they brought
beside their estimates."""

from django.db import models

from apps.chain.networks.families import stored
from apps.core import money
from apps.core.messages.fields import is_uuid
from apps.core.models import Viewer
from apps.core.searching import found_by_any
from apps.payments.models import Payment
from apps.swaps.models import AutoSwap, Swap

_ASSETS = ("source_asset__chain", "buy_asset__chain")


def swaps_visible_to(viewer: Viewer) -> "models.QuerySet[Swap]":
    """Newest first."""
    return Swap.objects.visible_to(viewer).select_related(*_ASSETS).order_by("-created_at", "-id")


def filtered(rows: "models.QuerySet[Swap]", status: str | None) -> "models.QuerySet[Swap]":
    """Unrecognised statuses are ignored."""
    return rows.filter(status=status) if status in Swap.Status.values else rows


def search(rows: "models.QuerySet[Swap]", text: str) -> "models.QuerySet[Swap]":
    """Swaps whose id or transaction it is, or that were made for the payment with this
    reference."""
    if not text:
        return rows
    payments = Payment.objects.filter(reference=text.upper()).values("pk")
    lookups = [models.Q(tx_hash=stored(text)), models.Q(payment__in=payments)]
    if is_uuid(text):
        lookups.append(models.Q(pk=text))
    return found_by_any(rows, *lookups)


def of_asset(rows: "models.QuerySet[Swap]", asset_id: str) -> "models.QuerySet[Swap]":
    """Sold or bought."""
    return (
        rows.filter(models.Q(source_asset=asset_id) | models.Q(buy_asset=asset_id))
        if asset_id
        else rows
    )


def of_payment(payment: Payment) -> list[Swap]:
    """The automatic swaps of a payment, the one that sold most first made."""
    return list(
        Swap.objects.filter(payment=payment).select_related(*_ASSETS).order_by("created_at", "id")
    )


def swap_delta(payment: Payment) -> tuple[str, str] | None:
    """Yield of a payment's automatic swap above (or, with a minus, below) its estimate: in coins
    and in atomic units."""
    swap = next(
        (swap for swap in of_payment(payment) if swap.actual_buy_amount_atomic is not None), None
    )
    if swap is None or swap.actual_buy_amount_atomic is None:
        return None
    delta = swap.actual_buy_amount_atomic - swap.expected_buy_amount_atomic
    return money.decimal_from_atomic(delta, swap.buy_asset.atomic_decimals), str(delta)


def auto_swap_of(viewer: Viewer) -> AutoSwap | None:
    """The store's setting in its mode; None when it never made one."""
    auto_swap: AutoSwap | None = (
        AutoSwap.objects.visible_to(viewer).select_related("target_asset__chain").first()
    )
    return auto_swap
