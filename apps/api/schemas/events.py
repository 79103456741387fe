"""The webhooks of the API description: the envelope of each event and the object in it."""

import json
from typing import Any

from django.conf import settings
from msgspec import to_builtins

from apps.api.plumbing import description
from apps.api.plumbing.shapes import plus
from apps.api.schemas import access, billing, money, payments, platforms
from apps.billing.documents.invoices import InvoiceDocument
from apps.billing.documents.subscriptions import SubscriptionDocument
from apps.core.documents import FreeForm, schema_of
from apps.core.literal import Schema
from apps.payments.documents.events import IntentEvent
from apps.platforms.documents import DeletedEvent, VerificationEvent
from apps.webhooks.catalogue import PLATFORM_ONLY, SUBSCRIBABLE, family_of
from apps.webhooks.documents import EventData, EventDocument, PayoutEvent, SweepEvent
from apps.webhooks.samples import sample

_OBJECTS: dict[str, Schema] = {
    "payment_intent": schema_of(IntentEvent),
    "transaction": plus(schema_of(IntentEvent), transaction=payments.TRANSACTION),
    "invoice": schema_of(InvoiceDocument),
    "subscription": schema_of(SubscriptionDocument),
    "store.verification": schema_of(VerificationEvent),
    "store": schema_of(DeletedEvent),
    "payout": schema_of(PayoutEvent),
    "fee_sweep": schema_of(SweepEvent),
}
# What a schema is called where its constant says it only beside its neighbors: generated clients have a class of each name.
_CLASSES = {
    "ROW": "PaymentListed", "CREATED": "PaymentCreated", "DETAIL": "Payment", "SIMULATED": "PaymentSimulated", "ADDRESS": "PaymentAddress",
    "SESSION": "CardSession", "EVENT": "PaymentEvent", "TIMELINE": "TimelineEntry", "SUMMARY": "PaymentSummary", "METHODS": "CardMethods",
    "FEE": "PaymentFee", "ENDPOINT": "WebhookEndpoint", "WITH_SECRET": "WebhookEndpointWithSecret", "DELIVERY": "WebhookDelivery",
    "KEY": "ApiKey", "APP": "OAuthApp", "APP_WITH_SECRET": "OAuthAppWithSecret", "TOKENS": "OAuthTokens", "_LINE": "InvoiceLine",
    "HOSTED": "HostedInvoice", "_PARTY": "CustomerSummary", "_PRICED": "PriceWithProduct", "_WITH_PRICES": "ProductWithPrices",
    "SCHEDULE": "PayoutSchedule", "CLOCK": "TestClock", "REQUEST": "PlatformAccessRequest", "LINK": "OnboardingLink",
    "OVERVIEW": "PlatformOverview", "CONTEXT": "AgentContext", "_TOKEN": "AgentToken", "FLAT": "ErrorText", "STRUCTURED": "Error",
    "ARRAY": "ErrorTexts", "BLOCKED": "ErrorWithBlockers", "EITHER": "AnyError", "ANY": "AnyErrors", "RFC6749": "OAuthError",
}  # fmt: skip
_WORDS = (
    "Answer any 2xx. The header Service-Signature is t=<unix seconds>,v1=<hex of the HMAC-SHA256 over t.body with the endpoint's secret>."
)


def envelope(event_type: str) -> Schema:
    """The body of a delivery."""
    schema = schema_of(EventDocument[FreeForm])
    data = schema["properties"]["data"]
    told = {**data, "properties": {"object": _OBJECTS[family_of(event_type)]}}
    return {**schema, "properties": {**schema["properties"], "type": {"const": event_type}, "data": told}}


def add_webhooks(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """drf-spectacular's hook on the finished document: the events, and every known schema told once, by name.

    It leaves out the security of what is public, which would then be that of the whole document.
    """
    for methods in result["paths"].values():
        for operation in methods.values():
            operation.setdefault("security", [])
    result["webhooks"] = {event: {"post": operation_of(event)} for event in (*SUBSCRIBABLE, *PLATFORM_ONLY)}
    named = {json.dumps(schema, sort_keys=True): name for name, schema in _named().items()}
    for part in ("paths", "webhooks"):
        result[part] = _by_name(result[part], named)
    schemas = {name: {key: _by_name(value, named) for key, value in schema.items()} for name, schema in _named().items()}
    result["components"]["schemas"] = {**result["components"].get("schemas", {}), **schemas}
    return result


def _named() -> dict[str, Schema]:
    """The constants of the tables of answers, and the shapes of refusals."""
    modules = (payments, money, access, billing, platforms, description)
    constants = {name: value for module in modules for name, value in vars(module).items() if name.isupper() and isinstance(value, dict)}
    objects = {name: value for name, value in constants.items() if "properties" in value or "anyOf" in value}
    return {_CLASSES.get(name, name.strip("_").title().replace("_", "")): value for name, value in objects.items()}


def _by_name(value: Any, named: dict[str, str]) -> Any:
    """The same with references to what has a name."""
    if isinstance(value, list):
        return [_by_name(one, named) for one in value]
    if not isinstance(value, dict):
        return value
    found = named.get(json.dumps(value, sort_keys=True, default=str)) if "properties" in value or "anyOf" in value else None
    return {"$ref": f"#/components/schemas/{found}"} if found else {key: _by_name(one, named) for key, one in value.items()}


def operation_of(event: str) -> Schema:
    example = EventDocument(
        id="00000000-0000-4000-8000-000000000002",
        type=event,
        created=1767268800,
        livemode=False,
        api_version=settings.API_VERSION,
        data=EventData(object=sample(event)),
    )
    content = {"application/json": {"schema": envelope(event), "example": to_builtins(example)}}
    return {
        "operationId": f"on_{event.replace('.', '_')}",
        "tags": ["webhooks"],
        "summary": f"We tell you of `{event}`",
        "description": _WORDS,
        "requestBody": {"required": True, "content": content},
        "security": [],
        "responses": {"2XX": {"description": "Taken"}},
    }
