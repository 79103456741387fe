"""Records of coins for staff, each with about what it is worth now."""

from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from apps.assets.models import Rate
from apps.core import clock
from apps.staff.pages import ReadOnly

OF_THE_SERVICE = Value("USD")  # in which coins that are no store's are shown
# Of rows that may be no store's.
OF_STORE_OR_SERVICE = Coalesce(F("store__settlement_currency"), OF_THE_SERVICE)


class Rated(ReadOnly):
    """Its query brings a rate with each row: a page of fifty asks no more than one of none."""

    rated_asset = "asset"
    rated_in: Any = F("store__settlement_currency")

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        rows: QuerySet[Any] = super().get_queryset(request).annotate(rate_currency=self.rated_in)
        rated: QuerySet[Any] = rows.annotate(rate_now=rate_of(self.rated_asset))
        return rated


def rate_of(asset: str) -> Subquery:
    """Of rows that have a `rate_currency`, what one coin is worth in it; null without a rate."""
    rates = Rate.objects.filter(
        asset=OuterRef(f"{asset}_id"),
        currency=OuterRef("rate_currency"),
        valid_until__gt=clock.real_now(),
    )
    return Subquery(rates.values("rate")[:1])
