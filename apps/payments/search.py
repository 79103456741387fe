"""Payments and refunds by what people have of them; indexes alone are asked."""

from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.models import Q

from apps.assets.models import Chain
from apps.chain.models import Deposit
from apps.core.models import Viewer
from apps.core.searching import Term
from apps.payments.models import Payment, PaymentAddress, Refund

_NEWEST = ("-created_at", "-id")


def find_payments(
    viewer: Viewer, term: Term, limit: int, *, of: "Sequence[models.QuerySet[Any]]" = ()
) -> list[Payment]:
    """By id, reference, order id, title, amount, deposit address or a transaction that paid it,
    newest first.

    `of` are further ids of payments, which apps above know.
    """
    condition = Q(reference=term.text.upper()) | term.begins("order_id", "title")
    if term.tx_hash or term.address:
        condition = Q(pk__in=_paid_at(term))
    elif term.id is not None:
        condition = Q(pk=term.id) | Q(order_id=term.text)
    if term.cents is not None:
        condition |= Q(settlement_amount_cents=term.cents)
    for ids in of:
        condition |= Q(pk__in=ids)
    return list(Payment.objects.visible_to(viewer).filter(condition).order_by(*_NEWEST)[:limit])


def _paid_at(term: Term) -> "models.QuerySet[PaymentAddress, Any]":
    """The ids of the payments with this deposit address, or with a deposit of this transaction."""
    addresses = PaymentAddress.objects.values("payment_id")
    if term.address:
        return addresses.filter(address_id=term.address)
    deposits = Deposit.objects.filter(chain__in=Chain.objects.all(), tx_hash=term.tx_hash)
    return addresses.filter(address_id__in=deposits.values("address_id"))


def find_refunds(viewer: Viewer, term: Term, limit: int) -> list[Refund]:
    """By id or transaction, newest first."""
    if not term.is_exact:
        return []
    condition = Q(tx_hash=term.tx_hash) if term.tx_hash else Q(pk=term.id)
    rows = Refund.objects.visible_to(viewer).filter(condition).select_related("payment", "asset")
    return list(rows.order_by(*_NEWEST)[:limit])
