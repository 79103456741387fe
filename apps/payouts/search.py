"""Payouts, their destinations, schedules and lists by what people have of them; indexes alone are
asked."""

from django.db.models import Q

from apps.core.models import Viewer
from apps.core.searching import SearchTerm
from apps.payouts.models import Destination, Payout, PayoutBatch, Schedule
from apps.payouts.selectors import destinations_visible_to, schedules_visible_to


def find_payouts(viewer: Viewer, term: SearchTerm, limit: int) -> list[Payout]:
    """By id, transaction, address, or how the label of a saved destination begins, newest first."""
    if term.tx_hash:
        condition = Q(tx_hash=term.tx_hash)
    elif term.id is not None:
        condition = Q(pk=term.id)
    else:
        saved = Q(address=term.address) if term.address else term.begins("label")
        destinations = (
            Destination.objects.visible_to(viewer)
            .filter(saved)
            .values_list("pk", flat=True)
            .order_by("-created_at")
        )
        condition = Q(destination__in=list(destinations[:limit]))
        if term.address:
            condition |= Q(destination_address=term.address)
    rows = (
        Payout.objects.visible_to(viewer)
        .filter(condition)
        .select_related("asset", "destination")
        .defer("destination__account_sealed")
    )
    return list(rows.order_by("-created_at", "-id")[:limit])


def find_destinations(viewer: Viewer, term: SearchTerm, limit: int) -> list[Destination]:
    """Those that can be paid to, by id, address, or how the name begins, newest first."""
    if term.id is not None:
        condition = Q(pk=term.id)
    else:
        condition = Q(address=term.address) if term.address else term.begins("label")
    return list(destinations_visible_to(viewer).filter(condition)[:limit])


def find_schedules(viewer: Viewer, term: SearchTerm, limit: int) -> list[Schedule]:
    """By id; deleted ones are not found."""
    if term.id is None:
        return []
    return list(schedules_visible_to(viewer).filter(pk=term.id, deleted_at=None)[:limit])


def find_batches(viewer: Viewer, term: SearchTerm, limit: int) -> list[PayoutBatch]:
    """Mass payouts by id."""
    if term.id is None:
        return []
    return list(PayoutBatch.objects.visible_to(viewer).filter(pk=term.id)[:limit])
