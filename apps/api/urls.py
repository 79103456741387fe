"""THE route table: path, view, scope per method, budget, key rule. A path that isn't here is a JSON
404."""

from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt

from apps.access.operations import MayNotIssueCredentials
from apps.api import (
    balances,
    catalogues,
    checkout,
    events,
    invoices,
    keys,
    oauth,
    oauth_apps,
    onramp,
    payment_actions,
    payment_links,
    payments,
    payout_schedules,
    payouts,
    refunds,
    reports,
    request_log,
    swaps,
    test_clock,
    webhook_endpoints,
    x402,
)
from apps.api.agentic import urls as agentic
from apps.api.billing import urls as billing
from apps.api.description import openapi
from apps.api.platforms import urls as platforms
from apps.api.plumbing.errors import not_found
from apps.api.plumbing.routes import (
    ADDRESS,
    ONRAMP_METHODS,
    ONRAMP_SESSIONS,
    PAYMENT_CREATE,
    PAYOUTS,
    PDF,
    PUBLIC,
    PUBLIC_LINK,
    REFUNDS,
    SWAPS,
    TEST_CLOCK,
    Budget,
    Route,
)

READ = "payments:read"
WRITE = "payments:write"
PAYOUTS_READ = "payouts:read"
PAYOUTS_WRITE = "payouts:write"
HOOKS_READ = "webhooks:read"
HOOKS_WRITE = "webhooks:write"
POST = frozenset({"POST"})
# A platform that acts for its sub-merchant never issues, rotates or revokes what opens the
# sub-merchant's store.
CREDENTIALS = dict.fromkeys(("POST", "PATCH", "DELETE"), MayNotIssueCredentials)
AUTHORIZE = (Budget("oauth_authorize", (ADDRESS,)),)
TOKEN = (Budget("oauth_token", (ADDRESS,)),)

# Their views ask for what each of them takes (a session, a client's secret, a token) and refuse in
# the shape of RFC 6749.
OAUTH_ROUTES = [
    Route(
        "oauth/authorize",
        oauth.Authorize,
        {"GET": PUBLIC, "POST": PUBLIC},
        budget={"GET": AUTHORIZE, "POST": AUTHORIZE},
    ),
    Route("oauth/token", oauth.Token, {"POST": PUBLIC}, budget={"POST": TOKEN}),
    Route("oauth/revoke", oauth.Revoke, {"POST": PUBLIC}, budget={"POST": TOKEN}),
    Route(
        "oauth/userinfo",
        oauth.CurrentUser,
        {"GET": PUBLIC},
        budget={"GET": (Budget("reads", (ADDRESS,)),)},
    ),
    Route(
        "oauth/agent_credentials",
        oauth.AgentCredentials,
        {"POST": PUBLIC},
        closed_to_platforms=CREDENTIALS,
    ),
]

ROUTES = [
    Route(
        "payments",
        payments.Payments,
        {"GET": READ, "POST": WRITE},
        budget={"POST": PAYMENT_CREATE},
        publishable=POST,
        keys={"POST": "optional"},
        cors=POST,
    ),
    Route("payments/summary", payments.Summary, {"GET": READ}),
    Route("payments/<str:id>", payments.PaymentById, {"GET": READ}),
    Route(
        "payments/<str:id>/accept_shortfall",
        payment_actions.AcceptShortfall,
        {"POST": "refunds:write"},
    ),
    Route(
        "payments/<str:id>/accept_transaction",
        payment_actions.AcceptTransaction,
        {"POST": "refunds:write"},
    ),
    Route("payments/<str:id>/cancel", payment_actions.Cancellation, {"POST": WRITE}),
    Route("payments/<str:id>/extend", payment_actions.Extension, {"POST": WRITE}),
    Route("payments/<str:id>/events", payments.PaymentEvents, {"GET": READ}),
    Route("payments/<str:id>/invoice", invoices.PaymentInvoice, {"GET": READ}, budget={"GET": PDF}),
    Route("payments/<str:id>/test_payments", payments.TestPayments, {"POST": WRITE}),
    Route("payments/<str:id>/simulated_payments", payments.SimulatedPayments, {"POST": WRITE}),
    Route(
        "payments/<str:id>/refunds",
        refunds.Refunds,
        {"GET": "refunds:read", "POST": "refunds:write"},
        budget={"POST": REFUNDS},
        keys={"POST": "required"},
    ),
    Route("payment_intents/<str:id>/reconciliation", payments.Reconciliation, {"GET": READ}),
    Route(
        "payment_links",
        payment_links.PaymentLinks,
        {"GET": READ, "POST": WRITE},
        keys={"POST": "optional"},
    ),
    Route("payment_links/<str:id>", payment_links.PaymentLinkById, {"GET": READ, "PATCH": WRITE}),
    Route("payment_links/<str:id>/pause", payment_links.PausePaymentLink, {"POST": WRITE}),
    Route("payment_links/<str:id>/resume", payment_links.ResumePaymentLink, {"POST": WRITE}),
    Route("payment_links/<str:id>/archive", payment_links.ArchivePaymentLink, {"POST": WRITE}),
    Route("payment_links/<str:id>/button", payment_links.PaymentLinkButton, {"GET": READ}),
    Route("payment_currencies", catalogues.PaymentCurrencies, {"GET": None}),
    Route("supported_assets", catalogues.SupportedAssets, {"GET": None}),
    Route(
        "balance_swaps",
        swaps.Swaps,
        {"GET": None, "POST": None},
        budget={"POST": SWAPS},
        keys={"POST": "required"},
    ),
    Route("balance_swaps/quote", swaps.SwapQuote, {"POST": None}, budget={"POST": SWAPS}),
    Route("balance_swaps/<str:id>", swaps.SwapById, {"GET": None}),
    Route(
        "payouts",
        payouts.Payouts,
        {"GET": PAYOUTS_READ, "POST": PAYOUTS_WRITE},
        budget={"POST": PAYOUTS},
        keys={"POST": "required"},
    ),
    Route("payouts/quote", payouts.PayoutQuote, {"POST": PAYOUTS_WRITE}),
    Route("payouts/<str:id>", payouts.PayoutById, {"GET": PAYOUTS_READ}),
    Route(
        "payouts/<str:id>/retry",
        payouts.RetryPayout,
        {"POST": PAYOUTS_WRITE},
        budget={"POST": PAYOUTS},
    ),
    Route(
        "payout_schedules",
        payout_schedules.PayoutSchedules,
        {"GET": PAYOUTS_READ, "POST": PAYOUTS_WRITE},
    ),
    Route(
        "payout_schedules/<str:id>",
        payout_schedules.PayoutScheduleById,
        {"GET": PAYOUTS_READ, "PATCH": PAYOUTS_WRITE, "DELETE": PAYOUTS_WRITE},
    ),
    Route(
        "payout_schedules/<str:id>/run",
        payout_schedules.RunPayoutSchedule,
        {"POST": PAYOUTS_WRITE},
        budget={"POST": PAYOUTS},
    ),
    Route("offramp_callbacks", payouts.OfframpCallbacks, {"POST": PUBLIC}),
    Route("balances", balances.Balances, {"GET": "balances:read"}),
    Route(
        "checkout/<str:reference>",
        checkout.Checkout,
        {"GET": PUBLIC},
        budget={"GET": PUBLIC_LINK},
        cors=frozenset({"GET"}),
    ),
    Route(
        "checkout/<str:reference>/onramp/payment_methods",
        onramp.PaymentMethods,
        {"GET": PUBLIC},
        budget={"GET": ONRAMP_METHODS},
        cors=frozenset({"GET"}),
    ),
    Route(
        "checkout/<str:reference>/onramp_sessions",
        onramp.OnrampSessions,
        {"POST": PUBLIC},
        budget={"POST": ONRAMP_SESSIONS},
        cors=POST,
    ),
    Route("onramp_callbacks/<str:id>", onramp.OnrampCallback, {"POST": PUBLIC}),
    Route("reports", reports.Reports, {"GET": "balances:read"}),
    Route(
        "reports/accounting_transactions", reports.AccountingTransactions, {"GET": "balances:read"}
    ),
    Route("reports/merchant_statement", reports.MerchantStatement, {"GET": "balances:read"}),
    Route("reports/tax_report", reports.TaxReport, {"GET": "balances:read"}),
    Route(
        "x402/requirements",
        x402.Requirements,
        {"POST": WRITE},
        budget={"POST": (Budget("x402_offers"),)},
        keys={"POST": "optional"},
    ),
    Route("x402/offers", x402.Offers, {"POST": WRITE}, budget={"POST": (Budget("x402_offers"),)}),
    Route("x402/supported", x402.Supported, {"GET": WRITE}),
    Route("x402/verify", x402.Verify, {"POST": WRITE}, budget={"POST": (Budget("x402"),)}),
    Route("x402/settle", x402.Settle, {"POST": WRITE}, budget={"POST": (Budget("x402"),)}),
    Route("test_clock", test_clock.TestClock, {"GET": WRITE}),
    Route("test_clock/advance", test_clock.Advance, {"POST": WRITE}, budget={"POST": TEST_CLOCK}),
    Route(
        "webhook_endpoints", webhook_endpoints.Endpoints, {"GET": HOOKS_READ, "POST": HOOKS_WRITE}
    ),
    Route(
        "webhook_endpoints/<str:id>",
        webhook_endpoints.EndpointById,
        {"GET": HOOKS_READ, "PATCH": HOOKS_WRITE, "DELETE": HOOKS_WRITE},
    ),
    Route("webhook_endpoints/<str:id>/enable", webhook_endpoints.Enable, {"PATCH": HOOKS_WRITE}),
    Route("webhook_endpoints/<str:id>/disable", webhook_endpoints.Disable, {"PATCH": HOOKS_WRITE}),
    Route(
        "webhook_endpoints/<str:id>/rotate_secret",
        webhook_endpoints.RotateSecret,
        {"POST": HOOKS_WRITE},
    ),
    Route(
        "webhook_endpoints/<str:id>/send_test", webhook_endpoints.SendTest, {"POST": HOOKS_WRITE}
    ),
    Route(
        "webhook_endpoints/<str:id>/redeliver", webhook_endpoints.Redeliver, {"POST": HOOKS_WRITE}
    ),
    Route(
        "webhook_endpoints/<str:id>/resend_missed",
        webhook_endpoints.ResendMissed,
        {"POST": HOOKS_WRITE},
    ),
    Route("events", events.Events, {"GET": HOOKS_READ}),
    Route("request_log", request_log.RequestLog, {"GET": "stores:read"}),
    Route("api_keys", keys.Keys, {"GET": None, "POST": None}, closed_to_platforms=CREDENTIALS),
    Route("api_keys/<str:id>", keys.KeyById, {"DELETE": None}, closed_to_platforms=CREDENTIALS),
    Route(
        "merchants/oauth_apps",
        oauth_apps.OAuthApps,
        {"GET": None, "POST": None},
        closed_to_platforms=CREDENTIALS,
    ),
    Route(
        "merchants/oauth_apps/<str:id>",
        oauth_apps.OAuthAppById,
        {"GET": None, "PATCH": None, "DELETE": None},
        closed_to_platforms=CREDENTIALS,
    ),
    Route(
        "merchants/oauth_apps/<str:id>/rotate_secret",
        oauth_apps.RotateAppSecret,
        {"POST": None},
        closed_to_platforms=CREDENTIALS,
    ),
    *platforms.ROUTES,
    *OAUTH_ROUTES,
    *billing.ROUTES,
    *agentic.ROUTES,
]


def _pattern(route: Route) -> URLPattern:
    pattern: URLPattern = path(
        route.path, route.view.as_view(route=route), name=f"api:{route.path}"
    )
    return pattern


_description = path("openapi.json", openapi, name="openapi")
_missing = csrf_exempt(lambda request, rest="": not_found(request))
urlpatterns = [
    _description,
    *(_pattern(route) for route in ROUTES),
    path("<path:rest>", _missing),
    path("", _missing),
]
