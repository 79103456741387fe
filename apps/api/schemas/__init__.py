"""THE table of answers: what a success of each method of each path looks like, for the API description."""

from apps.api.schemas import access, billing, money, payments, platforms, x402
from apps.core.literal import Schema

ANSWERS: dict[str, Schema] = {**payments.ANSWERS, **money.ANSWERS, **access.ANSWERS, **billing.ANSWERS, **platforms.ANSWERS, **x402.ANSWERS}
# Another success than the usual one: what was there already, or what isn't ready yet.
ALSO: dict[str, tuple[int, ...]] = {
    "POST test_clock/advance": (202,),
    "POST webhook_endpoints": (200,),
    "POST platform/accounts": (200,),
    "POST billing/invoice/<str:token>/payment_intent": (200,),
    "GET reports/accounting_transactions": (202,),
    "GET reports/merchant_statement": (202,),
}
# Refusals that only this one has.
FURTHER: dict[str, dict[int, str]] = {
    "GET platform/onboarding_links/<str:token>": {410: "The link has expired"},
    "POST onramp_callbacks/<str:id>": {401: "It isn't signed by the network"},
    "POST offramp_callbacks": {401: "It isn't signed by the off-ramp"},
}
# Refused with a list of what stands in the way.
BLOCKS = ("DELETE platform/accounts/<str:id>",)
PDFS = ("GET payments/<str:id>/invoice",)
EMPTY = ("POST oauth/revoke",)
# Actions that are asked for by their path alone.
BODILESS = (
    "POST agentic/payments/<str:id>/cancel",
    "POST billing/invoice/<str:token>/payment_intent",
    "POST billing/invoices/<str:id>/finalize",
    "POST billing/invoices/<str:id>/mark_uncollectible",
    "POST billing/invoices/<str:id>/send",
    "POST billing/invoices/<str:id>/void",
    "POST billing/products/<str:product_id>/prices/<str:id>/activate",
    "POST billing/products/<str:product_id>/prices/<str:id>/archive",
    "POST billing/subscriptions/<str:id>/pause",
    "POST billing/subscriptions/<str:id>/resume",
    "POST billing/subscriptions/<str:id>/uncancel",
    "POST merchants/oauth_apps/<str:id>/rotate_secret",
    "POST payout_schedules/<str:id>/run",
    "POST payouts/<str:id>/retry",
    "POST platform/accounts/<str:id>/restore",
    "PATCH webhook_endpoints/<str:id>/enable",
    "PATCH webhook_endpoints/<str:id>/disable",
    "POST webhook_endpoints/<str:id>/rotate_secret",
)
# Broken rules in more than one shape.
MIXED = ("PATCH platform/accounts/<str:id>",)
