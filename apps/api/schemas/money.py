"""What is answered about balances, payouts, schedules, swaps, reports and the test clock."""

from apps.api.plumbing.shapes import many, of, one_of
from apps.core.documents import schema_of
from apps.core.literal import Schema
from apps.payouts import documents

BALANCE = of(
    "asset_id coin_symbol chain_symbol atomic_decimals:int balance_atomic:digits pending_atomic:digits reserved_atomic:digits "
    "total_atomic:digits amount_cents:int|null"
)
SETTLEMENT_BALANCE = of("currency amount_cents:int|null")
PAYOUT = schema_of(documents.PayoutDocument)
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
    "GET reports": of("available_through:date", reports=many(_REPORT)),
    "GET reports/accounting_transactions": REPORT,
    "GET reports/merchant_statement": REPORT,
    "GET test_clock": CLOCK,
    "POST test_clock/advance": one_of(CLOCK, of("now:time target:time status")),
}
