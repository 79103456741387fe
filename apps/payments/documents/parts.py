"""The parts that the views of an intent share: the list row, an address."""

from decimal import Decimal

from django.conf import settings
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from apps.assets.documents import SupportedAsset, supported_asset
from apps.chain.networks.families import links_of, shown_address
from apps.core import money
from apps.core.clock import iso
from apps.core.messages.documents import Decimals, Digits, Document, FreeForm, Id, Time
from apps.payments import states
from apps.payments.documents.values import (
    AddressStatus,
    CreatedWith,
    IntentStatus,
    ReconciliationStatus,
    RefundState,
    SettlementStatus,
    WalletOwner,
)
from apps.payments.models import Payment, PaymentAddress
from apps.payments.selectors import Received, received_by
from apps.stores import domains


def checkout_base(payment: Payment) -> str:
    """Where hosted pages of the store live: its own domain once verified."""
    store = payment.store
    if store.checkout_domain and store.checkout_domain_verified_at:
        return domains.base_url(store.checkout_domain)
    return f"{settings.PUBLIC_URL}/pay"


def hosted_url(payment: Payment) -> str:
    return f"{checkout_base(payment)}/{payment.reference}"


def x402_url(payment: Payment) -> str:
    """Where an agent pays it with a signature (x402)."""
    return f"{hosted_url(payment)}/x402"


class LineItemDocument(Document, frozen=True, kw_only=True):
    """As it is stored with the intent."""

    description: str
    quantity: int
    unit_amount_cents: int
    image_url: str | UnsetType | None = UNSET


class PaymentIntentRow(Document, frozen=True, kw_only=True):
    """A row of the list: the fields of create, without addresses."""

    id: Id
    reference: str
    hosted_url: str
    x402_url: str
    status: IntentStatus
    state_reason: str | None
    terminal: bool
    settlement_amount: Decimals
    settlement_currency: str
    settlement_status: SettlementStatus | None
    auto_swap_status: str | None
    reconciliation_status: ReconciliationStatus | None
    refund_state: RefundState
    customer_pays_fee: bool
    fee_percentage: Decimals
    platform_fee_percentage: Decimals | None
    created_with: CreatedWith | None
    order_id: str | None
    title: str | None
    description: str | None
    image_url: str | None
    success_url: str | None
    failed_url: str | None
    metadata: FreeForm
    line_items: list[LineItemDocument]
    livemode: bool
    expires_at: Time
    created_at: Time
    updated_at: Time


class PaymentAddressDocument(Document, frozen=True, kw_only=True):
    """A payment address entry; the last two are there when the customer pays the fee."""

    id: Id
    address: str
    wallet: WalletOwner
    status: AddressStatus
    crypto_amount_atomic: Digits
    crypto_amount: Decimals
    received_atomic: Digits
    confirmed_atomic: Digits
    required_confirmations: int
    exchange_rate_snapshot: Decimals
    payment_uri: str
    qr_text: str
    created_at: Time
    supported_asset: SupportedAsset
    base_crypto_atomic: Digits | UnsetType = UNSET
    fee_crypto_atomic: Digits | UnsetType = UNSET


class PaymentIntentDocument(PaymentIntentRow, frozen=True, kw_only=True):
    """The answer of create."""

    payment_addresses: list[PaymentAddressDocument]


def row(payment: Payment) -> PaymentIntentRow:
    return PaymentIntentRow(
        id=str(payment.pk),
        reference=payment.reference,
        hosted_url=hosted_url(payment),
        x402_url=x402_url(payment),
        status=payment.status,
        state_reason=payment.state_reason,
        terminal=payment.status in states.TERMINAL,
        settlement_amount=money.text_from_cents(payment.settlement_amount_cents),
        settlement_currency=payment.settlement_currency,
        settlement_status=payment.settlement_status,
        auto_swap_status=payment.auto_swap_status,
        reconciliation_status=payment.reconciliation_status,
        refund_state=payment.refund_state,
        customer_pays_fee=payment.customer_pays_fee,
        fee_percentage=money.fraction_text(payment.fee_fraction),
        platform_fee_percentage=_fraction(payment.platform_fee_fraction),
        created_with=payment.created_with,
        order_id=payment.order_id,
        title=payment.title,
        description=payment.description,
        image_url=payment.image_url,
        success_url=payment.success_url,
        failed_url=payment.failed_url,
        metadata=payment.metadata,
        line_items=payment.line_items,
        livemode=payment.is_live,
        expires_at=iso(payment.expires_at),
        created_at=iso(payment.created_at),
        updated_at=iso(payment.updated_at),
    )


def _fraction(fraction: Decimal | None) -> str | None:
    return None if fraction is None else money.fraction_text(fraction)


def created(payment: Payment) -> PaymentIntentDocument:
    """The row with its payment addresses. To an intent just made nothing can have come."""
    fresh = payment.fresh_addresses
    received = received_by(payment) if fresh is None else [Received(entry, []) for entry in fresh]
    return PaymentIntentDocument(
        **asdict(row(payment)), payment_addresses=[address(intake, payment) for intake in received]
    )


def address(intake: Received, payment: Payment) -> PaymentAddressDocument:
    entry = intake.address
    asset = entry.asset
    confirmed_atomic = intake.confirmed_atomic
    return PaymentAddressDocument(
        id=str(entry.pk),
        address=shown_address(entry.address_id),
        wallet="service" if entry.own_wallet_id is None else "own",
        status="confirmed" if confirmed_atomic else "pending",
        crypto_amount_atomic=str(entry.required_atomic),
        crypto_amount=money.decimal_from_atomic(entry.required_atomic, asset.atomic_decimals),
        received_atomic=str(confirmed_atomic + intake.unconfirmed_atomic),
        confirmed_atomic=str(confirmed_atomic),
        required_confirmations=entry.required_confirmations,
        exchange_rate_snapshot=money.rate_text(entry.exchange_rate),
        payment_uri=payment_uri(entry),
        qr_text=qr_text(entry),
        created_at=iso(entry.created_at),
        supported_asset=supported_asset(asset, payment.settlement_currency),
        **fee_on_top(entry),
    )


def fee_on_top(entry: PaymentAddress) -> dict[str, str]:
    """The two parts of the total when the customer pays the fee."""
    is_on_top = entry.base_atomic is not None
    return (
        {"base_crypto_atomic": str(entry.base_atomic), "fee_crypto_atomic": str(entry.fee_atomic)}
        if is_on_top
        else {}
    )


def payment_uri(entry: PaymentAddress, amount_atomic: int | None = None) -> str:
    """The link of an address that opens a wallet, for the whole amount unless given another."""
    amount = entry.required_atomic if amount_atomic is None else amount_atomic
    return links_of(entry.asset).payment_link(entry.asset, entry.address_id, amount)


def qr_text(entry: PaymentAddress, amount_atomic: int | None = None) -> str:
    """The content of a QR code."""
    amount = entry.required_atomic if amount_atomic is None else amount_atomic
    return links_of(entry.asset).code_text(entry.asset, entry.address_id, amount)
