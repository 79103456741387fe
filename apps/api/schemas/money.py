"""What is answered about balances, payouts, schedules, swaps, reports and the test clock."""

from apps.api.plumbing.shapes import many, null, of, one_of, page, plus
from apps.core.literal import Schema
from apps.payouts.states import PENDING_REASONS

BALANCE = of(
    "asset_id coin_symbol chain_symbol atomic_decimals:int balance_atomic:digits pending_atomic:digits reserved_atomic:digits "
    "total_atomic:digits amount_cents:int|null"
)
SETTLEMENT_BALANCE = of("currency amount_cents:int|null")
PAYOUT = of(
    "id:uuid status payout_rail payout_schedule_id:uuid|null amount_atomic:digits amount_decimal:decimal destination_address|null "
    "provider_tx_id|null tx_hash|null fiat_currency|null paid_fiat_amount_cents:int|null paid_fx_rate:decimal|null "
    "paid_fee_cents:int|null "
    "withheld_atomic:digits failed_gas_charged_atomic:digits funds_returned:bool next_retry_at:time|null simulated:bool|null "
    "paid_at:time|null paid_external_reference|null network_fee_decimal:decimal|null failure_reason|null failure_code|null "
    "livemode:bool "
    "created_at:time updated_at:time",
    state_transitions=many(of("from|null to at:time note|null")),
    # Why it is not on its way yet; null while nothing holds it up.
    pending_reason=null({"type": "string", "enum": list(PENDING_REASONS)}),
    asset=of("asset_id coin_symbol chain_symbol atomic_decimals:int"),
)
PAYOUT_QUOTE = of(
    "asset_id coin_symbol amount_atomic:digits estimated_fiat_cents:int estimated_fee_cents:int exchange_rate:decimal fiat_currency "
    "source_currency minimum_atomic:digits meets_minimum:bool expires_at:time|null"
)
SCHEDULE = of(
    "id:uuid frequency minimum_fiat_cents:int|null minimum_fiat_currency|null destination_address|null destination_type payout_rail "
    "next_payout_at:time|null last_payout_at:time|null last_skip_reason|null active:bool livemode:bool fiat_payout_detail_id:uuid|null "
    "crypto_payout_detail_id:uuid|null created_at:time updated_at:time",
    asset=of("asset_id coin_symbol chain_symbol"),
)
SWAP = of(
    "id:uuid status source_asset_id buy_asset_id sell_amount_atomic:digits expected_buy_amount_atomic:digits "
    "actual_buy_amount_atomic:digits|null swap_provider tx_hash|null livemode:bool auto_swap:bool failure_reason|null "
    "completed_at:time|null "
    "created_at:time updated_at:time"
)
SWAP_QUOTE = of(
    "source_asset_id buy_asset_id sell_amount_atomic:digits estimated_buy_amount_atomic:digits min_received_atomic:digits "
    "slippage_bps:int "
    "buy_atomic_decimals:int"
)
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
    "GET payout_schedules/<str:id>": plus(SCHEDULE, payouts=many(PAYOUT)),
    "PATCH payout_schedules/<str:id>": SCHEDULE,
    "POST payout_schedules/<str:id>/run": of("triggered:bool skip_reason?|null", payout__=null(PAYOUT)),
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
