"""The demo's agents: one with a mandate in each state that a merchant meets, and a customer's agent
that pays over x402."""

import secrets

import msgspec

from apps.access.access import ACT, Access
from apps.access.services import authenticate, create_agent_credential
from apps.agents.documents.x402 import requirements_document
from apps.agents.models import AgentSettings, AuthorizationProvider, Mandate
from apps.agents.offers import Offer
from apps.agents.requests.mandates import MandateRequest, SettlementRequest
from apps.agents.requests.x402 import (
    VERSION,
    ExactPayload,
    OfferRequest,
    PaymentPayload,
    PaymentRequirements,
    SignedPaymentRequest,
    TransferAuthorization,
)
from apps.agents.services.mandates import create_mandate, revoke_mandate
from apps.agents.services.settle import create_settlement
from apps.agents.services.x402_offers import make_offer
from apps.agents.services.x402_settle import settle
from apps.chain.keys.secp256k1 import SigningKey
from apps.chain.sending.authorizations import Authorization, digest
from apps.core import clock
from apps.core.process.published_secrets import CHAIN_KEYS
from apps.stores.models import Store, User
from apps.stores.services import change_store

COIN = "SETH"
DOLLARS = "ETH_USDC"
GWEI = 10**9
CALL_GWEI = 1_000
# (reference, cap in calls, calls drawn, seconds until it ends)
MANDATES = (
    ("market research", 20, 3, 30 * 86400),
    ("translation", 2, 2, 30 * 86400),
    ("image search", 10, 1, 86400),
    ("trial", 5, 0, 60),
)
REVOKED = "image search"
PRICE_ATOMIC = "2500000"
RESOURCE = "https://coffee.example/api/harvest-report"
TITLE = "Harvest report, read by an agent"


def seed_mandates(store: Store, merchant: User) -> None:
    """Once, in a store that has no mandates yet. They need a provider, which the store has while it
    is seeded."""
    if Mandate.objects.visible_to(Access.for_session(merchant, store, "test", proof=ACT)).exists():
        return
    provider = AgentSettings.of(store).authorization_provider
    change_store(store, authorization_provider=AuthorizationProvider.POLICY)
    _, secret = create_agent_credential(store, "test", name="Research agent")
    access = authenticate(secret, for_agents=True)
    for ref, calls, drawn, seconds in MANDATES:
        envelope = MandateRequest(
            mandate_ref=ref,
            asset_id=COIN,
            total_cap_atomic=calls * CALL_GWEI * GWEI,
            per_call_cap_atomic=CALL_GWEI * GWEI,
            expires_in_seconds=seconds,
        )
        mandate, _ = create_mandate(access, envelope, None)
        for call in range(drawn):
            draw = SettlementRequest(asset_id=COIN, mandate_ref=ref, amount_atomic=CALL_GWEI * GWEI)
            create_settlement(access, draw, f"demo: {ref} {call}")
        if ref == REVOKED:
            revoke_mandate(mandate)
    change_store(store, authorization_provider=provider)


def pay_over_x402(
    store: Store, merchant: User, asset_id: str = DOLLARS, mode: str = "live"
) -> None:
    """A report that a customer's agent pays with a signature, once."""
    access = Access.for_session(merchant, store, mode, proof=ACT)
    order = OfferRequest(
        asset_id=asset_id,
        amount_atomic=PRICE_ATOMIC,
        resource=RESOURCE,
        description=TITLE,
        mime_type="text/csv",
    )
    offer, is_new = make_offer(access, order, "demo: harvest report")
    if is_new:
        settle(access, _signed(offer))


def _signed(offer: Offer) -> SignedPaymentRequest:
    """Settlement request as the protocol's client sends it."""
    key = SigningKey(bytes.fromhex(CHAIN_KEYS["customer"][2:]))
    now = int(clock.real_now().timestamp())
    unsigned = Authorization(
        payer=key.address,
        to=offer.pay_to,
        amount_atomic=offer.amount_atomic,
        valid_after=now - 600,
        valid_before=now + offer.timeout_seconds,
        nonce="0x" + secrets.token_hex(32),
        signature="",
    )
    signature = "0x" + key.signature(digest(offer.asset, unsigned)).hex()
    authorization = TransferAuthorization(
        payer=unsigned.payer,
        to=unsigned.to,
        value=str(unsigned.amount_atomic),
        valid_after=str(unsigned.valid_after),
        valid_before=str(unsigned.valid_before),
        nonce=unsigned.nonce,
    )
    required = PaymentRequirements.read(msgspec.to_builtins(requirements_document(offer)))
    payload = ExactPayload(signature=signature, authorization=authorization)
    return SignedPaymentRequest(
        payment_payload=PaymentPayload(x402_version=VERSION, accepted=required, payload=payload),
        payment_requirements=required,
    )
