"""The contender itself: FastAPI, asyncpg and pydantic, a key looked up, a token taken, the rows in
one transaction.

Of the product it has the derivation of addresses and the arithmetic of prices, which are the same
work for both.
"""

import hashlib
import json
import os
import secrets
import string
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import asyncpg
import django
import redis.asyncio
from django.conf import settings
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import AnyUrl, BaseModel, Field
from throttled.rate_limiter.gcra import RedisLimitAtomicActionSpec

django.setup()
from apps.chain import addresses  # noqa: E402  # models exist from here on
from apps.chain.networks.families import shown_address  # noqa: E402
from apps.core import money  # noqa: E402

_LETTERS = string.ascii_uppercase + string.digits
_KEY = """
SELECT k.store_id, k.mode, k.scopes, s.fee_fraction, s.customer_pays_fee, s.platform_id,
    s.kyc_confirmed_at
FROM access_apikey k JOIN stores_store s ON s.id = k.store_id WHERE k.secret_hash = $1
    AND k.revoked_at IS NULL AND s.deleted_at IS NULL
"""
_PRICED = """
SELECT a.id, a.chain_id, a.token_standard, a.atomic_decimals, a.display_decimals,
    c.required_confirmations, r.rate, r.source
FROM assets_acceptedasset k JOIN assets_asset a ON a.id = k.asset_id AND a.is_active
    JOIN assets_chain c ON c.id = a.chain_id
JOIN assets_rate r ON r.asset_id = a.id AND r.currency = $3 AND r.valid_until > $4
WHERE k.store_id = $1 AND k.mode = $2 AND c.mode = $2 AND k.suspended_at IS NULL
    ORDER BY a.position, a.id
"""
_PAYMENT = """
INSERT INTO payments_payment (id, store_id, mode, created_at, updated_at, reference, status,
    settlement_amount_cents, settlement_currency,
    refund_state, expires_at, customer_pays_fee, fee_fraction, success_url, order_id, title,
        description, metadata, line_items,
    idempotency_caller, reconciliation_due, is_card_funded, card_shortfall_bps, needs_attention)
VALUES ($1, $2, $3, $4, $4, $5, 'pending', $6, $7, 'none', $8, $9, $10, $11, $12, $13, $14, $15,
    $16, '', false, false, 0, '')
"""
_ADDRESS = (
    "INSERT INTO chain_address (address, mode, index, purpose, native_chain_id,"
    " watch_balance_until, created_at) "
)
_ADDRESS += "VALUES ($1, $2, $3, 'deposit', $4, $5, $6)"
_WAY = """
INSERT INTO payments_paymentaddress (id, payment_id, asset_id, address_id, position,
    required_atomic, exchange_rate, rate_source,
    required_confirmations, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
_HISTORY = """
INSERT INTO payments_paymentevent (id, payment_id, event_type, to_status, payload, created_at)
VALUES ($1, $2, 'payment_intent.created', 'pending', '{}', $3)
"""
_EVENT = """
WITH made AS (
    INSERT INTO webhooks_event (id, store_id, mode, created_at, type, object)
        VALUES ($1, $2, $3, $4, 'payment_intent.created', $5)
) SELECT id FROM webhooks_endpoint WHERE store_id = $2 AND mode = $3 AND deleted_at IS NULL
  AND 'payment_intent.created' = ANY (subscribed_events)
"""


class Item(BaseModel):
    description: str = Field(max_length=255)
    quantity: int = Field(ge=1)
    unit_amount_cents: int = Field(ge=0)


class Intent(BaseModel):
    amount: Decimal = Field(gt=0, max_digits=11, decimal_places=2)
    currency: str = Field(pattern="^(EUR|USD)$")
    success_url: AnyUrl | None = None
    failed_url: AnyUrl | None = None
    order_id: str | None = Field(None, max_length=255)
    title: str | None = Field(None, max_length=150)
    description: str | None = Field(None, max_length=500)
    image_url: AnyUrl | None = None
    expires_in: int = Field(3600, ge=300, le=86400)
    metadata: dict[str, str] = Field({}, max_length=50)
    line_items: list[Item] = Field([], max_length=50)
    customer_pays_fee: bool | None = None


class Body(BaseModel):
    payment_intent: Intent


shared: dict[str, Any] = {"free": []}


async def prepare(connection: Any) -> None:
    await connection.set_type_codec(
        "jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog"
    )


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    shared["pool"] = await asyncpg.create_pool(
        settings.DATABASE_URL, min_size=4, max_size=8, init=prepare
    )
    shared["take"] = redis.asyncio.Redis.from_url(settings.REDIS_URL).register_script(
        RedisLimitAtomicActionSpec.SCRIPTS
    )
    yield
    await shared["pool"].close()


application = FastAPI(lifespan=lifespan)


async def next_index(connection: Any) -> int:
    if not shared["free"]:
        last = await connection.fetchval("SELECT nextval('chain_deposit_index')")
        shared["free"] = list(range(last, last - addresses.BLOCK_SIZE, -1))
    return int(shared["free"].pop())


@application.post("/payments", status_code=201)
async def create(request: Request, body: Body) -> Any:
    intent = body.payment_intent
    at = datetime.now(UTC)
    digest = hashlib.sha256(
        request.headers["authorization"].removeprefix("Bearer ").encode()
    ).digest()
    async with shared["pool"].acquire() as connection:
        key = await connection.fetchrow(_KEY, digest)
        if key is None or "payments:write" not in key["scopes"]:
            raise HTTPException(401)
        limited, remaining, *_ = await shared["take"](
            keys=[f"bench:{key['store_id']}"], args=[60 / 10_000_000, 1_000_000, 1]
        )
        if limited:
            raise HTTPException(429)
        id = uuid.uuid4()
        reference = "".join(secrets.choice(_LETTERS) for _ in range(16))
        ways = await write(connection, key, intent, id, reference, at)
    shown = [
        {
            "address": shown_address(way[3]),
            "crypto_amount_atomic": str(way[5]),
            "asset_id": way[2],
        }
        for way in ways
    ]
    answer = {
        "id": str(id),
        "reference": reference,
        "status": "pending",
        "created_at": at.isoformat(),
        "payment_addresses": shown,
    }
    return JSONResponse(
        {**answer, "metadata": intent.metadata},
        201,
        headers={"X-RateLimit-Remaining": str(remaining)},
    )


async def write(
    connection: Any, key: Any, intent: Intent, id: uuid.UUID, reference: str, at: datetime
) -> list[tuple[Any, ...]]:
    store = key["store_id"]
    mode = key["mode"]
    cents = int(intent.amount * 100)
    priced = await connection.fetch(_PRICED, store, mode, intent.currency, at)
    expires_at = at + timedelta(seconds=intent.expires_in)
    deposits = []
    ways = []
    for position, asset in enumerate(priced):
        index = await next_index(connection)
        address = addresses.derive(mode, index)
        native = asset["chain_id"] if asset["token_standard"] == "Native" else None
        deposits.append((address, mode, index, native, expires_at + timedelta(days=1), at))
        required = money.atomic_for_cents(
            cents, asset["rate"], asset["atomic_decimals"], asset["display_decimals"]
        )
        way = (
            uuid.uuid4(),
            id,
            asset["id"],
            address,
            position,
            required,
            asset["rate"],
            asset["source"],
        )
        ways.append((*way, asset["required_confirmations"], at))
    told = {
        "id": reference,
        "payment_intent_id": str(id),
        "status": "pending",
        "metadata": intent.metadata,
    }
    items = [line_item.model_dump() for line_item in intent.line_items]
    url = str(intent.success_url) if intent.success_url else None
    async with connection.transaction():
        await connection.execute(
            _PAYMENT,
            id,
            store,
            mode,
            at,
            reference,
            cents,
            intent.currency,
            expires_at,
            bool(intent.customer_pays_fee),
            key["fee_fraction"],
            url,
            intent.order_id,
            intent.title,
            intent.description,
            intent.metadata,
            items,
        )
        await connection.executemany(_ADDRESS, deposits)
        await connection.executemany(_WAY, ways)
        await connection.execute(_HISTORY, uuid.uuid4(), id, at)
        await connection.fetch(_EVENT, uuid.uuid4(), store, mode, at, told)
    return ways
