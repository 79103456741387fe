"""POST /payments: price each accepted asset, give each a deposit address of its own, write it all
in one statement.

Rates and fees are locked here. With an Idempotency-Key the first call's record answers every later
one.
"""

import json
import secrets
import string
import uuid
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from django.db import IntegrityError
from msgspec.structs import asdict
from psycopg.types.json import Jsonb

from apps.access.access import PUBLISHABLE, Access
from apps.assets.selectors import PricedAsset, accepted_priced, accepts_any
from apps.chain import addresses
from apps.chain.selectors import offered_chains
from apps.core import clock, jobs
from apps.core.db import sql
from apps.core.db.constraints import constraint_of
from apps.core.errors import Failure, RefusalKind
from apps.core.idempotency import insert_once
from apps.core.ids import led_by_shard, new_id, new_id_sql
from apps.core.messages.invalid import Invalid
from apps.payments.documents.events import intent_event
from apps.payments.models import Payment, PaymentAddress
from apps.payments.models.payments import REFERENCE_LENGTH
from apps.payments.requests import PaymentRequest
from apps.payments.services.origin import origin_of
from apps.payments.services.prices import amount_cents
from apps.payments.services.pricing import AssetPrice, price
from apps.payments.states import CREATED_EVENT, PENDING, PaymentDecision
from apps.stores.platform_fees import fees_of
from apps.webhooks import events as webhooks

_CHARACTERS = string.ascii_uppercase + string.digits


class KycRequired(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "kyc_required"
    message = "Store KYC verification required"


class AccountClosed(Failure):
    """It was closed while the payment was made: a trigger asks last."""

    kind = RefusalKind.FORBIDDEN
    code = "account_closed"
    message = "This account is closed"
    constraint = "payment_store_is_open"


class NoRate(Failure):
    """No accepted asset has a rate that is fresh enough: never a wrong price."""

    kind = RefusalKind.UNAVAILABLE
    code = "rates_unavailable"
    message = "No current exchange rate for any accepted asset"


class NoAcceptedAsset(Failure):
    message = "The store accepts no asset"


class FeesTakeAll(Failure):
    """Service and platform ask for the whole payment: only staff or the platform can mend that."""

    code = "fees_exceed_amount"
    message = "The fees of this account leave nothing of a payment"


def create_payment(
    access: Access,
    request: PaymentRequest,
    key: str | None = None,
    *,
    id: uuid.UUID | None = None,
    renews: Payment | None = None,
) -> tuple[Payment, bool]:
    """The intent with its addresses, and whether this call made it; `renews` is the one whose place
    it takes.

    Raises Invalid, UnsupportedCurrency, KycRequired, SignatureRequired, SignatureInvalid,
    FeesTakeAll, NoRate, NoAcceptedAsset or AccountClosed.
    """
    try:
        payment = _priced_payment(access, request, key, id, renews)
    except (Failure, Invalid) as refusal:
        return answer_refused(access, refusal, key), False
    fresh = payment.fresh_addresses or []
    return insert_once(
        lambda: _earlier(access, key), lambda: payment if _insert(payment, fresh) else None
    )


def answer_refused(access: Access, refusal: Failure | Invalid, key: str | None) -> Payment:
    """What is answered to a request that would be refused: the intent of a key that was used.
    Raises the refusal when there is none, and to whoever isn't allowed.

    A publishable key, which anybody can read, gets it only for an amount that it may name.
    """
    may_not = isinstance(refusal, Failure) and refusal.kind == RefusalKind.FORBIDDEN
    is_named = access.kind != PUBLISHABLE or isinstance(refusal, (NoRate, NoAcceptedAsset))
    earlier = _earlier(access, key) if is_named and not may_not else None
    if earlier is None:
        raise refusal
    return earlier


def _priced_payment(
    access: Access,
    request: PaymentRequest,
    key: str | None,
    id: uuid.UUID | None,
    renews: Payment | None,
) -> Payment:
    store = access.store
    cents = amount_cents(request)
    if store.platform_id is not None and store.kyc_confirmed_at is None:
        raise KycRequired
    created_with = origin_of(access, request) if renews is None else renews.created_with
    real, at = _times(access)
    payment = _payment(access, request, cents, at, key, id)
    payment.created_with = created_with
    priced = accepted_priced(
        store.pk, access.mode, payment.settlement_currency, real, offered_chains(access.mode)
    )
    if not priced:
        raise _unpriced(access)
    payment.fresh_addresses = _addresses(payment, priced, at)
    return payment


def _times(access: Access) -> tuple[datetime, datetime]:
    """(machine time for rates, store time for everything else)."""
    at = access.now()
    return at - timedelta(seconds=0 if access.is_live else access.store.test_offset_seconds), at


def _unpriced(access: Access) -> Failure:
    return (
        NoRate(retry_after=30) if accepts_any(access.store.pk, access.mode) else NoAcceptedAsset()
    )


def _payment(
    access: Access,
    request: PaymentRequest,
    cents: int,
    at: datetime,
    key: str | None,
    id: uuid.UUID | None,
) -> Payment:
    store = access.store
    pays_fee = (
        store.customer_pays_fee if request.customer_pays_fee is None else request.customer_pays_fee
    )
    fees = fees_of(store, access.mode, clock.real_now())
    if fees.service + (fees.platform or 0) >= 1:
        raise FeesTakeAll
    return Payment(
        id=id or new_id(),
        store=store,
        mode=access.mode,
        created_at=at,
        updated_at=at,
        reference=_reference(),
        status=PENDING,
        settlement_amount_cents=cents,
        settlement_currency=request.currency,
        expires_at=at + timedelta(seconds=request.expires_in),
        customer_pays_fee=pays_fee,
        fee_fraction=fees.service,
        platform_id=store.platform_id,
        platform_fee_fraction=fees.platform,
        agent_credential_id=access.credential_id if access.kind == "agent" else None,
        idempotency_caller=access.caller if key else "",
        idempotency_key=key,
        success_url=request.success_url,
        failed_url=request.failed_url,
        order_id=request.order_id,
        title=request.title,
        description=request.description,
        image_url=request.image_url,
        metadata=request.metadata,
        line_items=[
            {name: value for name, value in asdict(item).items() if value is not None}
            for item in request.line_items
        ],
    )


def _reference() -> str:
    return led_by_shard("".join(secrets.choice(_CHARACTERS) for _ in range(REFERENCE_LENGTH)))


def _addresses(payment: Payment, priced: list[PricedAsset], at: datetime) -> list[PaymentAddress]:
    on_top = (
        payment.fee_fraction + (payment.platform_fee_fraction or Decimal(0))
        if payment.customer_pays_fee
        else None
    )
    indexes = addresses.next_indexes(len(priced))
    return [
        _address(
            payment, price(payment.settlement_amount_cents, asset, on_top), index, position, at
        )
        for position, (asset, index) in enumerate(zip(priced, indexes, strict=True))
    ]


def _address(
    payment: Payment, price: AssetPrice, index: int, position: int, at: datetime
) -> PaymentAddress:
    row = PaymentAddress(
        payment=payment,
        asset=price.priced.asset,
        address_id=addresses.derive(payment.mode, index),
        position=position,
        required_atomic=price.required_atomic,
        base_atomic=price.base_atomic,
        fee_atomic=price.fee_atomic,
        exchange_rate=price.priced.rate,
        rate_source=price.priced.rate_source,
        required_confirmations=price.priced.asset.chain.required_confirmations,
        created_at=at,
    )
    row.derivation_index = index
    return row


# column -> attribute
_COLUMNS = {str(field.column): field.attname for field in Payment._meta.concrete_fields}
# column -> type
_ADDRESS_COLUMNS = {
    "id": "uuid",
    "asset_id": "text",
    "address_id": "text",
    "position": "int",
    "required_atomic": "numeric",
    "base_atomic": "numeric",
    "fee_atomic": "numeric",
    "exchange_rate": "numeric",
    "rate_source": "text",
    "required_confirmations": "int",
}
_ADDRESS_RECORD = ", ".join(f"{name} {kind}" for name, kind in _ADDRESS_COLUMNS.items())

_CREATED = PaymentDecision(PENDING, None)
_INSERT = sql.Statement(f"""
WITH made AS (
    INSERT INTO payments_payment ({", ".join(_COLUMNS)})
    VALUES ({", ".join(f"%({column})s" for column in _COLUMNS)})
    ON CONFLICT (store_id, mode, idempotency_caller, idempotency_key)
        WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id
), ours AS (
    INSERT INTO chain_address (address, mode, index, purpose, native_chain_id, watch_balance_until,
        created_at)
    SELECT one.address, %(mode)s, one.index, 'deposit', one.native_chain, %(watch_balance_until)s,
        %(real_at)s
    FROM made, jsonb_to_recordset(%(deposit_addresses)s) AS one(address text, index bigint,
        native_chain text)
), ways AS (
    INSERT INTO payments_paymentaddress (payment_id, created_at, {", ".join(_ADDRESS_COLUMNS)})
    SELECT made.id, %(created_at)s, one.*
    FROM made,
        jsonb_to_recordset(%(payment_addresses)s) AS one({_ADDRESS_RECORD})
), history AS (
    INSERT INTO payments_paymentevent (id, payment_id, event_type, from_status, to_status, payload,
        created_at)
    SELECT {new_id_sql()}, made.id, '{CREATED_EVENT}', NULL, '{PENDING}', '{{}}', %(created_at)s
        FROM made
), {webhooks.RECORD_CTE}
SELECT EXISTS (SELECT 1 FROM made), ARRAY(SELECT id FROM webhook_delivery)
""")  # noqa: S608  # only names of columns are put in


def _insert(payment: Payment, rows: list[PaymentAddress]) -> bool:
    """Write intent, addresses, history, event and deliveries in one statement; False when the key
    was taken."""
    values: dict[str, object] = {
        column: getattr(payment, name) for column, name in _COLUMNS.items()
    }
    values |= {"metadata": Jsonb(payment.metadata), "line_items": Jsonb(payment.line_items)}
    # As JSON, which is made in C; arrays are put together value by value in Python.
    values["payment_addresses"] = Jsonb(
        [{name: getattr(row, name) for name in _ADDRESS_COLUMNS} for row in rows], dumps=_json
    )
    values["deposit_addresses"] = Jsonb([_deposit_address(row) for row in rows])
    offset = timedelta(seconds=0 if payment.is_live else payment.store.test_offset_seconds)
    values["real_at"] = payment.created_at - offset
    values["watch_balance_until"] = payment.expires_at - offset + timedelta(days=1)
    values |= webhooks.record_parameters(
        store_id=payment.store_id,
        mode=payment.mode,
        type=CREATED_EVENT,
        object=intent_event(payment, None, _CREATED),
        at=payment.created_at,
        platform_id=payment.platform_id,
    )
    try:
        ((is_made, deliveries),) = _INSERT.rows(**values)
    except IntegrityError as error:
        if constraint_of(error) != AccountClosed.constraint:
            raise
        raise AccountClosed from None
    if deliveries:
        jobs.enqueue("webhooks.deliver", *deliveries)
    return bool(is_made)


# What JSON has no type for goes as text, which PostgreSQL reads exactly.
_json = partial(json.dumps, default=str)


def _deposit_address(row: PaymentAddress) -> dict[str, str | int | None]:
    native_chain = row.asset.chain_id if row.asset.is_native else None
    return {"address": row.address_id, "index": row.derivation_index, "native_chain": native_chain}


def _earlier(access: Access, key: str | None) -> Payment | None:
    """The intent that an earlier call made with the same key."""
    if not key:
        return None
    return Payment.objects.filter(
        store_id=access.store_id,
        mode=access.mode,
        idempotency_caller=access.caller,
        idempotency_key=key,
    ).first()
