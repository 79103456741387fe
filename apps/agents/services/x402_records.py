"""The row of an offer that somebody has signed: with it begins what is recorded of a price."""

from django.db import IntegrityError

from apps.access.access import Access
from apps.agents.models import PaymentOffer
from apps.agents.offers import Offer, Terms
from apps.agents.services.x402_verify import DUPLICATE, INVALID_STATE, X402Refused
from apps.core.db.constraints import constraint_of
from apps.core.errors import Failure
from apps.core.messages.invalid import Invalid
from apps.payments.models import Payment
from apps.payments.requests import PaymentRequest
from apps.payments.services.create import create_payment
from apps.payments.services.pricing import FixedPrice

# Another signature was faster: of this offer, of another asset of it, or at the same address.
_TAKEN = frozenset(
    (
        "payments_payment_pkey",
        "payments_payment_reference_key",
        "agents_paymentoffer_payment_id_key",
        "agents_paymentoffer_pay_to_id_key",
        "chain_address_pkey",
        "address_index_once",
    )
)


def is_taken(error: IntegrityError) -> bool:
    """Tell whether another signature pays what this one would."""
    return constraint_of(error) in _TAKEN


def record(access: Access, offer: Offer, payer: str) -> PaymentOffer:
    """The offer's row, which may be there already; with it its payment. In the caller's
    transaction. Raises X402Refused, and IntegrityError when another was faster."""
    if offer.recorded is not None:
        return offer.recorded
    payment = offer.payment or _payment(access, offer, payer)
    return PaymentOffer.objects.create(
        store_id=payment.store_id,
        mode=payment.mode,
        created_at=payment.created_at,
        payment=payment,
        asset_id=offer.asset.pk,
        pay_to_id=offer.pay_to,
        amount_atomic=offer.amount_atomic,
        resource=offer.resource,
        description=offer.description,
        mime_type=offer.mime_type,
        timeout_seconds=offer.timeout_seconds,
    )


def _payment(access: Access, offer: Offer, payer: str) -> Payment:
    """The payment as it was promised."""
    terms = offer.terms
    if terms is None:
        raise X402Refused(INVALID_STATE, "Nothing is asked for", payer)
    try:
        payment, is_new = create_payment(
            access, _intent(terms), terms.key, fixed=_price(offer, terms)
        )
    except (Failure, Invalid) as refusal:
        raise X402Refused(INVALID_STATE, str(refusal), payer) from refusal
    if not is_new:
        raise X402Refused(DUPLICATE, "Another authorization pays this already", payer)
    return payment


def _price(offer: Offer, terms: Terms) -> FixedPrice:
    price = next(one for one in terms.prices if one.asset_id == offer.asset.pk)
    return FixedPrice(
        terms.payment_id,
        terms.reference,
        offer.asset,
        price.index,
        price.required_atomic,
        price.base_atomic,
        price.fee_atomic,
    )


def _intent(terms: Terms) -> PaymentRequest:
    return PaymentRequest(
        amount=terms.amount,
        currency=terms.currency,
        title=terms.title,
        success_url=terms.success_url,
        description=terms.description,
        expires_in=terms.expires_in,
        order_id=terms.order_id,
        metadata=terms.metadata,
        customer_pays_fee=terms.customer_pays_fee,
    )
