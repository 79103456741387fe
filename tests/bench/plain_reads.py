"""Reads as they are usually written (a model serializer, the ORM and a key looked up by it), and as
bare as they can be (one statement)."""

from typing import Any

from django.db import connection
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access import credentials
from apps.access.models import ApiKey
from apps.ledger.models import Entry
from apps.payments.models import Payment, PaymentAddress, PaymentEvent


class AddressRow(serializers.ModelSerializer[PaymentAddress]):
    class Meta:
        model = PaymentAddress
        fields = (
            "id",
            "address_id",
            "asset_id",
            "required_atomic",
            "exchange_rate",
            "required_confirmations",
            "created_at",
        )


class EventRow(serializers.ModelSerializer[PaymentEvent]):
    class Meta:
        model = PaymentEvent
        fields = ("id", "event_type", "from_status", "to_status", "payload", "created_at")


class PaymentIntentRow(serializers.ModelSerializer[Payment]):
    class Meta:
        model = Payment
        fields = (
            "id",
            "reference",
            "status",
            "state_reason",
            "settlement_amount_cents",
            "settlement_currency",
            "settlement_status",
            "auto_swap_status",
            "refund_state",
            "customer_pays_fee",
            "fee_fraction",
            "platform_fee_fraction",
            "order_id",
            "title",
            "description",
            "image_url",
            "success_url",
            "failed_url",
            "metadata",
            "line_items",
            "mode",
            "expires_at",
            "created_at",
            "updated_at",
        )


class WholePayment(PaymentIntentRow):
    addresses = AddressRow(many=True)
    events = EventRow(many=True)

    class Meta(PaymentIntentRow.Meta):
        fields = (*PaymentIntentRow.Meta.fields, "addresses", "events")  # type: ignore[assignment]  # a longer tuple


class PlainView(APIView):
    authentication_classes: list[Any] = []

    @staticmethod
    def key(request: Any) -> ApiKey:
        digest = credentials.digest(request.headers["Authorization"].split()[1])
        found: ApiKey = ApiKey.objects.select_related("store").get(
            secret_hash=digest, revoked_at=None
        )
        return found

    def payments(self, request: Any) -> Any:
        key = self.key(request)
        return (
            Payment.objects.filter(store=key.store, mode=key.mode)
            .select_related("store")
            .order_by("-created_at", "-id")
        )


class OnePayment(PlainView):
    def get(self, request: Any, id: object) -> Response:
        rows = self.payments(request).prefetch_related("addresses__asset__chain", "events")
        return Response(WholePayment(rows.get(pk=id)).data)


class Payments(PlainView):
    def get(self, request: Any) -> Response:
        rows = self.payments(request)
        return Response(
            {"data": PaymentIntentRow(rows[:10], many=True).data, "meta": {"total": rows.count()}}
        )


class Balances(PlainView):
    def get(self, request: Any) -> Response:
        key = self.key(request)
        rows = Entry.objects.filter(account__store=key.store, account__mode=key.mode).values(
            "asset_id", "account__kind"
        )
        return Response(
            {
                "balances": [
                    {**row, "total": str(row["total"])}
                    for row in rows.annotate(total=Sum("amount_atomic"))
                ]
            }
        )


_KEY = """
SELECT k.store_id, k.mode FROM access_apikey k JOIN stores_store s ON s.id = k.store_id
    WHERE k.secret_hash = %s AND k.revoked_at IS NULL
"""
_PAYMENT = f"""
SELECT to_jsonb(p) || jsonb_build_object(
    'addresses', (SELECT jsonb_agg(to_jsonb(a)) FROM payments_paymentaddress a
        WHERE a.payment_id = p.id),
    'events', (SELECT jsonb_agg(to_jsonb(e)) FROM payments_paymentevent e
        WHERE e.payment_id = p.id))::text
FROM payments_payment p JOIN ({_KEY}) k ON k.store_id = p.store_id AND k.mode = p.mode
    WHERE p.id = %s
"""
_PAYMENTS = f"""
SELECT (SELECT jsonb_agg(to_jsonb(p)) FROM (
    SELECT p.* FROM payments_payment p WHERE p.store_id = k.store_id AND p.mode = k.mode
        ORDER BY p.created_at DESC, p.id DESC LIMIT 10
) p)::text FROM ({_KEY}) k
"""
_BALANCES = f"""
SELECT (SELECT jsonb_agg(jsonb_build_object('asset', asset_id, 'kind', kind, 'total', total)) FROM (
    SELECT a.asset_id, a.kind, sum(e.amount_atomic) AS total FROM ledger_account a
        JOIN ledger_entry e ON e.account_id = a.id
    WHERE a.store_id = k.store_id AND a.mode = k.mode GROUP BY 1, 2) one)::text FROM ({_KEY}) k
"""


def _answer(request: HttpRequest, statement: str, *parameters: Any) -> HttpResponse:
    digest = credentials.digest(request.headers["Authorization"].split()[1])
    with connection.cursor() as cursor:
        cursor.execute(statement, [digest, *parameters])
        (text,) = cursor.fetchone()
    return HttpResponse(text or "[]", content_type="application/json")


def sql_payment(request: HttpRequest, id: object) -> HttpResponse:
    return _answer(request, _PAYMENT, id)


def sql_payments(request: HttpRequest) -> HttpResponse:
    return _answer(request, _PAYMENTS)


def sql_balances(request: HttpRequest) -> HttpResponse:
    return _answer(request, _BALANCES)
