"""Documents of the checkout: never order_id, metadata, the store's own fees or ledger figures."""

from datetime import datetime
from fractions import Fraction

from msgspec import UNSET, UnsetType

from apps.assets.models import Asset
from apps.chain.networks.families import shown_address
from apps.core import money
from apps.core.clock import iso
from apps.core.messages.documents import Decimals, Digits, Document, Id, Time
from apps.payments import states
from apps.payments.documents import parts
from apps.payments.documents.deposits import arrivals, transactions
from apps.payments.documents.values import AddressStatus, DepositStatus, DepositWait, IntentStatus
from apps.payments.models import Payment
from apps.payments.selectors import Received, received_by
from apps.stores.models import Store


class CheckoutAsset(Document, frozen=True, kw_only=True):
    asset_id: str
    coin_symbol: str
    chain_symbol: str
    chain_name: str
    chain_id: int
    atomic_decimals: int
    display_decimals: int
    token_standard: str


class CheckoutAddress(Document, frozen=True, kw_only=True):
    """Where to send one asset, and how much of it is still to come; the last two are there when the
    customer pays the fee."""

    id: Id
    address: str
    crypto_amount_atomic: Digits
    crypto_amount: Decimals
    outstanding_atomic: Digits
    received_atomic: Digits
    confirmed_atomic: Digits
    required_confirmations: int
    status: AddressStatus
    payment_uri: str
    qr_text: str
    asset: CheckoutAsset
    base_crypto_atomic: Digits | UnsetType = UNSET
    fee_crypto_atomic: Digits | UnsetType = UNSET


class OrderSummary(Document, frozen=True, kw_only=True):
    image_url: str | None
    line_items: list[parts.LineItemDocument]
    total_cents: int
    currency: str


class CheckoutTransaction(Document, frozen=True, kw_only=True):
    """A deposit without who paid it. `address_coin_symbol` is the coin that its address is for;
    one that is `undecided` waits for the merchant to accept or return it."""

    tx_hash: str
    status: DepositStatus
    confirmations: int
    required_confirmations: int
    waits_for: DepositWait | None
    amount_atomic: Digits
    coin_symbol: str
    chain_symbol: str
    atomic_decimals: int
    explorer_url: str | None
    late: bool
    unexpected_asset: bool
    accepted_at: Time | None
    address_coin_symbol: str | None
    undecided: bool


class BrandingDocument(Document, frozen=True, kw_only=True):
    logo_url: str | None
    brand_name: str | None
    primary_color: str | None
    secondary_color: str | None
    remove_service_branding: bool


class CheckoutFacts(Document, frozen=True, kw_only=True):
    """The body of GET /checkout/{reference} but for `onramp`, which a view adds."""

    token: str
    payment_intent_id: Id
    store_id: Id
    store_name: str
    status: IntentStatus
    state_reason: str | None
    terminal: bool
    settlement_amount_cents: int
    settlement_currency: str
    title: str | None
    description: str | None
    expires_at: Time
    expired: bool
    seconds_left: int
    success_url: str | None
    failed_url: str | None
    customer_pays_fee: bool
    fee_percentage: Decimals | None
    payment_addresses: list[CheckoutAddress]
    order_summary: OrderSummary | None
    transactions: list[CheckoutTransaction]
    branding: BrandingDocument | None
    support_email: str | None
    livemode: bool

    @property
    def page(self) -> str:
        """The path of the hosted page, on every host that serves it."""
        return f"/pay/{self.token}"

    @property
    def has_received(self) -> bool:
        """Has something that counts; a reorganization takes it away again."""
        return any(address.received_atomic != "0" for address in self.payment_addresses)


def checkout_facts(
    payment: Payment, at: datetime, received: list[Received] | None = None
) -> CheckoutFacts:
    """`received` is what has arrived, where the caller has read it already."""
    received = received_by(payment) if received is None else received
    store = payment.store
    rest = outstanding(received)
    pays = payment.customer_pays_fee
    fraction = payment.fee_fraction + (payment.platform_fee_fraction or 0)
    return CheckoutFacts(
        token=payment.reference,
        payment_intent_id=str(payment.pk),
        store_id=str(payment.store_id),
        store_name=store.name,
        status=payment.status,
        state_reason=payment.state_reason,
        terminal=payment.status in states.TERMINAL,
        settlement_amount_cents=payment.settlement_amount_cents,
        settlement_currency=payment.settlement_currency,
        title=payment.title,
        description=payment.description,
        expires_at=iso(payment.expires_at),
        expired=payment.expires_at <= at,
        seconds_left=_seconds_left(payment, at),
        success_url=payment.success_url,
        failed_url=payment.failed_url,
        customer_pays_fee=pays,
        fee_percentage=money.fraction_text(fraction) if pays else None,
        payment_addresses=[_address(intake, rest) for intake in received],
        order_summary=_order_summary(payment),
        transactions=_transactions(payment, received),
        branding=_branding(store),
        support_email=store.support_email or None,
        livemode=payment.is_live,
    )


def _seconds_left(payment: Payment, at: datetime) -> int:
    return max(0, int((payment.expires_at - at).total_seconds()))


def outstanding(received: list[Received]) -> dict[str, int]:
    """Per asset what is still to send if the rest comes in it; what came in others counts at its
    own locked rate."""
    paid = sum(
        (Fraction(intake.received_atomic, intake.address.required_atomic) for intake in received),
        Fraction(0),
    )
    part = max(Fraction(0), 1 - paid)
    return {
        intake.address.asset_id: money.part_of(
            intake.address.required_atomic,
            part,
            intake.address.asset.atomic_decimals,
            intake.address.asset.display_decimals,
        )
        for intake in received
    }


def _address(intake: Received, rest: dict[str, int]) -> CheckoutAddress:
    entry = intake.address
    outstanding_atomic = rest[entry.asset_id]
    return CheckoutAddress(
        id=str(entry.pk),
        address=shown_address(entry.address_id),
        crypto_amount_atomic=str(entry.required_atomic),
        crypto_amount=money.decimal_from_atomic(entry.required_atomic, entry.asset.atomic_decimals),
        outstanding_atomic=str(outstanding_atomic),
        received_atomic=str(intake.received_atomic),
        confirmed_atomic=str(intake.confirmed_atomic),
        required_confirmations=entry.required_confirmations,
        status="confirmed" if intake.confirmed_atomic else "pending",
        payment_uri=parts.payment_uri(entry, outstanding_atomic or None),
        qr_text=parts.qr_text(entry, outstanding_atomic or None),
        asset=_asset(entry.asset),
        **parts.fee_on_top(entry),
    )


def _asset(asset: Asset) -> CheckoutAsset:
    return CheckoutAsset(
        asset_id=asset.pk,
        coin_symbol=asset.coin_symbol,
        chain_symbol=asset.chain.symbol,
        chain_name=asset.chain.name,
        chain_id=asset.chain.chain_id,
        atomic_decimals=asset.atomic_decimals,
        display_decimals=asset.display_decimals,
        token_standard=asset.token_standard,
    )


def _order_summary(payment: Payment) -> OrderSummary | None:
    if not payment.line_items and not payment.image_url:
        return None
    return OrderSummary(
        image_url=payment.image_url,
        line_items=payment.line_items,
        total_cents=payment.settlement_amount_cents,
        currency=payment.settlement_currency,
    )


def _transactions(payment: Payment, received: list[Received]) -> list[CheckoutTransaction]:
    """Oldest first."""
    deposits = arrivals(payment, received)
    return [
        CheckoutTransaction(
            **{name: getattr(document, name) for name in _OF_DEPOSIT},
            address_coin_symbol=arrival.address_symbol or None,
        )
        for arrival, document in zip(deposits, transactions(deposits), strict=True)
    ]


_OF_DEPOSIT = sorted(set(CheckoutTransaction.__struct_fields__) - {"address_coin_symbol"})


def _branding(store: Store) -> BrandingDocument | None:
    names = ("logo_url", "brand_name", "primary_color", "secondary_color")
    values = {name: getattr(store, name) or None for name in names}
    if not any(values.values()) and not store.remove_service_branding:
        return None
    return BrandingDocument(**values, remove_service_branding=store.remove_service_branding)
