"""A swap and a quote, as every interface shows them."""

from apps.core import money
from apps.core.clock import iso
from apps.core.messages.documents import Decimals, Digits, Document, Id, Time
from apps.swaps.models import Swap


class SwapDocument(Document, frozen=True, kw_only=True):
    id: Id
    status: str
    source_asset_id: str
    buy_asset_id: str
    sell_amount_atomic: Digits
    expected_buy_amount_atomic: Digits
    actual_buy_amount_atomic: Digits | None
    swap_provider: str
    tx_hash: str | None
    livemode: bool
    auto_swap: bool
    failure_reason: str | None
    completed_at: Time | None
    created_at: Time
    updated_at: Time


class SwapQuoteDocument(Document, frozen=True, kw_only=True):
    source_asset_id: str
    buy_asset_id: str
    sell_amount_atomic: Digits
    estimated_buy_amount_atomic: Digits
    min_received_atomic: Digits
    slippage_bps: int
    buy_atomic_decimals: int


class AutoSwapDocument(Document, frozen=True, kw_only=True):
    """The result of an automatic swap of a payment's coins: amounts in coins, as decimal text."""

    status: str
    sell_amount: Decimals
    sell_coin_symbol: str
    sell_chain_symbol: str
    buy_amount: Decimals
    buy_coin_symbol: str
    buy_chain_symbol: str
    estimated: bool
    expected_buy_amount: Decimals
    actual_buy_amount: Decimals | None
    slippage_bps: int | None


def swap_document(swap: Swap) -> SwapDocument:
    return SwapDocument(
        id=str(swap.pk),
        status=swap.status,
        source_asset_id=swap.source_asset_id,
        buy_asset_id=swap.buy_asset_id,
        sell_amount_atomic=str(swap.sell_amount_atomic),
        expected_buy_amount_atomic=str(swap.expected_buy_amount_atomic),
        actual_buy_amount_atomic=None
        if swap.actual_buy_amount_atomic is None
        else str(swap.actual_buy_amount_atomic),
        swap_provider=swap.provider,
        tx_hash=swap.tx_hash,
        livemode=swap.is_live,
        auto_swap=swap.is_automatic,
        failure_reason=swap.failure_reason,
        completed_at=iso(swap.completed_at),
        created_at=iso(swap.created_at),
        updated_at=iso(swap.updated_at),
    )


def auto_swap_document(swap: Swap) -> AutoSwapDocument:
    source = swap.source_asset
    buy = swap.buy_asset
    expected = money.decimal_from_atomic(swap.expected_buy_amount_atomic, buy.atomic_decimals)
    actual = swap.actual_buy_amount_atomic
    actual_text = None if actual is None else money.decimal_from_atomic(actual, buy.atomic_decimals)
    return AutoSwapDocument(
        status=swap.status,
        sell_amount=money.decimal_from_atomic(swap.sell_amount_atomic, source.atomic_decimals),
        sell_coin_symbol=source.coin_symbol,
        sell_chain_symbol=source.chain.symbol,
        buy_amount=actual_text or expected,
        buy_coin_symbol=buy.coin_symbol,
        buy_chain_symbol=buy.chain.symbol,
        estimated=actual is None,
        expected_buy_amount=expected,
        actual_buy_amount=actual_text,
        slippage_bps=swap.slippage_bps,
    )
