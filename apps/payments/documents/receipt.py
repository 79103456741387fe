"""Contents of a receipt: payer and payee, amount, time, coins and their rate, order, and refunds.
Nothing that the public page may not show."""

from dataclasses import dataclass
from datetime import datetime

from apps.core.money import Amount, CoinPrice, Fiat
from apps.core.text.countries import country_name
from apps.ledger.selectors import payment_split
from apps.payments.documents.deposits import (
    TransactionDocument,
    arrival_of,
    heads_for,
    transaction_document,
)
from apps.payments.documents.order import PaymentOrder, order_of
from apps.payments.documents.parts import hosted_url
from apps.payments.documents.progress import worth
from apps.payments.models import Payment
from apps.payments.selectors import Received, received_by
from apps.stores.models import Store

# A rate below it is said of more than one coin.
_LEAST_CENTS = 10


@dataclass(frozen=True)
class CoinsPaid:
    """One transaction. `rate_cents` is what `rate_coins` coins were worth."""

    amount_atomic: int
    atomic_decimals: int
    coin_symbol: str
    chain_name: str
    rate_coins: int
    rate_cents: int
    tx_hash: str
    explorer_url: str | None


@dataclass(frozen=True)
class CoinsRefunded:
    """Of one asset."""

    amount_atomic: int
    atomic_decimals: int
    coin_symbol: str
    chain_name: str


@dataclass(frozen=True)
class Refunded:
    total: Fiat
    is_partial: bool
    coins: list[CoinsRefunded]


@dataclass(frozen=True)
class Receipt:
    merchant: str
    company: str  # the store's own name, where customers know it by another
    street: str
    town: str
    country: str
    total: Fiat
    paid_at: datetime
    reference: str
    title: str
    description: str
    order: PaymentOrder
    coins: list[CoinsPaid]
    refunded: Refunded | None
    is_test: bool
    url: str

    @property
    def country_name(self) -> str:
        """In the reader's language."""
        return country_name(self.country) if self.country else ""


def receipt_of(payment: Payment) -> Receipt | None:
    """None of a payment that was never completed."""
    if payment.completed_at is None:
        return None
    store = payment.store
    store_name = store.brand_name or store.name
    received = received_by(payment)
    return Receipt(
        merchant=store_name,
        company=store.name if store.name != store_name else "",
        street=store.street,
        town=_town(store),
        country=store.country,
        total=Fiat(payment.settlement_amount_cents, payment.settlement_currency),
        paid_at=payment.completed_at,
        reference=payment.reference,
        title=payment.title or "",
        description=payment.description or "",
        order=order_of(payment),
        coins=coins_paid(payment, received),
        refunded=refunded_of(payment, received),
        is_test=not payment.is_live,
        url=hosted_url(payment),
    )


def coins_paid(payment: Payment, received: list[Received]) -> list[CoinsPaid]:
    """The transactions that counted, oldest first."""
    rows = [
        (intake, deposit)
        for intake in received
        for deposit in intake.counted
        if deposit.status == "confirmed"
    ]
    rows.sort(key=lambda pair: (pair[1].detected_at, pair[1].log_index))
    heads = heads_for([deposit for _, deposit in rows])
    return [
        _coins(payment, intake, transaction_document(arrival_of(payment, intake, deposit), heads))
        for intake, deposit in rows
    ]


def _coins(payment: Payment, intake: Received, transaction: TransactionDocument) -> CoinsPaid:
    asset = intake.address.asset
    price = CoinPrice(
        intake.address.asset, intake.address.exchange_rate, payment.settlement_currency
    )
    coins = 0
    cents = 0
    for coins in (1, 1_000, 1_000_000):
        cents = price.worth(Amount(asset, coins * 10**asset.atomic_decimals)).cents
        if cents >= _LEAST_CENTS:
            break
    return CoinsPaid(
        amount_atomic=int(transaction.amount_atomic),
        atomic_decimals=transaction.atomic_decimals,
        coin_symbol=transaction.coin_symbol,
        chain_name=transaction.chain_name,
        rate_coins=coins,
        rate_cents=cents,
        tx_hash=transaction.tx_hash,
        explorer_url=transaction.explorer_url,
    )


def refunded_of(payment: Payment, received: list[Received]) -> Refunded | None:
    """None before the first refund is confirmed."""
    if payment.refund_state == Payment.RefundState.NONE:
        return None
    splits = payment_split([payment.pk]).get(payment.pk, {})
    rows = [
        (intake, split.refunded_atomic)
        for intake in received
        if (split := splits.get(intake.address.asset_id)) is not None and split.refunded_atomic
    ]
    if not rows:
        return None
    return Refunded(
        total=Fiat(sum(worth(*coins) for coins in rows), payment.settlement_currency),
        is_partial=payment.refund_state == Payment.RefundState.PARTIAL,
        coins=[_refund(*row) for row in rows],
    )


def _refund(intake: Received, amount_atomic: int) -> CoinsRefunded:
    asset = intake.address.asset
    return CoinsRefunded(amount_atomic, asset.atomic_decimals, asset.coin_symbol, asset.chain.name)


def _town(store: Store) -> str:
    return " ".join(filter(None, (store.postal_code, store.city)))
