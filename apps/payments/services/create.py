"""POST /payments: price each accepted asset, give each a deposit address of its own, write it all
in one statement.

Rates and fees are locked here. With an Idempotency-Key the first call's record answers every later
one.
"""

import secrets
import string
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import IntegrityError
from msgspec import json
from msgspec.structs import asdict
from psycopg.types.json import Jsonb

from apps.access.access import PUBLISHABLE, Access
from apps.assets.lowest_prices import refused_now
from apps.assets.models import Asset
from apps.assets.selectors import accepts_any, current_rate
from apps.chain import addresses
from apps.chain.models import Address
from apps.chain.own.wallets import given_addresses
from apps.chain.selectors import offered_chains
from apps.core import clock, jobs
from apps.core.db import sql
from apps.core.db.constraints import constraint_of
from apps.core.errors import Failure, RefusalKind
from apps.core.idempotency import insert_once
from apps.core.ids import led_by_shard, new_id, new_id_sql
from apps.core.messages.invalid import Invalid
from apps.core.models import new
from apps.payments.documents.events import intent_event
from apps.payments.models import Payment, PaymentAddress
from apps.payments.models.payments import REFERENCE_LENGTH
from apps.payments.requests import PaymentRequest
from apps.payments.services.origin import origin_of
from apps.payments.services.prices import amount_cents
from apps.payments.services.pricing import (
    AssetPrice,
    FixedPrice,
    PricedAsset,
    accepted_priced,
    price,
)
from apps.payments.states import CREATED_EVENT, PENDING, PaymentDecision
from apps.stores.platform_fees import fees_of
from apps.stores.staff.suspensions import PaymentsSuspended, Suspension, is_suspended
from apps.webhooks import events as webhooks

_CHARACTERS = string.ascii_uppercase + string.digits
_REFERENCES = len(_CHARACTERS) ** REFERENCE_LENGTH


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


class CoinsTooLow(Failure):
    """Every coin that could be priced is worth less than the store’s lowest price of it."""

    kind = RefusalKind.UNAVAILABLE
    code = "coins_below_lowest_price"
    message = "The accepted assets are below the lowest price that the store takes them at"


class NoAcceptedAsset(Failure):
    message = "The store accepts no asset"


# Nothing that could be asked for has a price.
UNPRICED = (NoRate, CoinsTooLow, NoAcceptedAsset)


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
    fixed: FixedPrice | None = None,
) -> tuple[Payment, bool]:
    """The intent with its addresses, and whether this call made it; `renews` is the one whose place
    it takes, and `fixed` what `fixed_prices` has promised.

    Raises Invalid, UnsupportedCurrency, KycRequired, PaymentsSuspended, SignatureRequired,
    SignatureInvalid, FeesTakeAll, NoRate, CoinsTooLow, NoAcceptedAsset or AccountClosed.
    """
    try:
        payment = (
            _priced_payment(access, request, key, id, renews)
            if fixed is None
            else _promised_payment(access, request, key, fixed)
        )
    except (Failure, Invalid) as refusal:
        return answer_refused(access, refusal, key), False
    fresh = payment.fresh_addresses or []
    return insert_once(
        lambda: _earlier(access, key), lambda: payment if _insert(payment, fresh) else None
    )


def fixed_prices(
    access: Access, request: PaymentRequest, assets: Sequence[Asset]
) -> list[FixedPrice]:
    """Prices that a payment would have in each of these assets that has a rate, at addresses that
    nobody has. Nothing is recorded. Raises as `create_payment`, without AccountClosed."""
    payment = _checked_payment(access, request, None, None, None)
    real = _machine_time(access, payment.created_at)
    rates = [(asset, current_rate(asset.pk, request.currency, real)) for asset in assets]
    priced = [PricedAsset(asset, rate.rate, rate.source) for asset, rate in rates if rate]
    if not priced:
        raise NoRate(retry_after=30)
    indexes = addresses.unrecorded_indexes(access.mode, len(priced))
    prices = [price(payment.settlement_amount_cents, asset, _on_top(payment)) for asset in priced]
    return [
        FixedPrice(
            payment.pk,
            payment.reference,
            one.priced.asset,
            index,
            one.required_atomic,
            one.base_atomic,
            one.fee_atomic,
        )
        for one, index in zip(prices, indexes, strict=True)
    ]


def answer_refused(access: Access, refusal: Failure | Invalid, key: str | None) -> Payment:
    """Answer to a request that would be refused: the intent of a used key. Raises the refusal when
    there is none, and to anyone who isn't allowed.

    A publishable key, which anybody can read, gets it only for an amount that it may name.
    """
    is_suspended_now = isinstance(refusal, PaymentsSuspended)  # no matter of who asks
    may_not = isinstance(refusal, Failure) and refusal.kind == RefusalKind.FORBIDDEN
    is_named = access.kind != PUBLISHABLE or isinstance(refusal, UNPRICED)
    may_see = is_named and (is_suspended_now or not may_not)
    earlier = _earlier(access, key) if may_see else None
    if earlier is None:
        raise refusal
    return earlier


def _promised_payment(
    access: Access, request: PaymentRequest, key: str | None, fixed: FixedPrice
) -> Payment:
    payment = _checked_payment(access, request, key, fixed.payment_id, None)
    payment.reference = fixed.reference
    at = payment.created_at
    real = _machine_time(access, at)
    rate = current_rate(fixed.asset.pk, payment.settlement_currency, real)
    if rate is None:
        raise NoRate(retry_after=30)
    asset_price = AssetPrice(
        PricedAsset(fixed.asset, rate.rate, rate.source),
        fixed.required_atomic,
        fixed.base_atomic,
        fixed.fee_atomic,
    )
    place = _Place(fixed.index, addresses.derive_on(fixed.asset.chain, fixed.index))
    payment.fresh_addresses = [_address(payment, asset_price, place, 0, at)]
    return payment


def _priced_payment(
    access: Access,
    request: PaymentRequest,
    key: str | None,
    id: uuid.UUID | None,
    renews: Payment | None,
) -> Payment:
    payment = _checked_payment(access, request, key, id, renews)
    at = payment.created_at
    real = _machine_time(access, at)
    priced = accepted_priced(
        access.store_id, access.mode, payment.settlement_currency, real, offered_chains(access.mode)
    )
    if not priced:
        raise _unpriced(access, real)
    payment.fresh_addresses = _addresses(payment, priced, at)
    return payment


def _checked_payment(
    access: Access,
    request: PaymentRequest,
    key: str | None,
    id: uuid.UUID | None,
    renews: Payment | None,
) -> Payment:
    """The intent without its addresses."""
    store = access.store
    cents = amount_cents(request)
    # With its platform: a trigger asks last, which is too late for what a key has made before.
    if store.payments_suspended_at is not None or (
        key is not None and is_suspended(store, Suspension.PAYMENTS)
    ):
        raise PaymentsSuspended
    if store.platform_id is not None and store.kyc_confirmed_at is None:
        raise KycRequired
    created_with = origin_of(access, request) if renews is None else renews.created_with
    payment = _payment(access, request, cents, access.now(), key, id)
    payment.created_with = created_with
    return payment


def _machine_time(access: Access, at: datetime) -> datetime:
    """For rates; everything else goes by store time."""
    offset = 0 if access.is_live else access.store.test_offset_seconds
    return at - timedelta(seconds=offset)


def _unpriced(access: Access, real: datetime) -> Failure:
    if not accepts_any(access.store_id, access.mode):
        return NoAcceptedAsset()
    is_too_low = bool(refused_now(access.store_id, access.mode, real))
    return (CoinsTooLow if is_too_low else NoRate)(retry_after=30)


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
    payment = new(
        Payment,
        id=id or new_id(),
        store_id=store.pk,
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
    payment.store = store
    return payment


def _reference() -> str:
    # One random number for all characters: a number for each takes six times as long.
    rest = secrets.randbelow(_REFERENCES)
    characters = []
    for _ in range(REFERENCE_LENGTH):
        rest, position = divmod(rest, len(_CHARACTERS))
        characters.append(_CHARACTERS[position])
    return led_by_shard("".join(characters))


def _addresses(payment: Payment, priced: list[PricedAsset], at: datetime) -> list[PaymentAddress]:
    on_top = _on_top(payment)
    return [
        _address(
            payment, price(payment.settlement_amount_cents, asset, on_top), place, position, at
        )
        for position, (asset, place) in enumerate(zip(priced, _places(priced), strict=True))
    ]


def _on_top(payment: Payment) -> Decimal | None:
    """The fraction that the customer pays on top; None when the merchant bears the fee."""
    fees = payment.fee_fraction + (payment.platform_fee_fraction or Decimal(0))
    return fees if payment.customer_pays_fee else None


@dataclass(frozen=True)
class _Place:
    """An address and its index, of the merchant's wallet or of the service's account."""

    index: int
    address: str
    own_wallet_id: uuid.UUID | None = None


def _places(priced: list[PricedAsset]) -> Iterator[_Place]:
    """One for each, of the wallet that its coins go to."""
    wallets = [asset.own_wallet_id for asset in priced]
    indexes = iter(addresses.next_indexes(wallets.count(None)))
    counts = Counter(wallet_id for wallet_id in wallets if wallet_id is not None)
    given = {pk: iter(given_addresses(pk, count)) for pk, count in counts.items()}
    for asset, wallet_id in zip(priced, wallets, strict=True):
        if wallet_id is None:
            index = next(indexes)
            yield _Place(index, addresses.derive_on(asset.asset.chain, index))
        else:
            yield _Place(*next(given[wallet_id]), wallet_id)


def _address(
    payment: Payment, price: AssetPrice, place: _Place, position: int, at: datetime
) -> PaymentAddress:
    asset = price.priced.asset
    row = new(
        PaymentAddress,
        payment_id=payment.pk,
        asset_id=asset.pk,
        address_id=place.address,
        own_wallet_id=place.own_wallet_id,
        position=position,
        required_atomic=price.required_atomic,
        base_atomic=price.base_atomic,
        fee_atomic=price.fee_atomic,
        exchange_rate=price.priced.rate,
        rate_source=price.priced.rate_source,
        required_confirmations=asset.chain.required_confirmations,
        created_at=at,
    )
    row.payment = payment
    row.asset = asset
    row.derivation_index = place.index
    return row


# column -> attribute
_COLUMNS = {str(field.column): field.attname for field in Payment._meta.concrete_fields}
# column -> type
_ADDRESS_COLUMNS = {
    "id": "uuid",
    "asset_id": "text",
    "address_id": "text",
    "own_wallet_id": "uuid",
    "position": "int",
    "required_atomic": "numeric",
    "base_atomic": "numeric",
    "fee_atomic": "numeric",
    "exchange_rate": "numeric",
    "rate_source": "text",
    "required_confirmations": "int",
}
_ADDRESS_RECORD = ", ".join(f"{name} {kind}" for name, kind in _ADDRESS_COLUMNS.items())

_OF_CONSTRAINT = {refusal.constraint: refusal for refusal in (AccountClosed, PaymentsSuspended)}
_CREATED = PaymentDecision(PENDING, None)
_INSERT = sql.Statement(
    f"""
WITH made AS (
    INSERT INTO payments_payment ({", ".join(_COLUMNS)})
    VALUES ({", ".join(f"%({column})s" for column in _COLUMNS)})
    ON CONFLICT (store_id, mode, idempotency_caller, idempotency_key)
        WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id
), ours AS (
    INSERT INTO chain_address (address, mode, index, purpose, native_chain_id, watch_balance_until,
        created_at)
    SELECT one.address, %(mode)s, one.index, one.purpose, one.native_chain,
        %(watch_balance_until)s, %(real_at)s
    FROM made, jsonb_to_recordset(%(deposit_addresses)s) AS one(address text, index bigint,
        purpose text, native_chain text)
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
""",  # noqa: S608  # only names of columns are put in
    stays=True,
)


def _insert(payment: Payment, rows: list[PaymentAddress]) -> bool:
    """Write intent, addresses, history, event and deliveries in one statement; False when the key
    was taken."""
    values: dict[str, object] = {
        column: getattr(payment, name) for column, name in _COLUMNS.items()
    }
    # As JSON, which is made in C; arrays are put together value by value in Python.
    values |= {
        "metadata": Jsonb(payment.metadata, dumps=json.encode),
        "line_items": Jsonb(payment.line_items, dumps=json.encode),
        "payment_addresses": Jsonb(
            [{name: getattr(row, name) for name in _ADDRESS_COLUMNS} for row in rows],
            dumps=json.encode,
        ),
        "deposit_addresses": Jsonb([_deposit_address(row) for row in rows], dumps=json.encode),
    }
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
        refusal = _OF_CONSTRAINT.get(constraint_of(error))
        if refusal is None:
            raise
        raise refusal from None
    if deliveries:
        jobs.enqueue("webhooks.deliver", *deliveries)
    return bool(is_made)


def _deposit_address(row: PaymentAddress) -> dict[str, str | int | None]:
    asset = row.asset
    native_chain = asset.chain_id if asset.is_native else None
    return {
        "address": row.address_id,
        "index": row.derivation_index,
        "purpose": Address.Purpose.DEPOSIT if row.own_wallet_id is None else Address.Purpose.OWN,
        "native_chain": native_chain,
    }


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
