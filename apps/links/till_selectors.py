"""Reads of the till: what it offers, what was sold, and what a day has brought."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Coalesce

from apps.core.db import tenancy
from apps.core.models import Viewer
from apps.links.models import Sale, Till, TillItem
from apps.payments.models import Payment
from apps.stores.models import Store

# What the payments of a till say of themselves, and how their keys begin.
POINT_OF_SALE = "point_of_sale"
SALE_KEY = "till-"
TIPS_DEFAULT = (500, 1000, 1500)
ITEMS_MAX = 200
SALES_SHOWN = 30
# From a sale to the end of its last quote; older ones aren't read for a day's total.
PAID_WITHIN = timedelta(days=8)


def till_of(store: Store) -> Till:
    """The store's till, or one with the defaults that isn't stored."""
    till = Till.objects.filter(store=store).first()
    return till or Till(store=store, currency=store.settlement_currency, tip_bps=list(TIPS_DEFAULT))


def items_of(store: Store) -> "QuerySet[TillItem]":
    """Items that the store sells at its till, by name."""
    return TillItem.objects.filter(store=store, removed_at=None).order_by("name", "id")


def items_in(store: Store, currency: str) -> list[TillItem]:
    """Those with a price in this currency."""
    return list(items_of(store).filter(currency=currency)[:ITEMS_MAX])


def sales_visible_to(viewer: Viewer) -> "QuerySet[Sale]":
    """Newest first."""
    rows: QuerySet[Sale] = Sale.objects.visible_to(viewer)
    return rows.select_related("store", "payment__store").order_by("-created_at", "-id")


def last_sales(viewer: Viewer) -> list[Sale]:
    """The newest SALES_SHOWN that came to something to pay."""
    return list(sales_visible_to(viewer).filter(amount_cents__gt=0)[:SALES_SHOWN])


def sale_by_token(token: str) -> Sale | None:
    """The sale behind a public page."""
    rows = Sale.objects.filter(token=token).select_related("store", "payment__store")
    return tenancy.opened("the public page of a sale", rows.first)


def is_sale(payment: Payment) -> bool:
    """Tells whether the payment was made at the till, where the next one is made too: a new quote
    has no key."""
    if payment.metadata.get("source") != POINT_OF_SALE:
        return False
    is_first = (payment.idempotency_key or "").startswith(SALE_KEY)
    return is_first or sale_of(payment) is not None


def sale_of(payment: Payment) -> Sale | None:
    """Sale that the payment was made for, if it was made at the till."""
    if payment.metadata.get("source") != POINT_OF_SALE:
        return None
    return Sale.objects.filter(payment=payment, store_id=payment.store_id).first()


@dataclass(frozen=True)
class DayTotal:
    """Takings of one till in a day, in one currency: tips are part of the sum."""

    till_name: str
    currency: str
    count: int
    total_cents: int
    tip_cents: int


def day_totals(viewer: Viewer, begin: datetime, end: datetime) -> list[DayTotal]:
    """Of the sales that were completed from `begin` until before `end`, by the till's name. What
    was refunded stays counted."""
    rows = Sale.objects.visible_to(viewer).filter(
        created_at__gte=begin - PAID_WITHIN,
        payment__completed_at__gte=begin,
        payment__completed_at__lt=end,
    )
    sums = rows.order_by("till_name", "currency").values("till_name", "currency")
    taken = sums.annotate(
        count=Count("id"),
        total=Sum("payment__settlement_amount_cents"),
        tips=Coalesce(Sum("tip_cents"), 0),
    )
    return [
        DayTotal(row["till_name"], row["currency"], row["count"], row["total"], row["tips"])
        for row in taken
    ]
