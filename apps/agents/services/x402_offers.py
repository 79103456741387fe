"""What a resource asks for over x402: an intent, and the one asset and address of it that a payer's signature must name.

A price in atomic units is exact; the intent then costs the fewest cents that are worth it.
"""

import hashlib
from typing import Any

from django.db import transaction

from apps.access.access import Access
from apps.agents.models import PaymentOffer
from apps.agents.services.tokens import asset_for
from apps.assets.models import Asset
from apps.assets.selectors import accepted_assets, current_rate
from apps.core import clock, money
from apps.core.errors import Coded
from apps.core.literal import AtomicAmount, FiatAmount, Integer, Invalid, Metadata, Object, Text
from apps.payments.models import Payment, PaymentAddress
from apps.payments.requests import EXPIRES_IN_DEFAULT, EXPIRES_IN_MAX, EXPIRES_IN_MIN, payment_request
from apps.payments.services.create import NoRate, create_payment
from apps.payments.services.fields import WHOLE_UNIT_CURRENCIES, UnsupportedCurrency
from apps.stores.models import Currency

TIMEOUT_DEFAULT, TIMEOUT_MIN, TIMEOUT_MAX = 120, 30, 3600
OFFER = Object(
    {
        "asset_id": Text(20, required=True),
        "resource": Text(2048, required=True, shortest=1),
        "amount": FiatAmount(),
        "currency": Text(10),
        "amount_atomic": AtomicAmount(),
        "description": Text(500),
        "mime_type": Text(100),
        "max_timeout_seconds": Integer(TIMEOUT_MIN, TIMEOUT_MAX, default=TIMEOUT_DEFAULT),
        "expires_in": Integer(EXPIRES_IN_MIN, EXPIRES_IN_MAX, default=EXPIRES_IN_DEFAULT),
        "order_id": Text(255),
        "metadata": Metadata(),
    }
)


class NotSignable(Coded):
    code = "asset_not_signable"
    message = "Transfers of this asset can't be authorized by a signature"


class NotAccepted(Coded):
    code = "asset_not_accepted"
    message = "The store does not accept this asset"


def is_signable(asset: Asset) -> bool:
    """Whether payers can sign transfers of it: a token whose EIP-712 domain we know."""
    return bool(asset.contract_address and asset.eip712_name and asset.eip712_version)


def make_offer(access: Access, body: dict[str, Any], key: str | None) -> tuple[PaymentOffer, bool]:
    """The offer, and whether this call made it.

    Raises Invalid, AssetNotFound, AssetNotActive, NotSignable, NotAccepted, and what creating an intent raises.
    """
    fields = OFFER.check(body, "")
    asset = asset_for(access.mode, fields["asset_id"])
    if not is_signable(asset):
        raise NotSignable
    if asset.pk not in {one.pk for one in accepted_assets(access.store_id, access.mode)}:
        raise NotAccepted
    exact = _exact(fields)
    intent = payment_request(access.mode).read(_intent(access, asset, fields, exact))
    with transaction.atomic():
        payment, is_new = create_payment(access, intent, _own_key(key))
        if not is_new:
            return PaymentOffer.objects.select_related("asset__chain").get(payment=payment), False
        return _offer(payment, asset, fields, exact), True


def _exact(fields: dict[str, Any]) -> int | None:
    """The price in atomic units, None when it is in money."""
    if (fields["amount"] is None) == (fields["amount_atomic"] is None):
        raise Invalid("amount", "one_amount")
    if fields["amount_atomic"] is None:
        return None
    exact = int(fields["amount_atomic"])
    if not exact:
        raise Invalid("amount_atomic", "positive")
    return exact


def _intent(access: Access, asset: Asset, fields: dict[str, Any], exact: int | None) -> dict[str, Any]:
    """The body of the intent that is paid by the signature."""
    kept = {name: fields[name] for name in ("description", "expires_in", "order_id", "metadata")}
    if exact is None:
        return {**kept, "amount": fields["amount"], "currency": fields["currency"]}
    currency = fields["currency"] or access.store.settlement_currency
    if currency not in Currency.values:
        raise UnsupportedCurrency(currency)
    rate = current_rate(asset.pk, currency, clock.real_now())
    if rate is None:
        raise NoRate(retry_after=30)
    cents = money.cents_at_least(exact, rate.rate, asset.atomic_decimals)
    whole = money.CENTS if currency in WHOLE_UNIT_CURRENCIES else 1
    worth = money.text_from_cents(-(-cents // whole) * whole)
    return {**kept, "amount": worth, "currency": currency, "customer_pays_fee": False}


def _own_key(key: str | None) -> str | None:
    """Keys of offers and those of payments are apart, though both are kept with the intent."""
    return None if key is None else "x402:" + hashlib.sha256(key.encode()).hexdigest()


def _offer(payment: Payment, asset: Asset, fields: dict[str, Any], exact: int | None) -> PaymentOffer:
    way = PaymentAddress.objects.filter(payment=payment, asset=asset).first()
    if way is None:  # it had a rate when we looked, and none a moment later
        raise NoRate(retry_after=30)
    if exact is not None:
        PaymentAddress.objects.filter(pk=way.pk).update(required_atomic=exact, base_atomic=None, fee_atomic=None)
    return PaymentOffer.objects.create(
        store_id=payment.store_id,
        mode=payment.mode,
        created_at=payment.created_at,
        payment=payment,
        asset=asset,
        pay_to_id=way.address_id,
        amount_atomic=exact or way.required_atomic,
        resource=fields["resource"],
        description=fields["description"],
        mime_type=fields["mime_type"],
        timeout_seconds=fields["max_timeout_seconds"],
    )
