"""What is answered about payments, their checkout, card payments and refunds."""

from apps.api.plumbing.shapes import many, null, of, plus
from apps.assets.documents import SupportedAsset
from apps.core.documents import schema_of
from apps.core.literal import Schema
from apps.onramp.documents import PaymentSession, UnavailableDocument
from apps.payments.documents import parts
from apps.swaps.documents import AutoSwapDocument

LINE_ITEM = schema_of(parts.LineItemDocument)
SUPPORTED_ASSET = schema_of(SupportedAsset)
ADDRESS = schema_of(parts.AddressDocument)
ROW = schema_of(parts.PaymentRow)
CREATED = schema_of(parts.PaymentDocument)
TRANSACTION = of(
    "tx_hash from_address deposit_address confirmations:int required_confirmations:int status asset_id coin_symbol chain_symbol "
    "chain_name "
    "network amount_atomic:digits atomic_decimals:int block_number:int|null explorer_url|null detected_at:time confirmed_at:time|null "
    "simulated:bool"
)
_SHARES = "asset_id atomic_decimals:int gross_atomic:digits service_fee_atomic:digits platform_fee_atomic:digits net_atomic:digits "
_SHARES += "refunded_atomic:digits"
FINANCIALS = of(
    "gross_amount:decimal fee_amount:decimal net_amount:decimal fee_percentage:decimal platform_fee_amount:decimal "
    "refunded_amount:decimal "
    "currency asset_id exchange_rate:decimal",
    assets=many(of(_SHARES)),
)
OVERPAYMENT = of(
    "required_atomic:digits received_atomic:digits excess_atomic:digits excess_cents:int asset_id coin_symbol atomic_decimals:int"
)
FEE = of("fee_atomic:digits fee_percentage:decimal asset_id platform_fee_atomic:digits booked_at:time|null")
MERCHANT = of("legal_name|null country|null registration_number|null tax_id|null website|null name support_email|null")
EVENT = of("id event_type from_status|null to_status|null payload:map created_at:time")
TIMELINE = of("type from|null to|null at:time payload:map")
AUTO_SWAP = schema_of(AutoSwapDocument)
DETAIL = plus(
    CREATED,
    "checkout_url display_image_url|null amount_paid:decimal paid_at:time|null needs_attention|null",
    financials=null(FINANCIALS),
    transaction=null(TRANSACTION),
    overpayment=null(OVERPAYMENT),
    fee=null(FEE),
    merchant=null(MERCHANT),
    onramp_session=null(schema_of(PaymentSession)),
    onramp_unavailable=null(schema_of(UnavailableDocument)),
    auto_swap_detail=null(AUTO_SWAP),
    late_deposits=many(plus(TRANSACTION, "id:uuid accepted_at:time|null")),
    payment_events=many(EVENT),
    timeline=many(TIMELINE),
)
SIMULATED = plus(DETAIL, "payment_status", simulated_payment=of("reference amount_atomic:digits confirmations:int status"))
RECONCILIATION = of(
    "payment_intent_id:uuid reference status balanced:bool expected_amount:decimal|null received_amount:decimal|null "
    "swap_delta:decimal|null "
    "currency expected_amount_atomic:digits received_amount_atomic:digits swap_delta_atomic:digits last_checked_at:time|null",
    assets=many(of(f"{_SHARES} required_atomic:digits confirmed_atomic:digits unconfirmed_atomic:digits tx_hashes:texts")),
)
SUMMARY = of(
    "livemode:bool currencies:texts",
    range=of("from:date to:date granularity"),
    totals=of(
        "order_count:int order_count_by_currency:map volume_cents:map avg_order_value_cents:map status_counts:map success_rate:num "
        "success_rate_by_currency:map"
    ),
    timeseries=many(of("date:date order_count:int order_count_by_currency:map volume_cents:map")),
)
REFUND = of(
    "id:uuid payment_intent_id:uuid status reason destination_address amount_atomic:digits amount:decimal tx_hash|null attempts:int "
    "failure_reason|null asset_id coin_symbol chain_symbol atomic_decimals:int created_at:time updated_at:time refund_in_progress?:bool"
)
CHECKOUT = of(
    "token payment_intent_id:uuid store_id:uuid store_name status state_reason|null terminal:bool settlement_amount_cents:int "
    "settlement_currency title|null description|null expires_at:time expired:bool seconds_left:int success_url|null failed_url|null "
    "customer_pays_fee:bool fee_percentage:decimal|null support_email|null livemode:bool",
    payment_addresses=many(
        of(
            "id:uuid address crypto_amount_atomic:digits crypto_amount:decimal outstanding_atomic:digits received_atomic:digits "
            "confirmed_atomic:digits required_confirmations:int status payment_uri base_crypto_atomic?:digits "
            "fee_crypto_atomic?:digits",
            asset=of("asset_id coin_symbol chain_symbol chain_name chain_id:int atomic_decimals:int display_decimals:int token_standard"),
        )
    ),
    order_summary=null(of("image_url|null total_cents:int currency", line_items=null(many(LINE_ITEM)))),
    transactions=many(
        of(
            "tx_hash status confirmations:int required_confirmations:int amount_atomic:digits coin_symbol chain_symbol "
            "atomic_decimals:int "
            "explorer_url|null"
        )
    ),
    branding=null(of("logo_url|null brand_name|null primary_color|null secondary_color|null remove_service_branding:bool")),
    onramp=of("available:bool providers:any"),
)

ANSWERS: dict[str, Schema] = {
    "GET payments/summary": SUMMARY,
    "GET payments/<str:id>": DETAIL,
    "GET payments/<str:id>/events": many(EVENT),
    "POST payments/<str:id>/simulated_payments": SIMULATED,
    "POST payments/<str:id>/test_payments": of("amount_atomic:digits required_atomic:digits remaining_daily_atomic:digits"),
    "GET payments/<str:id>/refunds": many(REFUND),
    "POST payments/<str:id>/refunds": many(REFUND),
    "GET payment_intents/<str:id>/reconciliation": RECONCILIATION,
    "GET payment_currencies": many(of("code label symbol decimals:int")),
    "GET supported_assets": many(SUPPORTED_ASSET),
    "GET checkout/<str:reference>": CHECKOUT,
}
