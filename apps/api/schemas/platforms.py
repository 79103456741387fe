"""What is answered to agents."""

from apps.api.plumbing.shapes import many, of, page
from apps.api.schemas.money import BALANCE, PAYOUT, SETTLEMENT_BALANCE
from apps.api.schemas.payments import CREATED, DETAIL, REFUND, ROW
from apps.core.literal import Schema

MANDATE = of(
    "id:uuid scope|null mandate_ref status asset_id total_cap_atomic:digits per_call_cap_atomic:digits|null spent_atomic:digits "
    "remaining_atomic:digits authorization_provider expires_at:time|null revoked_at:time|null livemode:bool created_at:time "
    "updated_at:time"
)
SETTLEMENT = of(
    "id:uuid status asset_id amount_atomic:digits mandate_ref mandate_id:uuid nonce|null pay_to|null payer|null "
    "requirements:any tx_ref|null "
    "failure_reason|null livemode:bool created_at:time updated_at:time"
)
CONTEXT = of(
    "mode livemode:bool accepted_assets_count:int",
    store=of("id:uuid name kyc_confirmed:bool"),
    agent=of("name principal token_prefix scopes:texts last_used_at:time|null expires_at:time|null"),
    authorization=of("provider mandates:bool"),
    rate_limit=of("per_minute:int"),
)
_TOKEN = of("asset_id coin_symbol chain_symbol name atomic_decimals:int active:bool")
_CAPS = "per_tx_cap_atomic:digits|null daily_cap_atomic:digits|null daily_spent_atomic:digits daily_remaining_atomic:digits|null"

ANSWERS: dict[str, Schema] = {
    "GET agentic/account": CONTEXT,
    "POST agentic/payments": CREATED,
    "GET agentic/payments": page(ROW),
    "GET agentic/payments/<str:id>": DETAIL,
    "POST agentic/payments/<str:id>/cancel": DETAIL,
    "GET agentic/payments/<str:id>/refunds": of("", data=many(REFUND)),
    "POST agentic/payments/<str:id>/refunds": of("", data=many(REFUND)),
    "POST agentic/payouts": PAYOUT,
    "GET agentic/payouts": page(PAYOUT, "pagination"),
    "GET agentic/payouts/<str:id>": PAYOUT,
    "GET agentic/payout_limits": of(
        "utc_day:date", limits=many(of(f"asset_id coin_symbol chain_symbol atomic_decimals:int {_CAPS} controls_configured:bool"))
    ),
    "GET agentic/balances": of("", balances=many(BALANCE), settlement_balance=SETTLEMENT_BALANCE),
    "GET agentic/exchange_rates": of(
        "currency", rates=many(of("asset_id coin_symbol chain_symbol currency rate:decimal source as_of:time"))
    ),
    "GET agentic/tokens": of("", accepted=many(_TOKEN), available=many(_TOKEN)),
    "PATCH agentic/tokens/<str:id>": of("asset_id active:bool provider"),
    "GET agentic/market_data": of(
        "query coin_id vs_currency price:num market_cap:num|null volume_24h:num|null change_24h_pct:num|null source"
    ),
    "POST agentic/mandates": MANDATE,
    "GET agentic/mandates": of("", data=many(MANDATE)),
    "GET agentic/mandates/<str:id>": MANDATE,
    "POST agentic/x402/settlements": SETTLEMENT,
    "GET agentic/x402/settlements": page(SETTLEMENT, "pagination"),
    "GET agentic/x402/settlements/<str:id>": SETTLEMENT,
}
