"""What a customer may see of an intent: never order_id, metadata, the store's own fees or ledger figures."""

from datetime import datetime
from fractions import Fraction
from typing import Any

from apps.assets.models import Asset
from apps.chain.addresses import checksummed
from apps.core import money
from apps.core.clock import iso
from apps.payments import states
from apps.payments.documents import parts
from apps.payments.models import Payment
from apps.payments.selectors import Received, received_by

_BRANDING = ("logo_url", "brand_name", "primary_color", "secondary_color")


def checkout_document(payment: Payment, at: datetime) -> dict[str, Any]:
    """The body of GET /checkout/{reference} but for `onramp`, which a door adds."""
    received = received_by(payment)
    store, rest = payment.store, outstanding(received)
    pays = payment.customer_pays_fee
    return {
        "token": payment.reference,
        "payment_intent_id": str(payment.pk),
        "store_id": str(payment.store_id),
        "store_name": store.name,
        "status": payment.status,
        "state_reason": payment.state_reason,
        "terminal": payment.status in states.TERMINAL,
        "settlement_amount_cents": payment.settlement_amount_cents,
        "settlement_currency": payment.settlement_currency,
        "title": payment.title,
        "description": payment.description,
        "expires_at": iso(payment.expires_at),
        "expired": payment.expires_at <= at,
        "seconds_left": parts.seconds_left(payment, at),
        "success_url": payment.success_url,
        "failed_url": payment.failed_url,
        "customer_pays_fee": pays,
        "fee_percentage": money.fraction_text(payment.fee_fraction + (payment.platform_fee_fraction or 0)) if pays else None,
        "payment_addresses": [_address(one, rest) for one in received],
        "order_summary": _order_summary(payment),
        "transactions": _transactions(received),
        "branding": _branding(store),
        "support_email": store.support_email or None,
        "livemode": payment.is_live,
    }


def outstanding(received: list[Received]) -> dict[str, int]:
    """Per asset what is still to send if the rest comes in it; what came in others counts at its own locked rate."""
    seen = sum((Fraction(one.received_atomic, one.address.required_atomic) for one in received), Fraction(0))
    part = max(Fraction(0), 1 - seen)
    return {
        one.address.asset_id: money.part_of(
            one.address.required_atomic, part, one.address.asset.atomic_decimals, one.address.asset.display_decimals
        )
        for one in received
    }


def _address(one: Received, rest: dict[str, int]) -> dict[str, Any]:
    entry = one.address
    outstanding_atomic = rest[entry.asset_id]
    return {
        "id": str(entry.pk),
        "address": checksummed(entry.address_id),
        "crypto_amount_atomic": str(entry.required_atomic),
        "crypto_amount": money.decimal_from_atomic(entry.required_atomic, entry.asset.atomic_decimals),
        "outstanding_atomic": str(outstanding_atomic),
        "received_atomic": str(one.received_atomic),
        "confirmed_atomic": str(one.confirmed_atomic),
        "required_confirmations": entry.required_confirmations,
        "status": "confirmed" if one.confirmed_atomic else "pending",
        "payment_uri": parts.payment_uri(entry, outstanding_atomic or None),
        "asset": _asset(entry.asset),
        **parts.fee_on_top(entry),
    }


def _asset(asset: Asset) -> dict[str, Any]:
    return {
        "asset_id": asset.pk,
        "coin_symbol": asset.coin_symbol,
        "chain_symbol": asset.chain.symbol,
        "chain_name": asset.chain.name,
        "chain_id": asset.chain.chain_id,
        "atomic_decimals": asset.atomic_decimals,
        "display_decimals": asset.display_decimals,
        "token_standard": asset.token_standard,
    }


def _order_summary(payment: Payment) -> dict[str, Any] | None:
    if not payment.line_items and not payment.image_url:
        return None
    return {
        "image_url": payment.image_url,
        "line_items": payment.line_items,
        "total_cents": payment.settlement_amount_cents,
        "currency": payment.settlement_currency,
    }


def _transactions(received: list[Received]) -> list[dict[str, Any]]:
    """Oldest first."""
    every = sorted(((deposit, one.address.asset) for one in received for deposit in one.deposits), key=lambda pair: pair[0].detected_at)
    known = parts.heads_for([deposit for deposit, _ in every])
    names = (
        "tx_hash",
        "status",
        "confirmations",
        "required_confirmations",
        "amount_atomic",
        "coin_symbol",
        "chain_symbol",
        "atomic_decimals",
        "explorer_url",
    )
    told = (parts.transaction(deposit, asset, known) for deposit, asset in every)
    return [{name: body[name] for name in names} for body in told]


def _branding(store: Any) -> dict[str, Any] | None:
    values = {name: getattr(store, name) or None for name in _BRANDING}
    if not any(values.values()) and not store.remove_service_branding:
        return None
    return {**values, "remove_service_branding": store.remove_service_branding}
