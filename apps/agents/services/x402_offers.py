"""What a resource asks for over x402: an intent, and the one asset and address of it that a payer's
signature must name.

A price in atomic units is exact; the intent then costs the fewest cents that are worth it.
"""

import hashlib

from django.db import transaction

from apps.access.access import Access
from apps.agents.models import PaymentOffer
from apps.agents.requests.x402 import OfferRequest
from apps.agents.services.tokens import asset_for
from apps.assets.models import Asset
from apps.assets.selectors import accepted_assets, current_rate
from apps.chain.sending import costs
from apps.core import clock, money
from apps.core.errors import Failure
from apps.core.models import Mode
from apps.payments.models import Payment, PaymentAddress
from apps.payments.requests import PaymentRequest
from apps.payments.services.create import NoRate, create_payment
from apps.payments.services.prices import WHOLE_UNIT_CURRENCIES, UnsupportedCurrency
from apps.stores.models import Currency

# What is asked for beside the fee of today, in percent of it.
HEADROOM_PERCENT = 125


class NotSignable(Failure):
    code = "asset_not_signable"
    message = "Transfers of this asset can't be authorized by a signature"


class NotAccepted(Failure):
    code = "asset_not_accepted"
    message = "The store does not accept this asset"


class AmountTooSmall(Failure):
    """Nobody could pay it: taking it in costs more."""

    code = "amount_too_small"

    def __init__(self, asset: Asset, minimum_atomic: int) -> None:
        least = money.amount_text(minimum_atomic, asset.atomic_decimals)
        text = f"The amount is too small to be paid over x402: at least {least} {asset.coin_symbol}"
        super().__init__(text)


def minimum_atomic(asset: Asset) -> int:
    """The smallest amount that is offered: in live mode what carrying it out costs at today's price
    of gas, and a quarter more, as the price may rise until somebody pays. Not inside a
    transaction."""
    fee = costs.fee(asset) if asset.mode == Mode.LIVE else None
    return max(1, -(-(fee or 0) * HEADROOM_PERCENT // 100))


def is_signable(asset: Asset) -> bool:
    """Whether payers can sign transfers of it: a token whose EIP-712 domain we know."""
    return bool(asset.contract_address and asset.eip712_name and asset.eip712_version)


def make_offer(access: Access, request: OfferRequest, key: str | None) -> tuple[PaymentOffer, bool]:
    """The offer, and whether this call made it.

    Raises AssetNotFound, AssetNotActive, NotSignable, NotAccepted, AmountTooSmall, and what
    creating an intent raises.
    """
    asset = asset_for(access.mode, request.asset_id)
    if not is_signable(asset):
        raise NotSignable
    if asset.pk not in {accepted.pk for accepted in accepted_assets(access.store_id, access.mode)}:
        raise NotAccepted
    intent = _intent(access, asset, request)
    minimum = minimum_atomic(asset)
    with transaction.atomic():
        payment, is_new = create_payment(access, intent, _own_key(key))
        if not is_new:
            return PaymentOffer.objects.select_related("asset__chain").get(payment=payment), False
        return _offer(payment, asset, request, minimum), True


def _intent(access: Access, asset: Asset, request: OfferRequest) -> PaymentRequest:
    """The intent that is paid by the signature. Raises UnsupportedCurrency or NoRate."""
    amount = request.amount or ""
    currency = request.currency or access.store.settlement_currency
    if request.exact_atomic is not None:
        amount = _worth(asset, request.exact_atomic, currency)
    return PaymentRequest(
        amount=amount,
        currency=currency,
        description=request.description,
        expires_in=request.expires_in,
        order_id=request.order_id,
        metadata=request.metadata,
        customer_pays_fee=None if request.exact_atomic is None else False,
    )


def _worth(asset: Asset, exact_atomic: int, currency: str) -> str:
    """The fewest units of the currency that are worth it, as text."""
    if currency not in Currency.values:
        raise UnsupportedCurrency(currency)
    rate = current_rate(asset.pk, currency, clock.real_now())
    if rate is None:
        raise NoRate(retry_after=30)
    cents = money.cents_at_least(exact_atomic, rate.rate, asset.atomic_decimals)
    whole = money.CENTS if currency in WHOLE_UNIT_CURRENCIES else 1
    return money.text_from_cents(-(-cents // whole) * whole)


def _own_key(key: str | None) -> str | None:
    """Keys of offers and those of payments are apart, though both are kept with the intent."""
    return None if key is None else "x402:" + hashlib.sha256(key.encode()).hexdigest()


def _offer(
    payment: Payment, asset: Asset, request: OfferRequest, minimum_atomic: int
) -> PaymentOffer:
    way = PaymentAddress.objects.filter(payment=payment, asset=asset).first()
    if way is None:  # it had a rate when we looked, and none a moment later
        raise NoRate(retry_after=30)
    exact = request.exact_atomic
    if (exact or way.required_atomic) < minimum_atomic:
        raise AmountTooSmall(asset, minimum_atomic)
    if exact is not None:
        PaymentAddress.objects.filter(pk=way.pk).update(
            required_atomic=exact, base_atomic=None, fee_atomic=None
        )
    return PaymentOffer.objects.create(
        store_id=payment.store_id,
        mode=payment.mode,
        created_at=payment.created_at,
        payment=payment,
        asset=asset,
        pay_to_id=way.address_id,
        amount_atomic=exact or way.required_atomic,
        resource=request.resource,
        description=request.description,
        mime_type=request.mime_type,
        timeout_seconds=request.max_timeout_seconds,
    )
