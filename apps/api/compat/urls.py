"""The routes of other people's APIs: path, view, scope, budget and key rule, as in the table of our
own. ASP.NET takes a slash at the end of a path or none, and so do these."""

from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt

from apps.api.compat import invoices, server, webhooks
from apps.api.compat.bitpay import invoices as bitpay_invoices
from apps.api.compat.bitpay import refunds as bitpay_refunds
from apps.api.compat.bitpay import tokens as bitpay_tokens
from apps.api.plumbing.errors import not_found
from apps.api.plumbing.routes import PAYMENT_CREATE, PUBLIC, REFUNDS, Route

READ = "payments:read"
WRITE = "payments:write"
HOOKS = "webhooks:write"
REFUND = "refunds:write"
BTCPAY = "compat/btcpay/api/v1"
BITPAY = "compat/bitpay"
_STORE = f"{BTCPAY}/stores/<str:store_id>"
_INVOICE = f"{_STORE}/invoices/<str:invoice_id>"
_WEBHOOK = f"{_STORE}/webhooks/<str:webhook_id>"
_DELIVERY = f"{_WEBHOOK}/deliveries/<str:delivery_id>"

ROUTES = [
    Route(f"{BTCPAY}/health", server.Health, {"GET": None}),
    Route(f"{BTCPAY}/server/info", server.ServerInfo, {"GET": None}),
    Route(f"{BTCPAY}/api-keys/current", server.CurrentKey, {"GET": None}),
    Route(f"{BTCPAY}/stores", server.Stores, {"GET": READ}),
    Route(_STORE, server.StoreById, {"GET": READ}),
    Route(f"{_STORE}/payment-methods", server.StorePaymentMethods, {"GET": READ}),
    Route(
        f"{_STORE}/invoices",
        invoices.Invoices,
        {"GET": READ, "POST": WRITE},
        budget={"POST": PAYMENT_CREATE},
        keys={"POST": "optional"},
    ),
    Route(_INVOICE, invoices.InvoiceById, {"GET": READ}),
    Route(f"{_INVOICE}/payment-methods", invoices.InvoicePaymentMethods, {"GET": READ}),
    Route(f"{_INVOICE}/status", invoices.InvoiceStatus, {"POST": WRITE}),
    Route(
        f"{_INVOICE}/refund",
        invoices.InvoiceRefund,
        {"POST": REFUND},
        budget={"POST": REFUNDS},
        keys={"POST": "optional"},
    ),
    Route(f"{_STORE}/webhooks", webhooks.Webhooks, {"GET": HOOKS, "POST": HOOKS}),
    Route(_WEBHOOK, webhooks.WebhookById, {"GET": HOOKS, "PUT": HOOKS, "DELETE": HOOKS}),
    Route(f"{_WEBHOOK}/deliveries", webhooks.WebhookDeliveries, {"GET": HOOKS}),
    Route(_DELIVERY, webhooks.WebhookDelivery, {"GET": HOOKS}),
    Route(f"{_DELIVERY}/request", webhooks.WebhookDeliveryRequest, {"GET": HOOKS}),
    Route(f"{_DELIVERY}/redeliver", webhooks.WebhookRedelivery, {"POST": HOOKS}),
    Route(f"{BITPAY}/tokens", bitpay_tokens.Tokens, {"POST": PUBLIC}),
    Route(
        f"{BITPAY}/invoices",
        bitpay_invoices.Invoices,
        {"GET": READ, "POST": WRITE},
        budget={"POST": PAYMENT_CREATE},
    ),
    Route(
        f"{BITPAY}/invoices/guid/<str:guid>",
        bitpay_invoices.InvoiceByGuid,
        {"GET": READ, "DELETE": WRITE},
    ),
    Route(
        f"{BITPAY}/invoices/<str:invoice_id>",
        bitpay_invoices.InvoiceById,
        {"GET": READ, "DELETE": WRITE},
    ),
    Route(
        f"{BITPAY}/invoices/<str:invoice_id>/refunds",
        bitpay_refunds.InvoiceRefunds,
        {"POST": REFUND},
        budget={"POST": REFUNDS},
    ),
    Route(
        f"{BITPAY}/refunds",
        bitpay_refunds.Refunds,
        {"GET": READ, "POST": REFUND},
        budget={"POST": REFUNDS},
    ),
    Route(f"{BITPAY}/refunds/<str:refund_id>", bitpay_refunds.RefundById, {"GET": READ}),
]


def _patterns(route: Route) -> list[URLPattern]:
    view = route.view.as_view(route=route)
    return [
        path(route.path, view, name=f"compat:{route.path}"),
        path(f"{route.path}/", view),
    ]


_missing = csrf_exempt(lambda request, rest="": not_found(request))
urlpatterns = [
    *(pattern for route in ROUTES for pattern in _patterns(route)),
    path(f"{BITPAY}/api-access-request", bitpay_tokens.api_access_request),
    path("compat/<path:rest>", _missing),
]
