"""THE table of filters: what each list and figure may be asked for in its address."""

from apps.billing.models import Invoice, Subscription
from apps.core.literal import Schema
from apps.payments.models import Payment
from apps.payouts.models import Payout
from apps.swaps.models import Swap
from apps.webhooks.models import Endpoint

TEXT: Schema = {"type": "string"}
DAY: Schema = {"type": "string", "format": "date"}
ID: Schema = {"type": "string", "format": "uuid"}
Filters = dict[str, Schema]


def _one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


def _paged(per_page: int, **filters: Schema) -> Filters:
    """Filters of a list, with the page and how much stands on one."""
    page: Schema = {"type": "integer", "minimum": 1, "default": 1}
    size: Schema = {"type": "integer", "minimum": 1, "maximum": 100, "default": per_page}
    return {**filters, "page": page, "per_page": size}


_PAYMENT_STATUS = _one_of(*Payment.Status.values)
_PLACE: Filters = {
    "country": {"type": "string", "description": "Two letters; the header of the edge network comes first"},
    "region": TEXT,
}

QUERIES: dict[str, Filters] = {
    "payments": _paged(
        10,
        status=_PAYMENT_STATUS,
        reference={"type": "string", "description": "A part of it, in either case"},
        q={"type": "string", "description": "Another name of `reference`"},
        order_id=TEXT,
        **{"from": DAY, "to": DAY},
    ),
    "payments/summary": {"from": DAY, "to": DAY},
    "balance_swaps": _paged(25, status=_one_of(*Swap.Status.values)),
    "payouts": _paged(
        25, status=_one_of(*Payout.Status.values), payout_rail=_one_of(*Payout.Rail.values), payout_schedule_id=ID, asset_id=TEXT
    ),
    "webhook_endpoints": {"status": _one_of(*Endpoint.Status.values)},
    "checkout/<str:reference>/onramp/payment_methods": {**_PLACE, "provider": TEXT},
    "billing/products": {"active": _one_of("true")},
    "billing/customers": _paged(25, q={"type": "string", "description": "A part of the name or email address"}),
    "billing/subscriptions": {"status": _one_of(*Subscription.Status.values), "customer_id": ID},
    "billing/invoices": _paged(25, status=_one_of(*Invoice.Status.values), customer_id=ID, subscription_id=ID),
    "platform/accounts": {"external_id": TEXT},
    "platform/overview": {"from": DAY, "to": DAY},
    "platform/payments": _paged(25, account_id=ID, status=_PAYMENT_STATUS),
    "agentic/payments": _paged(10, reference=TEXT),
    "agentic/payouts": _paged(25),
    "agentic/balances": {"asset_id": {"type": "string", "description": "404 when unknown"}},
    "agentic/payout_limits": {"asset_id": {"type": "string", "description": "404 when unknown"}},
    "agentic/exchange_rates": {"currency": TEXT, "asset_id": TEXT},
    "agentic/x402/settlements": _paged(25),
    "agentic/market_data": {
        "symbol_or_id": {"type": "string", "description": "ETH, or a public price id such as ethereum", "required": True},
        "currency": {"type": "string", "default": "usd"},
        "vs_currency": {"type": "string", "description": "Another name of `currency`"},
    },
}
