"""The detail view of an intent. `financials` and `fee` are sums over ledger entries, never separate bookkeeping."""

from datetime import datetime
from typing import Any

from django.conf import settings
from msgspec.structs import asdict

from apps.chain.models import Deposit
from apps.core import money
from apps.core.clock import iso
from apps.ledger.selectors import Split
from apps.payments import states
from apps.payments.documents import parts
from apps.payments.models import Payment
from apps.payments.selectors import Received
from apps.payments.whole import Whole


def detail(whole: Whole) -> dict[str, Any]:
    """Everything there is to know about an intent."""
    payment, received, history, splits = whole.payment, whole.received, whole.history, whole.splits
    return {
        **asdict(parts.row(payment)),
        "payment_addresses": [parts.address(one, payment) for one in received],
        "checkout_url": f"{settings.API_URL}/api/v2/checkout/{payment.reference}",
        "display_image_url": payment.image_url,
        "amount_paid": money.text_from_cents(paid_cents(received)),
        "paid_at": iso(payment.completed_at or (last_move(history) if payment.status in states.TERMINAL else None)),
        "financials": financials(payment, received, splits),
        "transaction": _main_transaction(received),
        "overpayment": overpayment(payment, received),
        "fee": fee(payment, received, splits),
        "merchant": merchant(whole),
        "onramp_session": None,
        "onramp_unavailable": None,
        "needs_attention": payment.needs_attention or None,
        "auto_swap_detail": None,
        "late_deposits": late_deposits(whole),
        "payment_events": [parts.event(one) for one in history],
        "timeline": [parts.timeline_entry(one) for one in history],
    }


def paid_cents(received: list[Received]) -> int:
    """The fiat value of confirmed funds at the locked rates."""
    return sum(worth(one, one.confirmed_atomic) for one in received)


def worth(one: Received, amount_atomic: int) -> int:
    """Cents at the address's locked rate."""
    return money.cents_for_atomic(amount_atomic, one.address.exchange_rate, one.address.asset.atomic_decimals)


def last_move(history: list[Any]) -> datetime | None:
    """When the intent last changed status."""
    return next((one.created_at for one in reversed(history) if one.event_type.startswith("payment_intent.")), None)


def main_asset(received: list[Received]) -> Received | None:
    """The asset received; of several, the one worth most."""
    counted = [one for one in received if one.received_atomic or one.deposits]
    return max(counted, key=lambda one: worth(one, one.received_atomic), default=None)


def _share(split: Split | None, name: str) -> int:
    return int(getattr(split, name)) if split is not None else 0


def asset_row(one: Received, split: Split | None) -> dict[str, Any]:
    """The shares of one asset in atomic units; before settlement the gross is what is confirmed."""
    gross = _share(split, "gross_atomic") or one.confirmed_atomic
    service, platform = _share(split, "service_fee_atomic"), _share(split, "platform_fee_atomic")
    return {
        "asset_id": one.address.asset_id,
        "atomic_decimals": one.address.asset.atomic_decimals,
        "gross_atomic": str(gross),
        "service_fee_atomic": str(service),
        "platform_fee_atomic": str(platform),
        "net_atomic": str(gross - service - platform),
        "refunded_atomic": str(_share(split, "refunded_atomic")),
    }


def financials(payment: Payment, received: list[Received], splits: dict[str, Split]) -> dict[str, Any] | None:
    """Null until crypto is received."""
    main = main_asset(received)
    if main is None or not any(one.received_atomic for one in received):
        return None
    rows = [(one, asset_row(one, splits.get(one.address.asset_id))) for one in received if one.received_atomic]

    def total(name: str) -> int:
        return sum(worth(one, int(figures[name])) for one, figures in rows)

    gross, platform = total("gross_atomic"), total("platform_fee_atomic")
    fees = total("service_fee_atomic") + platform
    fraction = payment.fee_fraction + (payment.platform_fee_fraction or 0)
    return {
        "gross_amount": money.text_from_cents(gross),
        "fee_amount": money.text_from_cents(fees),
        "net_amount": money.text_from_cents(gross - fees),
        "fee_percentage": money.percentage_text(fraction),
        "platform_fee_amount": money.text_from_cents(platform),
        "refunded_amount": money.text_from_cents(total("refunded_atomic")),
        "currency": payment.settlement_currency,
        "asset_id": main.address.asset_id,
        "exchange_rate": money.rate_text(main.address.exchange_rate),
        "assets": [figures for _, figures in rows],
    }


def _main_transaction(received: list[Received]) -> dict[str, Any] | None:
    """The confirmed deposit, else the most recent one."""
    every = [(deposit, one.address.asset) for one in received for deposit in one.deposits]
    if not every:
        return None
    confirmed = [pair for pair in every if pair[0].status == Deposit.Status.CONFIRMED]
    deposit, asset = max(confirmed or every, key=lambda pair: pair[0].detected_at)
    return parts.transaction(deposit, asset, parts.heads_for([deposit]))


def overpayment(payment: Payment, received: list[Received]) -> dict[str, Any] | None:
    """Present once an address is confirmed; `excess_atomic` is 0 unless more than required came in all."""
    confirmed = [one for one in received if one.confirmed_atomic]
    if not confirmed:
        return None
    main = max(confirmed, key=lambda one: worth(one, one.confirmed_atomic))
    elsewhere = sum(worth(one, one.confirmed_atomic) for one in confirmed if one is not main)
    entry, asset = main.address, main.address.asset
    covered = money.atomic_at_least(elsewhere, entry.exchange_rate, asset.atomic_decimals)
    excess = max(0, main.confirmed_atomic + covered - entry.required_atomic)
    return {
        "required_atomic": str(entry.required_atomic),
        "received_atomic": str(main.confirmed_atomic),
        "excess_atomic": str(excess),
        "excess_cents": worth(main, excess),
        "asset_id": asset.pk,
        "coin_symbol": asset.coin_symbol,
        "atomic_decimals": asset.atomic_decimals,
    }


def fee(payment: Payment, received: list[Received], splits: dict[str, Split]) -> dict[str, Any] | None:
    """The service fee booked; null until there is one."""
    main = main_asset(received)
    split = splits.get(main.address.asset_id) if main is not None else None
    if main is None or split is None or split.booked_at is None:
        return None
    return {
        "fee_atomic": str(split.service_fee_atomic),
        "fee_percentage": money.fraction_text(payment.fee_fraction),
        "asset_id": main.address.asset_id,
        "platform_fee_atomic": str(split.platform_fee_atomic),
        "booked_at": iso(split.booked_at),
    }


# Name in the document -> column of the verification.
_LEGAL = {
    "legal_name": "business_legal_name",
    "country": "business_country",
    "registration_number": "registration_number",
    "tax_id": "tax_id",
    "website": "business_website",
}


def merchant(whole: Whole) -> dict[str, Any]:
    """Who is paid. The legal fields come from an approved verification."""
    legal = {name: getattr(whole.business, column, None) for name, column in _LEGAL.items()}
    store = whole.payment.store
    return {**legal, "name": store.name, "support_email": store.support_email or None}


def late_deposits(whole: Whole) -> list[dict[str, Any]]:
    """Deposits that came too late, each with whether the merchant has accepted it."""
    late = [(deposit, one) for one in whole.received for deposit in one.deposits if deposit.pk in whole.late]
    known = parts.heads_for([deposit for deposit, _ in late])
    return [
        {**parts.transaction(deposit, one.address.asset, known), "id": str(deposit.pk), "accepted_at": iso(whole.late[deposit.pk])}
        for deposit, one in late
    ]
