"""A resource's price over x402: what a payer may sign, and the payment that it becomes then.

Until somebody signs nothing is recorded: the terms travel sealed with the price (decision 815). A
price in atomic units is exact; the intent then costs the fewest cents that are worth it.
"""

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Sequence

from msgspec import structs

from apps.access.access import Access
from apps.agents.models import PaymentOffer
from apps.agents.offers import Offer, SealedPrice, Terms
from apps.agents.requests.x402 import OfferRequest, OfferTerms, PriceRequest
from apps.agents.services.tokens import asset_for
from apps.agents.services.x402_tokens import is_simulated, offered_tokens, signable
from apps.assets.lowest_prices import refused_now
from apps.assets.models import Asset
from apps.assets.selectors import accepted_assets, current_rate
from apps.chain import addresses
from apps.chain.models import Deposit
from apps.chain.own.choices import own_assets
from apps.chain.selectors import is_watched
from apps.chain.sending import costs
from apps.core import clock, money
from apps.core.errors import Failure
from apps.core.models import Mode
from apps.payments.documents.parts import x402_url
from apps.payments.models import Payment, PaymentAddress
from apps.payments.requests import PaymentRequest
from apps.payments.services.create import CoinsTooLow, NoRate, fixed_prices
from apps.payments.services.prices import UnsupportedCurrency
from apps.payments.services.pricing import FixedPrice
from apps.payments.states import PENDING
from apps.payments.units import step_of
from apps.stores.models import Currency

# What is asked for beside the fee of today, in percent of it.
HEADROOM_PERCENT = 125
TIMEOUT_SECONDS = 120  # of a payment that was created by other means


class NotSignable(Failure):
    code = "asset_not_signable"
    message = "Transfers of this asset can't be authorized by a signature"


class NotAccepted(Failure):
    code = "asset_not_accepted"
    message = "The store does not accept this asset"


class InOwnWallet(Failure):
    code = "asset_in_own_wallet"
    message = "This asset’s coins go to the store’s own wallet, and x402 pays what is held here"


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


# --- asked for by the store's server --------------------------------------------------------------


def make_offer(access: Access, request: OfferRequest, key: str | None) -> tuple[Offer, bool]:
    """The offer in one asset, and whether it is new: a key whose offer was signed has that one.

    Raises AssetNotFound, AssetNotActive, NotSignable, NotAccepted, InOwnWallet, AmountTooSmall, and
    what creating an intent raises.
    """
    earlier = _signed_before(access, _own_key(key))
    if earlier is not None:
        return earlier, False
    token = _token(access, request.asset_id)
    exact = request.exact_atomic
    intent = _intent(access, request)
    if exact is not None:
        currency = request.currency or access.store.settlement_currency
        intent = structs.replace(
            intent,
            amount=_worth(token, exact, currency),
            currency=currency,
            customer_pays_fee=False,
        )
    prices = fixed_prices(access, intent, [token])
    if exact is not None:
        prices = [
            dataclasses.replace(one, required_atomic=exact, base_atomic=None, fee_atomic=None)
            for one in prices
        ]
    minimum = minimum_atomic(token)
    if prices[0].required_atomic < minimum:
        raise AmountTooSmall(token, minimum)
    return _sealed(access, request, intent, prices, _own_key(key))[0], True


def make_offers(
    access: Access,
    request: PriceRequest,
    *,
    title: str | None = None,
    success_url: str | None = None,
) -> list[Offer]:
    """One payment's offers, in each asset that is named, or in each that can be signed: a payer
    chooses one. What can't be paid is left out. The payment will have the title and the address.

    Raises as `make_offer`.
    """
    tokens = (
        offered_tokens(access)
        if not request.asset_ids
        else [_token(access, asset_id) for asset_id in dict.fromkeys(request.asset_ids)]
    )
    if not tokens:
        raise NotSignable
    minimums = {token.pk: minimum_atomic(token) for token in tokens}
    intent = structs.replace(_intent(access, request), title=title, success_url=success_url)
    prices = fixed_prices(access, intent, tokens)
    payable = [one for one in prices if one.required_atomic >= minimums[one.asset.pk]]
    if not payable:
        raise AmountTooSmall(prices[0].asset, minimums[prices[0].asset.pk])
    return _sealed(access, request, intent, payable, None)


def _signed_before(access: Access, key: str | None) -> Offer | None:
    if key is None:
        return None
    rows = PaymentOffer.objects.visible_to(access).select_related("payment", "asset__chain")
    row = rows.filter(
        payment__idempotency_caller=access.caller, payment__idempotency_key=key
    ).first()
    return None if row is None else _recorded_offer(row, _signable(row.asset))


def _signable(asset: Asset) -> Asset:
    token = signable(asset)
    if token is None:
        raise NotSignable
    return token


def _token(access: Access, asset_id: str) -> Asset:
    asset = asset_for(access.mode, asset_id)
    token = _signable(asset)
    if asset.pk not in {accepted.pk for accepted in accepted_assets(access.store_id, access.mode)}:
        raise NotAccepted
    if asset.pk in own_assets(access):
        raise InOwnWallet
    if asset.pk in refused_now(access.store_id, access.mode, clock.real_now()):
        raise CoinsTooLow(retry_after=30)
    return token


def _intent(access: Access, request: OfferTerms) -> PaymentRequest:
    """The intent that is paid by the signature, with the price in money."""
    return PaymentRequest(
        amount=request.amount or "0",
        currency=request.currency or access.store.settlement_currency,
        description=request.description,
        expires_in=request.expires_in,
        order_id=request.order_id,
        metadata=request.metadata,
    )


def _worth(asset: Asset, exact_atomic: int, currency: str) -> str:
    """The fewest units of the currency that are worth it, as text. Raises UnsupportedCurrency or
    NoRate."""
    if currency not in Currency.values:
        raise UnsupportedCurrency(currency)
    rate = current_rate(asset.pk, currency, clock.real_now())
    if rate is None:
        raise NoRate(retry_after=30)
    cents = money.cents_at_least(exact_atomic, rate.rate, asset.atomic_decimals)
    whole = step_of(currency)
    return money.text_from_cents(-(-cents // whole) * whole)


def _own_key(key: str | None) -> str | None:
    """Keys of offers and those of payments are apart, though both are kept with the intent."""
    return None if key is None else "x402:" + hashlib.sha256(key.encode()).hexdigest()


def _sealed(
    access: Access,
    request: OfferTerms,
    intent: PaymentRequest,
    prices: Sequence[FixedPrice],
    key: str | None,
) -> list[Offer]:
    """Offers of one payment that nothing remembers."""
    terms = Terms(
        store_id=access.store_id,
        mode=access.mode,
        payment_id=prices[0].payment_id,
        reference=prices[0].reference,
        prices=tuple(
            SealedPrice(
                one.asset.pk, one.index, one.required_atomic, one.base_atomic, one.fee_atomic
            )
            for one in prices
        ),
        amount=intent.amount,
        currency=intent.currency,
        expires_at=int(access.now().timestamp()) + request.expires_in,
        expires_in=request.expires_in,
        timeout_seconds=request.max_timeout_seconds,
        resource=request.resource,
        description=request.description,
        mime_type=request.mime_type,
        order_id=request.order_id,
        metadata=request.metadata,
        customer_pays_fee=intent.customer_pays_fee,
        key=key,
        title=intent.title,
        success_url=intent.success_url,
    )
    seal = terms.seal()
    return [
        _sealed_offer(terms, seal, price, one.asset)
        for price, one in zip(terms.prices, prices, strict=True)
    ]


def _sealed_offer(terms: Terms, seal: str, price: SealedPrice, token: Asset) -> Offer:
    return Offer(
        asset=token,
        pay_to=addresses.derive_on(token.chain, price.index),
        amount_atomic=price.required_atomic,
        timeout_seconds=terms.timeout_seconds,
        payment_id=terms.payment_id,
        reference=terms.reference,
        resource=terms.resource,
        description=terms.description,
        mime_type=terms.mime_type,
        terms=terms,
        seal=seal,
    )


# --- found again by what a payer signed -----------------------------------------------------------


def offer_at(access: Access, pay_to: str, token: Asset, seals: Iterable[object]) -> Offer | None:
    """The store's offer of this token at an address: recorded, of a payment that was created by
    other means, or sealed in one of these texts."""
    rows = PaymentOffer.objects.visible_to(access).select_related("payment", "asset__chain")
    row = rows.filter(pay_to=pay_to, asset=token.pk).first()
    if row is not None:
        return _recorded_offer(row, token)
    entries = PaymentAddress.objects.filter(
        payment__store=access.store_id, payment__mode=access.mode
    )
    entry = (
        entries.filter(address=pay_to, asset=token.pk, own_wallet=None)
        .select_related("payment")
        .first()
    )
    if entry is not None:
        return _created_offer(entry, token)
    for terms in map(Terms.unseal, seals):
        if terms is None or (terms.store_id, terms.mode) != (access.store_id, access.mode):
            continue
        for price in terms.prices:
            offer = _sealed_offer(terms, "", price, token) if price.asset_id == token.pk else None
            if offer is not None and offer.pay_to == pay_to:
                return offer
    return None


def has_received(payment: Payment) -> bool:
    """Tell whether something was paid by other means: what is left has no offer."""
    mine = PaymentAddress.objects.filter(payment=payment).values("address")
    return Deposit.objects.filter(address__in=mine).exclude(status=Deposit.Status.FAILED).exists()


def payment_offers(
    payment: Payment, token_of: Callable[[Asset], Asset | None] = signable
) -> list[Offer]:
    """Offers for a payment that is there already, in what can be signed. Not inside a
    transaction."""
    if payment.status != PENDING or has_received(payment):
        return []
    row = PaymentOffer.objects.filter(payment=payment).select_related("payment", "asset__chain")
    recorded = row.first()
    if recorded is not None:
        token = token_of(recorded.asset)
        return [] if token is None else [_recorded_offer(recorded, token)]
    entries = PaymentAddress.objects.filter(payment=payment, own_wallet=None, asset__is_active=True)
    pairs = [
        (entry, token_of(entry.asset))
        for entry in entries.select_related("asset__chain", "payment")
    ]
    return [
        _created_offer(entry, token)
        for entry, token in pairs
        if token is not None
        and (is_simulated(token) or is_watched(token.chain_id))
        and entry.required_atomic >= minimum_atomic(token)
    ]


def _recorded_offer(row: PaymentOffer, token: Asset) -> Offer:
    return Offer(
        asset=token,
        pay_to=row.pay_to_id,
        amount_atomic=row.amount_atomic,
        timeout_seconds=row.timeout_seconds,
        payment_id=row.payment_id,
        reference=row.payment.reference,
        resource=row.resource,
        description=row.description,
        mime_type=row.mime_type,
        recorded=row,
        payment=row.payment,
    )


def _created_offer(entry: PaymentAddress, token: Asset) -> Offer:
    payment = entry.payment
    return Offer(
        asset=token,
        pay_to=entry.address_id,
        amount_atomic=entry.required_atomic,
        timeout_seconds=TIMEOUT_SECONDS,
        payment_id=payment.pk,
        reference=payment.reference,
        resource=x402_url(payment),
        description=payment.title or payment.description,
        payment=payment,
    )
