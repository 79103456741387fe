"""The agent API's lines of the route table: one shared budget per credential, and market data for
anybody."""

from apps.api.agentic import account, assets, mandates, payments, payouts
from apps.api.plumbing.routes import AGENTIC, MARKET_DATA, PUBLIC, Route

PAY_READ = "payments:read"
PAY_WRITE = "payments:write"
OUT_READ = "payouts:read"
OUT_WRITE = "payouts:write"
ASSETS_READ = "assets:read"
ASSETS_WRITE = "assets:write"
X402_READ = "x402:read"
X402_WRITE = "x402:write"


def _line(
    path: str, view: type, scopes: dict[str, str | None], keys: dict[str, str] | None = None
) -> Route:
    return Route(
        f"agentic/{path}", view, scopes, budget=dict.fromkeys(scopes, AGENTIC), keys=keys or {}
    )


ROUTES = [
    _line("account", account.AgentAccount, {"GET": None}),
    _line(
        "payments",
        payments.AgentPayments,
        {"GET": PAY_READ, "POST": PAY_WRITE},
        {"POST": "optional"},
    ),
    _line("payments/<str:id>", payments.AgentPaymentById, {"GET": PAY_READ}),
    _line("payments/<str:id>/cancel", payments.AgentPaymentCancel, {"POST": PAY_WRITE}),
    _line(
        "payments/<str:id>/refunds",
        payments.AgentRefunds,
        {"GET": PAY_READ, "POST": PAY_WRITE},
        {"POST": "required"},
    ),
    _line(
        "payouts", payouts.AgentPayouts, {"GET": OUT_READ, "POST": OUT_WRITE}, {"POST": "required"}
    ),
    _line("payouts/<str:id>", payouts.AgentPayoutById, {"GET": OUT_READ}),
    _line("payout_limits", payouts.PayoutLimits, {"GET": ASSETS_READ}),
    _line("balances", assets.AgentBalances, {"GET": ASSETS_READ}),
    _line("exchange_rates", assets.ExchangeRates, {"GET": ASSETS_READ}),
    _line("tokens", assets.Tokens, {"GET": ASSETS_READ}),
    _line("tokens/<str:id>", assets.TokenById, {"PATCH": ASSETS_WRITE}),
    _line("mandates", mandates.Mandates, {"GET": X402_READ, "POST": X402_WRITE}),
    _line("mandates/<str:id>", mandates.MandateById, {"GET": X402_READ}),
    _line(
        "x402/settlements",
        mandates.Settlements,
        {"GET": X402_READ, "POST": X402_WRITE},
        {"POST": "required"},
    ),
    _line("x402/settlements/<str:id>", mandates.SettlementById, {"GET": X402_READ}),
    Route("agentic/market_data", assets.MarketData, {"GET": PUBLIC}, budget={"GET": MARKET_DATA}),
]
