"""Making a swap: the record with its key first, then what it sells is reserved, in one
transaction."""

from datetime import datetime

from django.db.models import QuerySet

from apps.access import operations
from apps.access.access import Access
from apps.assets.models import Asset
from apps.core import clock, jobs
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure
from apps.core.idempotency import once
from apps.core.messages.invalid import Invalid
from apps.core.models import Viewer
from apps.core.money import Amount
from apps.core.process.failpoints import failpoint
from apps.ledger import movements
from apps.ledger.posting import InsufficientBalance
from apps.ledger.selectors import balances
from apps.payments.models import Payment
from apps.payments.services.own_fees import said_of_missing
from apps.stores.auditing import audit
from apps.stores.models import Store
from apps.stores.staff.suspensions import PayoutsSuspended, refuse_payout
from apps.swaps.models import Swap, SwapStep
from apps.swaps.requests import SwapRequest
from apps.swaps.services import limits
from apps.swaps.services.quote import SwapEstimate, assets_of, estimate


class InsufficientForSwap(Failure):
    field = "sell_amount_atomic"
    message = "Insufficient available balance"


class RateMoved(Failure):
    message = "The rate has moved; review the new figures and confirm again"


def order_swap(
    access: Access, request: SwapRequest, *, key: str, least_atomic: int = 0
) -> tuple[Swap, bool]:
    """Calls create_swap, for any kind of caller. Raises what operations.check refuses with, too."""
    operations.check(access, operations.SWAP)
    return create_swap(access, request, key=key, caller=access.caller, least_atomic=least_atomic)


def answer_unread(access: Access, refusal: Invalid, key: str) -> Swap:
    """Answer to a body that isn't a SwapRequest: permission, then the swap of a used key. Raises
    what operations.check refuses with, or the refusal."""
    operations.check(access, operations.SWAP)
    earlier = _of_key(access, access.caller, key).first()
    if earlier is None:
        raise refusal
    return earlier


def _of_key(viewer: Viewer, caller: str, key: str) -> "QuerySet[Swap]":
    rows = Swap.objects.visible_to(viewer).filter(idempotency_caller=caller, idempotency_key=key)
    swaps: QuerySet[Swap] = rows.select_related("source_asset__chain", "buy_asset__chain")
    return swaps


def create_swap(
    viewer: Viewer,
    request: SwapRequest,
    *,
    key: str,
    caller: str = "",
    payment: Payment | None = None,
    least_atomic: int = 0,
) -> tuple[Swap, bool]:
    """The swap of this key, and whether this call made it. Not inside a transaction: the provider
    is asked for an estimate.

    `caller` keeps the keys of different callers apart; `least_atomic` is the estimate's least that
    a person agreed to. Raises what quote_swap raises, InsufficientForSwap, DayLimitReached,
    RateMoved and PayoutsSuspended.
    """
    rows = _of_key(viewer, caller, key)
    earlier = rows.first()
    if earlier is not None:
        return earlier, False
    store = Store.objects.get(pk=viewer.store_id)
    refuse_payout(store)
    quote = check_swap(viewer, request, least_atomic=least_atomic)
    at = clock.now(store, viewer.mode)
    try:
        return once(
            rows,
            lambda: _make(store, viewer.mode, quote, at, key=key, caller=caller, payment=payment),
        )
    except InsufficientBalance:
        raise InsufficientForSwap from None


def check_swap(viewer: Viewer, request: SwapRequest, *, least_atomic: int) -> SwapEstimate:
    """Present estimate of a swap. Raises what create_swap does; nothing is made."""
    source, buy = assets_of(viewer, request)
    sold = Amount(source, request.sell_atomic)
    _check_balance(viewer, sold)
    quote = estimate(viewer.mode, sold, buy)
    if quote.estimated.atomic < least_atomic:
        raise RateMoved
    limits.check_day(viewer.store_id, viewer.mode, quote, clock.real_now())
    return quote


def _check_balance(viewer: Viewer, sold: Amount[Asset]) -> None:
    """An early answer, before anybody is asked for an estimate; the reservation decides."""
    balance = balances(viewer.store_id, viewer.mode).get(sold.asset.pk)
    if balance is None or balance.available_atomic < sold.atomic:
        raise InsufficientForSwap(said_of_missing(viewer, sold.asset.pk))


def _make(
    store: Store,
    mode: str,
    quote: SwapEstimate,
    at: datetime,
    *,
    key: str,
    caller: str,
    payment: Payment | None,
) -> Swap:
    limits.take_turn(store.pk, mode, quote)
    swap = Swap(
        store=store,
        mode=mode,
        created_at=at,
        updated_at=at,
        source_asset=quote.sold.asset,
        buy_asset=quote.estimated.asset,
        sell_amount_atomic=quote.sold.atomic,
        expected_buy_amount_atomic=quote.estimated.atomic,
        min_buy_amount_atomic=quote.least.atomic,
        slippage_bps=quote.slippage_bps,
        provider=quote.provider,
        payment=payment,
        idempotency_caller=caller,
        idempotency_key=key,
    )
    with refused_by(PayoutsSuspended.constraint, PayoutsSuspended):
        swap.save(force_insert=True)
    limits.check_day(store.pk, mode, quote, clock.real_now(), but=swap.pk)
    SwapStep.objects.create(swap=swap, to_status=swap.status, at=at)
    movements.swap_created(
        store_id=store.pk,
        mode=mode,
        asset_id=quote.sold.asset.pk,
        swap_id=swap.pk,
        sell_atomic=swap.sell_amount_atomic,
        at=at,
    )
    if payment is None:
        details = {
            "asset": quote.sold.asset.pk,
            "sell_amount_atomic": str(swap.sell_amount_atomic),
        }
        name = f"{quote.sold.asset.full_name} to {quote.estimated.asset.full_name}"
        audit.record(
            "swap.requested", store=store, mode=mode, target=swap, name=name, details=details
        )
    failpoint("swap.K1")
    jobs.enqueue("swaps.advance", mode=mode)
    return swap
