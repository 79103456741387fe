"""A create endpoint as it is usually written, to measure ours against."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access import credentials
from apps.access.models import ApiKey
from apps.api.plumbing.json import JsonObjectParser
from apps.assets.models import AcceptedAsset, Rate
from apps.chain import addresses
from apps.chain.models import Address
from apps.core import clock, money
from apps.core.redis import buckets
from apps.payments.models import Payment, PaymentAddress, PaymentEvent
from apps.webhooks.models import Event


class Item(serializers.Serializer[Any]):
    description = serializers.CharField(max_length=255)
    quantity = serializers.IntegerField(min_value=1)
    unit_amount_cents = serializers.IntegerField(min_value=0)


class Body(serializers.Serializer[Any]):
    amount = serializers.DecimalField(max_digits=11, decimal_places=2, min_value=0)
    currency = serializers.ChoiceField(["EUR", "USD"])
    success_url = serializers.URLField(required=False)
    failed_url = serializers.URLField(required=False)
    order_id = serializers.CharField(max_length=255, required=False)
    title = serializers.CharField(max_length=150, required=False)
    description = serializers.CharField(max_length=500, required=False)
    image_url = serializers.URLField(required=False)
    expires_in = serializers.IntegerField(min_value=300, max_value=86400, default=3600)
    metadata = serializers.DictField(child=serializers.CharField(), default=dict)
    line_items = Item(many=True, default=list)
    customer_pays_fee = serializers.BooleanField(default=False)


def offer_ways(payment: Payment, at: datetime) -> list[PaymentAddress]:
    """An address for each coin that the store accepts."""
    ways = []
    accepted_assets = AcceptedAsset.objects.filter(store=payment.store, mode="live")
    for position, accepted in enumerate(accepted_assets.select_related("asset__chain")):
        asset = accepted.asset
        (index,) = addresses.next_indexes(1)
        rate = Rate.objects.get(asset=asset, currency=payment.settlement_currency)
        address = Address.objects.create(
            address=addresses.derive("live", index), mode="live", index=index, created_at=at
        )
        ways.append(
            PaymentAddress.objects.create(
                payment=payment,
                asset=asset,
                address=address,
                position=position,
                exchange_rate=rate.rate,
                required_atomic=money.atomic_for_cents(
                    payment.settlement_amount_cents,
                    rate.rate,
                    asset.atomic_decimals,
                    asset.display_decimals,
                ),
                rate_source=rate.source,
                required_confirmations=asset.chain.required_confirmations,
                created_at=at,
            )
        )
    return ways


class Plain(APIView):
    authentication_classes: list[Any] = []
    parser_classes = [JsonObjectParser]

    def post(self, request: Any) -> Response:
        digest = credentials.digest(request.headers["Authorization"].split()[1])
        store = (
            ApiKey.objects.select_related("store").get(secret_hash=digest, revoked_at=None).store
        )
        buckets.take("payment_create", "live", str(store.pk))
        body = Body(data=request.data["payment_intent"])
        body.is_valid(raise_exception=True)
        data = body.validated_data
        at = clock.real_now()
        with transaction.atomic():
            payment = Payment.objects.create(
                store=store,
                mode="live",
                created_at=at,
                updated_at=at,
                reference=uuid.uuid4().hex[:16].upper(),
                settlement_amount_cents=int(data["amount"] * 100),
                settlement_currency=data["currency"],
                expires_at=at + timedelta(seconds=data["expires_in"]),
                fee_fraction=store.fee_fraction,
                **{
                    name: data.get(name)
                    for name in (
                        "success_url",
                        "order_id",
                        "title",
                        "description",
                        "customer_pays_fee",
                    )
                },
                metadata=data["metadata"],
                line_items=[dict(item) for item in data["line_items"]],
            )
            ways = offer_ways(payment, at)
            PaymentEvent.objects.create(
                payment=payment,
                event_type="payment_intent.created",
                to_status="pending",
                created_at=at,
            )
            Event.objects.create(
                store=store,
                mode="live",
                created_at=at,
                type="payment_intent.created",
                object={"id": payment.reference},
            )
        return Response(
            {
                "id": str(payment.pk),
                "payment_addresses": [{"address": way.address_id} for way in ways],
            },
            status=201,
        )
