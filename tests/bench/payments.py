"""POST /payments against the same rows written the plain way: a DRF serializer, the ORM and a key looked up by the ORM.

    .venv/bin/python -m tests.bench.payments [rounds]

Both run through the whole WSGI handler of one process, in turns; what counts is their ratio.
"""

import io
import json
import statistics
import sys
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tests.bench.harness import bench_database, print_table

CALLS = 150


def plain_view() -> Callable[..., Any]:
    """A create endpoint as it is usually written."""
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
    from apps.core import buckets, clock, money
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

    class Plain(APIView):
        authentication_classes: list[Any] = []
        parser_classes = [JsonObjectParser]

        def post(self, request: Any) -> Response:
            digest = credentials.digest(request.headers["Authorization"].split()[1])
            store = ApiKey.objects.select_related("store").get(secret_hash=digest, revoked_at=None).store
            buckets.take("payment_create", "live", str(store.pk))
            body = Body(data=request.data["payment_intent"])
            body.is_valid(raise_exception=True)
            data, at = body.validated_data, clock.real_now()
            with transaction.atomic():
                payment = Payment.objects.create(
                    store=store, mode="live", created_at=at, updated_at=at, reference=uuid.uuid4().hex[:16].upper(),
                    settlement_amount_cents=int(data["amount"] * 100), settlement_currency=data["currency"],
                    expires_at=at + timedelta(seconds=data["expires_in"]), fee_fraction=store.fee_fraction,
                    **{name: data.get(name) for name in ("success_url", "order_id", "title", "description", "customer_pays_fee")},
                    metadata=data["metadata"], line_items=[dict(item) for item in data["line_items"]],
                )  # fmt: skip
                ways = []
                for position, accepted in enumerate(AcceptedAsset.objects.filter(store=store, mode="live").select_related("asset__chain")):
                    asset, (index,) = accepted.asset, addresses.next_indexes(1)
                    rate = Rate.objects.get(asset=asset, currency=data["currency"])
                    address = Address.objects.create(
                        address=addresses.derive("live", index).lower(), mode="live", index=index, created_at=at
                    )
                    ways.append(
                        PaymentAddress.objects.create(
                            payment=payment, asset=asset, address=address, position=position, exchange_rate=rate.rate,
                            required_atomic=money.atomic_for_cents(
                                payment.settlement_amount_cents, rate.rate, asset.atomic_decimals, asset.display_decimals
                            ),
                            rate_source=rate.source, required_confirmations=asset.chain.required_confirmations, created_at=at,
                        )
                    )  # fmt: skip
                PaymentEvent.objects.create(payment=payment, event_type="payment_intent.created", to_status="pending", created_at=at)
                Event.objects.create(
                    store=store, mode="live", created_at=at, type="payment_intent.created", object={"id": payment.reference}
                )
            return Response({"id": str(payment.pk), "payment_addresses": [{"address": way.address_id} for way in ways]}, status=201)

    view: Callable[..., Any] = Plain.as_view()
    return view


def caller(path: str, key: str) -> Callable[[], int]:
    """One POST through the WSGI handler; its status."""
    from django.core.handlers.wsgi import WSGIHandler

    handler = WSGIHandler()
    body = json.dumps(
        {
            "payment_intent": {
                "amount": "49.90", "currency": "EUR", "order_id": "A-1001", "title": "Coffee beans", "description": "Two bags",
                "success_url": "https://shop.example/ok", "metadata": {"cart": "42", "campaign": "autumn"},
                "line_items": [{"description": "Bag", "quantity": 2, "unit_amount_cents": 2495}],
            }
        }
    ).encode()  # fmt: skip

    def call() -> int:
        environ = {
            "REQUEST_METHOD": "POST", "PATH_INFO": path, "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(body)),
            "HTTP_AUTHORIZATION": f"Bearer {key}", "SERVER_NAME": "localhost", "SERVER_PORT": "8000", "HTTP_HOST": "localhost",
            "wsgi.input": io.BytesIO(body), "wsgi.url_scheme": "http", "wsgi.errors": sys.stderr, "REMOTE_ADDR": "127.0.0.1",
        }  # fmt: skip
        statuses: list[str] = []
        answer = handler(environ, lambda status, headers: statuses.append(status))  # type: ignore[arg-type]
        b"".join(answer)
        answer.close()
        return int(statuses[0].split()[0])

    return call


def measure(call: Callable[[], int]) -> list[float]:
    taken = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        status = call()
        taken.append((time.perf_counter() - begin) * 1000)
        if status != 201:
            raise SystemExit(f"answered {status}")
    return taken


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with bench_database():
        from django.conf import settings
        from django.urls import path

        import config.urls
        from tests.cast import person, shop_of

        settings.LIMITS["payment_create"] = {"live": (10_000_000, 1_000_000), "test": (10_000_000, 1_000_000)}
        config.urls.urlpatterns.insert(0, path("bench/payments", plain_view()))
        key = shop_of(person("alice"), "Bench").secrets["live"]
        ours, plain = caller("/api/v2/payments", key), caller("/bench/payments", key)
        measure(ours), measure(plain)
        figures = [(measure(ours), measure(plain)) for _ in range(rounds)]
    rows = []
    for name, column in (("POST /payments", 0), ("serializer and ORM", 1)):
        every = sorted(one for row in figures for one in row[column])
        p50, p99 = every[len(every) // 2], every[int(len(every) * 0.99)]
        rows.append([name, f"{1000 / statistics.mean(every):.0f}/s", f"{p50:.2f} ms", f"{p99:.2f} ms", f"{p99 / p50:.1f}"])
    ratio = statistics.median(statistics.mean(plain) / statistics.mean(ours) for ours, plain in figures)
    print_table(["what", "one process", "p50", "p99", "p99/p50"], rows)
    print(f"\nratio (plain time / ours), median of {rounds} rounds: {ratio:.2f}   (goal: at least 3)")


if __name__ == "__main__":
    main()
