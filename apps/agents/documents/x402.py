"""Answers of x402. The names are the protocol's."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from apps.agents.models import SignedPayment
from apps.agents.offers import Offer
from apps.agents.requests.x402 import METHOD, PERMIT, SCHEME, VERSION
from apps.assets.models import Asset
from apps.chain.networks.families import shown_address
from apps.chain.sending import permits
from apps.core.messages.documents import Digits, Document, Id
from apps.payments.documents.values import IntentStatus
from apps.payments.models import Payment


class PaymentRequirementsExtra(Document, frozen=True, kw_only=True, rename="camel"):
    """The token's EIP-712 domain, and the intent that the signature pays. `offer` is what the
    intent is made by once somebody signs: it comes back with the signature."""

    name: str
    version: str
    asset_transfer_method: str
    payment_intent_id: Id
    reference: str
    resource: str
    offer: str | UnsetType = UNSET


class PaymentRequirementsDocument(Document, frozen=True, kw_only=True, rename="camel"):
    """Terms that a payer must sign."""

    scheme: str
    network: str
    amount: Digits
    asset: str
    pay_to: str
    max_timeout_seconds: int
    extra: PaymentRequirementsExtra


class ResourceDocument(Document, frozen=True, kw_only=True, rename="camel"):
    """The product or service that is sold."""

    url: str
    description: str | UnsetType = UNSET
    mime_type: str | UnsetType = UNSET


class PaymentRequiredDocument(Document, frozen=True, kw_only=True, rename="camel"):
    """The answer 402 to anyone who hasn't paid, ready to be sent: its header PAYMENT-REQUIRED is
    this in base64. A payer signs one of `accepts`."""

    x402_version: int
    error: str | UnsetType = UNSET
    resource: ResourceDocument
    accepts: list[PaymentRequirementsDocument]


class PaidDocument(Document, frozen=True, kw_only=True):
    """The payment behind an `x402_url`. It is completed with its confirmations."""

    payment_intent_id: Id
    reference: str
    status: IntentStatus
    success_url: str | None


def paid_document(payment: Payment) -> PaidDocument:
    return PaidDocument(
        payment_intent_id=str(payment.pk),
        reference=payment.reference,
        status=payment.status,
        success_url=payment.success_url,
    )


class SignableToken(Document, frozen=True, kw_only=True, rename="camel"):
    """`minAmount` is the smallest amount that can be asked for at the moment."""

    asset_id: str
    asset: str
    decimals: int
    name: str
    version: str
    min_amount: Digits


class SupportedKindExtra(Document, frozen=True, kw_only=True):
    """The tokens, for servers that want to know them before anybody pays."""

    assets: list[SignableToken]


class SupportedKindDocument(Document, frozen=True, kw_only=True, rename="camel"):
    x402_version: int
    scheme: str
    network: str
    extra: SupportedKindExtra


class SupportedResponseDocument(Document, frozen=True, kw_only=True):
    kinds: list[SupportedKindDocument]
    extensions: list[str]
    signers: dict[str, list[str]]


class VerifyResponseDocument(Document, frozen=True, kw_only=True, rename="camel"):
    is_valid: bool
    invalid_reason: str | UnsetType = UNSET
    invalid_message: str | UnsetType = UNSET
    payer: str | UnsetType = UNSET


class SettleResponseExtra(Document, frozen=True, kw_only=True, rename="camel"):
    """State of the authorization, whatever this call is answered."""

    settlement_id: Id
    state: Annotated[str, Meta(extra_json_schema={"enum": SignedPayment.Status.values})]
    payment_intent_id: Id


class SettleResponseDocument(Document, frozen=True, kw_only=True, rename="camel"):
    success: bool
    transaction: str
    network: str
    error_reason: str | UnsetType = UNSET
    error_message: str | UnsetType = UNSET
    payer: str | UnsetType = UNSET
    amount: str | UnsetType = UNSET
    extra: SettleResponseExtra | UnsetType = UNSET


def network_of(asset: Asset) -> str:
    """The chain as CAIP-2 names it."""
    return f"eip155:{asset.chain.chain_id}"


def requirements_document(offer: Offer) -> PaymentRequirementsDocument:
    asset = offer.asset
    return PaymentRequirementsDocument(
        scheme=SCHEME,
        network=network_of(asset),
        amount=str(offer.signed_atomic),
        asset=shown_address(str(asset.contract_address)),
        pay_to=shown_address(offer.pay_to),
        max_timeout_seconds=offer.timeout_seconds,
        extra=PaymentRequirementsExtra(
            name=asset.eip712_name,
            version=asset.eip712_version,
            asset_transfer_method=PERMIT if permits.is_for(asset) else METHOD,
            payment_intent_id=str(offer.payment_id),
            reference=offer.reference,
            resource=offer.resource,
            offer=offer.seal or UNSET,
        ),
    )


def payment_required_document(
    offers: Sequence[Offer], error: str | UnsetType = UNSET
) -> PaymentRequiredDocument:
    """Of one payment's offers, at least one."""
    first = offers[0]
    return PaymentRequiredDocument(
        x402_version=VERSION,
        error=error,
        resource=ResourceDocument(
            url=first.resource,
            description=first.description or UNSET,
            mime_type=first.mime_type or UNSET,
        ),
        accepts=[requirements_document(offer) for offer in offers],
    )


def supported_document(
    assets: Sequence[Asset], minimums: Mapping[str, int], signers: Sequence[str]
) -> SupportedResponseDocument:
    tokens: dict[str, list[SignableToken]] = {}
    for asset in assets:
        tokens.setdefault(network_of(asset), []).append(_token(asset, minimums[asset.pk]))
    return SupportedResponseDocument(
        kinds=[
            SupportedKindDocument(
                x402_version=VERSION,
                scheme=SCHEME,
                network=network,
                extra=SupportedKindExtra(assets=assets),
            )
            for network, assets in tokens.items()
        ],
        extensions=[],
        signers={"eip155:*": [shown_address(signer) for signer in signers]},
    )


def _token(asset: Asset, minimum_atomic: int) -> SignableToken:
    return SignableToken(
        asset_id=asset.pk,
        asset=shown_address(str(asset.contract_address)),
        decimals=asset.atomic_decimals,
        name=asset.eip712_name,
        version=asset.eip712_version,
        min_amount=str(minimum_atomic),
    )


def verified_document(payer: str, reason: str = "", text: str = "") -> VerifyResponseDocument:
    """Without a reason it is valid."""
    return VerifyResponseDocument(
        is_valid=not reason,
        invalid_reason=reason or UNSET,
        invalid_message=text if reason else UNSET,
        payer=_payer(payer),
    )


def settled_document(
    network: str, payer: str, signed: SignedPayment | None, reason: str = "", text: str = ""
) -> SettleResponseDocument:
    """Without a reason it is a success."""
    return SettleResponseDocument(
        success=not reason,
        transaction=signed.tx_hash if signed else "",
        network=network,
        error_reason=reason or UNSET,
        error_message=text if reason else UNSET,
        payer=_payer(payer),
        amount=UNSET if signed is None else str(signed.amount_atomic),
        extra=UNSET if signed is None else _extra(signed),
    )


def _payer(address: str) -> str | UnsetType:
    return shown_address(address) if address else UNSET


def _extra(signed: SignedPayment) -> SettleResponseExtra:
    return SettleResponseExtra(
        settlement_id=str(signed.pk),
        state=signed.status,
        payment_intent_id=str(signed.offer.payment_id),
    )
