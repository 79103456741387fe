"""What is answered about balances, payouts, schedules, swaps, reports and the test clock."""

from apps.api.plumbing.shapes import many, of, one_of, page
from apps.core.documents import schema_of
from apps.core.literal import Schema
from apps.payouts import documents
from apps.swaps.documents import QuoteDocument, SwapDocument

BALANCE = of(
    "asset_id coin_symbol chain_symbol atomic_decimals:int balance_atomic:digits pending_atomic:digits reserved_atomic:digits "
    "total_atomic:digits amount_cents:int|null"
)
SETTLEMENT_BALANCE = of("currency amount_cents:int|null")
PAYOUT = schema_of(documents.PayoutDocument)
PAYOUT_QUOTE = schema_of(documents.QuoteDocument)
SCHEDULE = schema_of(documents.ScheduleDocument)
SWAP = schema_of(SwapDocument)
SWAP_QUOTE = schema_of(QuoteDocument)
_REPORT = of(
    "id:uuid report_type format status period_from:date period_to:date currency|null created_at:time generated_at:time|null "
    "size_bytes:int|null "
    "error|null url? expires_in?:int"
)
REPORT = one_of(of("status report_id:uuid url expires_in:int"), of("status report_id:uuid"))
CLOCK = of("now:time offset_seconds:int status")

ANSWERS: dict[str, Schema] = {
    "GET balances": of(
        "",
        balances=many(BALANCE),
        stablecoin_summary=many(of("coin_symbol total_atomic:digits atomic_decimals:int")),
        settlement_balance=SETTLEMENT_BALANCE,
    ),
    "POST payouts": PAYOUT,
    "GET payouts": page(PAYOUT, "pagination"),
    "POST payouts/quote": PAYOUT_QUOTE,
    "GET payouts/<str:id>": PAYOUT,
    "POST payouts/<str:id>/retry": PAYOUT,
    "POST offramp_callbacks": of("received:bool new:bool"),
    "GET payout_schedules": many(SCHEDULE),
    "POST payout_schedules": SCHEDULE,
    "GET payout_schedules/<str:id>": schema_of(documents.ScheduleWithPayouts),
    "PATCH payout_schedules/<str:id>": SCHEDULE,
    "POST payout_schedules/<str:id>/run": schema_of(documents.RunDocument),
    "POST balance_swaps": SWAP,
    "GET balance_swaps": page(SWAP, "pagination"),
    "POST balance_swaps/quote": SWAP_QUOTE,
    "GET balance_swaps/<str:id>": SWAP,
    "GET reports": of("available_through:date", reports=many(_REPORT)),
    "GET reports/accounting_transactions": REPORT,
    "GET reports/merchant_statement": REPORT,
    "GET test_clock": CLOCK,
    "POST test_clock/advance": one_of(CLOCK, of("now:time target:time status")),
}
