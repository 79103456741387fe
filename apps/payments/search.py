"""Payments, refunds and unmatched transfers by what people have of them; indexes alone are
asked."""

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.models import Q

from apps.assets.models import Chain
from apps.chain.models import UnmatchedTransfer
from apps.core.models import Viewer
from apps.core.searching import NEWEST_MAX, SearchTerm, newest_found
from apps.payments.models import Payment, Refund
from apps.payments.selectors import named_email, paid_at

_NEWEST = ("-created_at", "-id")


def find_payments(
    viewer: Viewer, term: SearchTerm, limit: int, *, of: "Sequence[models.QuerySet[Any]]" = ()
) -> list[Payment]:
    """By id, reference, order id, title, amount, the email in its metadata, deposit address, payer
    or a transaction that paid it, newest first.

    `of` are further ids of payments, which apps above know.
    """
    if not term.text:
        return []
    rows = Payment.objects.visible_to(viewer)
    lookups = [*_lookups(term), *(Q(pk__in=ids) for ids in of)]
    if term.email:
        lookups.append(Q(pk__in=named_email(viewer, term.email)[:limit]))
    return newest_found(rows, limit, *lookups, begins=(term, ("order_id", "title")))


def _lookups(term: SearchTerm) -> list[Q]:
    """Conditions by which a text may be found, each by an index of its own."""
    if term.tx_hash or term.address:
        return paid_at(term.tx_hash or term.address)
    if term.id is not None:
        return [Q(pk=term.id), Q(order_id=term.text)]
    lookups = [Q(reference=term.text.upper())]
    return lookups + [Q(settlement_amount_cents=cents) for cents in term.amounts]


def find_refunds(viewer: Viewer, term: SearchTerm, limit: int) -> list[Refund]:
    """By id, transaction or the address that it went to, newest first."""
    if term.address:
        condition = Q(destination_address=term.address)
    elif term.is_exact:
        condition = Q(tx_hash=term.tx_hash) if term.tx_hash else Q(pk=term.id)
    else:
        return []
    rows = Refund.objects.visible_to(viewer).filter(condition).select_related("payment", "asset")
    return list(rows.order_by(*_NEWEST)[:limit])


def find_transfers(viewer: Viewer, term: SearchTerm, limit: int) -> list[UnmatchedTransfer]:
    """Transfers that no payment expected, by transaction, or the address that they came to or from,
    newest first."""
    rows = UnmatchedTransfer.objects.filter(store_id=viewer.store_id, chain__mode=viewer.mode)
    chains = Q(chain__in=Chain.objects.all())
    if term.tx_hash:
        matches = [rows.filter(chains, tx_hash=term.tx_hash)]
    elif term.address:
        newest = rows.order_by("-detected_at").values("pk")[:NEWEST_MAX]
        matches = [
            rows.filter(address_id=term.address),
            rows.filter(pk__in=newest, from_address=term.address),
        ]
    else:
        return []
    by_id = {
        row.pk: row
        for match in matches
        for row in match.select_related("asset", "chain").order_by("-detected_at")[:limit]
    }
    return sorted(by_id.values(), key=lambda row: row.detected_at, reverse=True)[:limit]
