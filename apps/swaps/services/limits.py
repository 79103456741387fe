"""Limit of swaps against the service's own coins in 24 hours, for all stores of one owner together:
a wrong rate costs no more than that."""

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Sum

from apps.assets.rates import COMPARED
from apps.assets.selectors import valued
from apps.core.db import locks, tenancy
from apps.core.models import Mode
from apps.core.money import CENTS, Amount, CoinPrice, Fiat
from apps.stores.models import Store
from apps.stores.selectors import owned_together
from apps.swaps.models import Swap
from apps.swaps.providers.treasury import Treasury
from apps.swaps.services.quote import DayLimitReached, QuoteUnavailable, SwapEstimate

DAY = timedelta(days=1)


def take_turn(store_id: uuid.UUID, mode: str, quote: SwapEstimate) -> None:
    """In the transaction that makes the swap: of two at once, of any of these stores, the second
    sees the first."""
    if _is_limited(mode, quote):
        owners, _ = owned_together(store_id)
        for key in sorted({store_id, *owners}):
            locks.hold_in_transaction(locks.LockKind.SWAPS_OF_A_STORE, key)


def check_day(
    store_id: uuid.UUID,
    mode: str,
    quote: SwapEstimate,
    real: datetime,
    *,
    but: uuid.UUID | None = None,
) -> None:
    """Refuses a swap above the limit, at present rates. Raises DayLimitReached or
    QuoteUnavailable."""
    if not _is_limited(mode, quote):
        return
    _, stores = owned_together(store_id)
    with tenancy.also(Store.objects.filter(pk__in=stores), [mode]):
        rows = Swap.objects.filter(
            store__in=stores, mode=mode, provider=quote.provider, created_at__gt=real - DAY
        )
        rows = rows.exclude(status=Swap.Status.FAILED).exclude(pk=but)
        totals = rows.values_list("source_asset_id").annotate(Sum("sell_amount_atomic"))
        sold = {asset_id: int(total) for asset_id, total in totals}
    sold[quote.sold.asset.pk] = sold.get(quote.sold.asset.pk, 0) + quote.sold.atomic
    total = Fiat(0, COMPARED)
    for asset, rate in valued(sold, COMPARED, real):
        if rate is None:
            raise QuoteUnavailable(retry_after=5)
        total += CoinPrice(asset, rate, COMPARED).worth(Amount(asset, sold[asset.pk]))
    if total > Fiat(settings.SWAP_STORE_DAY_USD * CENTS, COMPARED):
        raise DayLimitReached


def _is_limited(mode: str, quote: SwapEstimate) -> bool:
    return mode == Mode.LIVE and quote.provider == Treasury.name
