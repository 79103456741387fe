"""Payments, refunds and unmatched transfers by what people have of them; indexes alone are
asked."""

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.fields.json import KT
from django.db.models.functions import Lower

from apps.assets.models import Chain
from apps.chain.models import UnmatchedTransfer
from apps.core.models import Viewer
from apps.core.searching import NEWEST_MAX, TYPED_MAX, Term, newest_found
from apps.payments.models import Payment, Refund
from apps.payments.selectors import paid_at

_NEWEST = ("-created_at", "-id")


def find_payments(
    viewer: Viewer, term: Term, limit: int, *, of: "Sequence[models.QuerySet[Any]]" = ()
) -> list[Payment]:
    """By id, reference, order id, title, amount, the email in its metadata (of the newest
    TYPED_MAX), deposit address, payer or a transaction that paid it, newest first.

    `of` are further ids of payments, which apps above know.
    """
    if not term.text:
        return []
    rows = Payment.objects.visible_to(viewer)
    lookups = [*_lookups(rows, term), *(Q(pk__in=ids) for ids in of)]
    return newest_found(rows, limit, *lookups, begins=(term, ("order_id", "title")))


def _lookups(rows: "models.QuerySet[Payment]", term: Term) -> list[Q]:
    """What a text may be of a payment, each by an index of its own."""
    if term.tx_hash or term.address:
        return paid_at(term.tx_hash or term.address)
    if term.id is not None:
        return [Q(pk=term.id), Q(order_id=term.text)]
    lookups = [Q(reference=term.text.upper())]
    if term.cents is not None:
        lookups.append(Q(settlement_amount_cents=term.cents))
    if term.email:
        lookups.append(Q(pk__in=_naming(rows, term.email)))
    return lookups


def _naming(rows: "models.QuerySet[Payment]", email: str) -> "models.QuerySet[Payment, Any]":
    """The ids of the newest payments whose metadata names this address. Beneath the policies the
    index of `named_email` finds every payment of the store that names any (decision 413), which is
    for a list and not for each letter that is typed."""
    dates = rows.order_by("-created_at").values_list("created_at", flat=True)
    oldest = dates[TYPED_MAX - 1 : TYPED_MAX]
    newest = next((rows.filter(created_at__gte=at) for at in oldest), rows)
    folded = Lower(KT("metadata__customer_email"))
    matches = newest.annotate(folded=folded).filter(folded=email.lower())
    return matches.values("pk")


def find_refunds(viewer: Viewer, term: Term, limit: int) -> list[Refund]:
    """By id, transaction or the address that it went to, newest first."""
    if term.address:
        condition = Q(destination_address=term.address)
    elif term.is_exact:
        condition = Q(tx_hash=term.tx_hash) if term.tx_hash else Q(pk=term.id)
    else:
        return []
    rows = Refund.objects.visible_to(viewer).filter(condition).select_related("payment", "asset")
    return list(rows.order_by(*_NEWEST)[:limit])


def find_transfers(viewer: Viewer, term: Term, limit: int) -> list[UnmatchedTransfer]:
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
