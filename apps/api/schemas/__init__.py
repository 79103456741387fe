"""THE table of answers: what a success of each method of each path looks like, for the API description."""

from apps.api.schemas import access, billing, money, payments, platforms
from apps.core.literal import Schema

ANSWERS: dict[str, Schema] = {**payments.ANSWERS, **money.ANSWERS, **access.ANSWERS, **billing.ANSWERS, **platforms.ANSWERS}
# Another success than the usual one: what was there already, or what isn't ready yet.
ALSO: dict[str, tuple[int, ...]] = {
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
PDFS = ("GET payments/<str:id>/invoice",)
# Broken rules in more than one shape.
MIXED = ("PATCH platform/accounts/<str:id>",)
