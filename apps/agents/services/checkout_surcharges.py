"""Surcharge that a customer pays for the gas of a signature, by the store's rule. It is
computed when the wallet is asked, and comes back sealed with what was signed.

It goes to the store with the price. The store bears the gas as always: it keeps what the surcharge
has too much, and bears what it lacks.
"""

import uuid
from collections.abc import Iterable
from fractions import Fraction
from math import ceil
from typing import Self

import msgspec
from django.core import signing

from apps.agents.offers import Offer
from apps.assets.models import Asset
from apps.assets.selectors import current_rate, fee_asset_id
from apps.chain.sending import costs
from apps.core import clock
from apps.payments.models import Payment, PaymentAddress

_SALT = "checkout.surcharge"
_LENGTH_MAX = 300
# For so long it is what was shown.
SECONDS_MAX = 900


class Surcharge(msgspec.Struct, frozen=True, array_like=True):
    """An amount on top of what a payment asks for in an asset."""

    payment_id: uuid.UUID
    asset_id: str
    atomic: int

    def seal(self) -> str:
        return signing.dumps(msgspec.to_builtins(self), salt=_SALT)

    @classmethod
    def unseal(cls, texts: Iterable[object]) -> Self | None:
        """The first that we have sealed so lately."""
        for text in texts:
            if not isinstance(text, str) or len(text) > _LENGTH_MAX:
                continue
            try:
                told = signing.loads(text, salt=_SALT, max_age=SECONDS_MAX)
                return msgspec.convert(told, cls)
            except (signing.BadSignature, msgspec.ValidationError):
                continue
        return None


def surcharge_of(payment: Payment, offer: Offer) -> Surcharge | None:
    """Cost of carrying a signature out now, at the payment's rates, and the fees that are taken
    of it; None when nobody can say. Not inside a transaction: the price of gas may be asked."""
    paid_atomic = costs.of_a_token(offer.asset)
    price = _rate(payment, offer.asset)
    paying = Asset.objects.get(pk=fee_asset_id(offer.asset))
    paying_price = _rate(payment, paying)
    if paid_atomic is None or not price or not paying_price:
        return None
    worth = paying_price * Fraction(paid_atomic, 10**paying.atomic_decimals)
    cost_atomic = worth / price * 10**offer.asset.atomic_decimals
    left = 1 - Fraction(payment.fee_fraction) - Fraction(payment.platform_fee_fraction or 0)
    return Surcharge(payment.pk, offer.asset.pk, ceil(cost_atomic / left))


def _rate(payment: Payment, asset: Asset) -> Fraction | None:
    """The price of a coin in the payment's currency: the locked one, or today's of a coin that the
    payment doesn't take."""
    rows = PaymentAddress.objects.filter(payment=payment, asset=asset.pk)
    locked = rows.values_list("exchange_rate", flat=True).first()
    if locked is not None:
        return Fraction(locked)
    rate = current_rate(asset.pk, payment.settlement_currency, clock.real_now())
    return None if rate is None else Fraction(rate.rate)
