"""Proceeds of an intent: sums over ledger entries at its locked rates, never separate
bookkeeping."""

from collections.abc import Callable
from fractions import Fraction

from apps.core import money
from apps.core.clock import iso
from apps.core.messages.documents import Decimals, Digits, Document, Time
from apps.ledger.selectors import Split
from apps.payments.documents.progress import due_cents, worth
from apps.payments.models import Payment
from apps.payments.selectors import Received, display_step


class AssetShares(Document, frozen=True, kw_only=True):
    """How one asset was divided; before settlement the gross is what is confirmed."""

    asset_id: str
    atomic_decimals: int
    gross_atomic: Digits
    service_fee_atomic: Digits
    platform_fee_atomic: Digits
    net_atomic: Digits
    refunded_atomic: Digits


class FinancialsDocument(Document, frozen=True, kw_only=True):
    """In the intent's currency; the asset is the one received, of several the one worth most."""

    gross_amount: Decimals
    fee_amount: Decimals
    net_amount: Decimals
    fee_percentage: Decimals
    platform_fee_amount: Decimals
    refunded_amount: Decimals
    currency: str
    asset_id: str
    exchange_rate: Decimals
    assets: list[AssetShares]


class OverpaymentDocument(Document, frozen=True, kw_only=True):
    required_atomic: Digits
    received_atomic: Digits
    excess_atomic: Digits
    excess_cents: int
    asset_id: str
    coin_symbol: str
    atomic_decimals: int


class PaymentFeeDocument(Document, frozen=True, kw_only=True):
    """The service's fee as it was booked."""

    fee_atomic: Digits
    fee_percentage: Decimals
    asset_id: str
    platform_fee_atomic: Digits
    booked_at: Time | None


def paid_cents(received: list[Received]) -> int:
    """The fiat value of confirmed funds at the locked rates."""
    return sum(worth(intake, intake.confirmed_atomic) for intake in received)


def accepted_cents(received: list[Received]) -> int:
    """Worth of what the merchant accepted beyond the rules of the intent, at the locked rates; of a
    coin without a rate, nothing."""
    return sum(worth(intake, intake.accepted_atomic) for intake in received)


def main_asset(received: list[Received]) -> Received | None:
    """The asset received; of several, the one worth most."""
    counted = [intake for intake in received if intake.received_atomic or intake.deposits]
    return max(counted, key=lambda intake: worth(intake, intake.received_atomic), default=None)


def asset_shares(intake: Received, split: Split | None) -> AssetShares:
    booked = split or Split()
    gross = booked.gross_atomic or intake.confirmed_atomic
    service = booked.service_fee_atomic
    platform = booked.platform_fee_atomic
    return AssetShares(
        asset_id=intake.address.asset_id,
        atomic_decimals=intake.address.asset.atomic_decimals,
        gross_atomic=str(gross),
        service_fee_atomic=str(service),
        platform_fee_atomic=str(platform),
        net_atomic=str(gross - service - platform),
        refunded_atomic=str(booked.refunded_atomic),
    )


def financials(
    payment: Payment, received: list[Received], splits: dict[str, Split]
) -> FinancialsDocument | None:
    """Null until crypto is received."""
    main = main_asset(received)
    if main is None or not any(intake.received_atomic for intake in received):
        return None
    rows = [
        (intake, asset_shares(intake, splits.get(intake.address.asset_id)))
        for intake in received
        if intake.received_atomic
    ]

    def total(share: Callable[[AssetShares], str]) -> int:
        return sum(worth(intake, int(share(shares))) for intake, shares in rows)

    gross = total(lambda shares: shares.gross_atomic)
    platform = total(lambda shares: shares.platform_fee_atomic)
    fees = total(lambda shares: shares.service_fee_atomic) + platform
    return FinancialsDocument(
        gross_amount=money.text_from_cents(gross),
        fee_amount=money.text_from_cents(fees),
        net_amount=money.text_from_cents(gross - fees),
        fee_percentage=money.percentage_text(
            payment.fee_fraction + (payment.platform_fee_fraction or 0)
        ),
        platform_fee_amount=money.text_from_cents(platform),
        refunded_amount=money.text_from_cents(total(lambda shares: shares.refunded_atomic)),
        currency=payment.settlement_currency,
        asset_id=main.address.asset_id,
        exchange_rate=money.rate_text(main.address.exchange_rate),
        assets=[shares for _, shares in rows],
    )


def overpayment(payment: Payment, received: list[Received]) -> OverpaymentDocument | None:
    """Present once an address is confirmed; `excess_atomic` is 0 unless more than required came in
    all. Less than a step of what is shown of each coin is no excess. `excess_cents` is what is paid
    less what is due."""
    confirmed = [intake for intake in received if intake.confirmed_atomic]
    if not confirmed:
        return None
    main = max(confirmed, key=lambda intake: worth(intake, intake.confirmed_atomic))
    elsewhere = sum(
        worth(intake, intake.confirmed_atomic) for intake in confirmed if intake is not main
    )
    entry = main.address
    asset = main.address.asset
    covered = money.atomic_at_least(elsewhere, entry.exchange_rate, asset.atomic_decimals)
    of_price = main.of_price_atomic(main.confirmed_atomic)
    excess = max(0, of_price + covered - entry.required_atomic)
    if Fraction(excess, entry.required_atomic) < display_step(confirmed):
        excess = 0
    return OverpaymentDocument(
        required_atomic=str(entry.required_atomic),
        received_atomic=str(main.confirmed_atomic),
        excess_atomic=str(excess),
        excess_cents=max(0, paid_cents(received) - due_cents(payment, received)) if excess else 0,
        asset_id=asset.pk,
        coin_symbol=asset.coin_symbol,
        atomic_decimals=asset.atomic_decimals,
    )


def fee(
    payment: Payment, received: list[Received], splits: dict[str, Split]
) -> PaymentFeeDocument | None:
    """The service fee booked; null until there is one."""
    main = main_asset(received)
    split = splits.get(main.address.asset_id) if main is not None else None
    if main is None or split is None or split.booked_at is None:
        return None
    return PaymentFeeDocument(
        fee_atomic=str(split.service_fee_atomic),
        fee_percentage=money.fraction_text(payment.fee_fraction),
        asset_id=main.address.asset_id,
        platform_fee_atomic=str(split.platform_fee_atomic),
        booked_at=iso(split.booked_at),
    )
