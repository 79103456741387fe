"""Payments that customers sign on the checkout: their wallet needs no coin for gas, and the service
carries out what they signed (EIP-3009), as over x402.

The store's rule says whether this is offered, and who bears the gas. The coins arrive at the
payment's own address and are booked as any deposit.
"""

from dataclasses import dataclass

from apps.access.access import Access
from apps.agents.models import AgentSettings, CheckoutSignatures, SignedPayment
from apps.agents.offers import Offer
from apps.agents.requests.x402 import SignedPaymentRequest
from apps.agents.services import x402_settle
from apps.agents.services.x402_offers import payment_offers
from apps.agents.services.x402_tokens import is_simulated, signable
from apps.agents.services.x402_verify import X402Refused
from apps.assets.models import Asset
from apps.chain.networks.families import addresses_of, shown_address
from apps.chain.sending.authorizations import MEMBERS, unused_number
from apps.core import clock
from apps.core.errors import Failure
from apps.payments.models import Payment
from apps.stores.models import Store
from apps.stores.services import change_store

# Time for a person to read what the wallet shows.
SIGNED_WITHIN_SECONDS = 900
_DOMAIN = ("name:string", "version:string", "chainId:uint256", "verifyingContract:address")
_Status = SignedPayment.Status


@dataclass(frozen=True)
class ToSign:
    """An offer, and what a wallet is asked to sign for it (`eth_signTypedData_v4`)."""

    offer: Offer
    typed_data: dict[str, object]


def are_taken(store: Store) -> bool:
    """Tell whether the store's rule lets customers pay so."""
    return AgentSettings.of(store).checkout_signatures != CheckoutSignatures.OFF


def is_for_wallets(asset: Asset) -> bool:
    """Tell whether a wallet can sign transfers of this coin on a chain; what the moment says is
    found when somebody wants to."""
    token = signable(asset)
    return token is not None and not is_simulated(token)


def to_sign(payment: Payment, asset_id: str, payer: str) -> ToSign | None:
    """The data that this payer may sign now; None when the payment can't be paid so. Not inside a
    transaction: the price of gas may be asked."""
    offer = next((one for one in payment_offers(payment) if one.asset.pk == asset_id), None)
    if offer is None or not is_for_wallets(offer.asset) or not are_taken(payment.store):
        return None
    address = addresses_of(offer.asset.chain).read(payer)
    return None if address is None else ToSign(offer, _typed_data(offer, address))


def _typed_data(offer: Offer, payer: str) -> dict[str, object]:
    asset = offer.asset
    ends_at = int(clock.real_now().timestamp()) + SIGNED_WITHIN_SECONDS
    message = {
        "from": shown_address(payer),
        "to": shown_address(offer.pay_to),
        "value": str(offer.amount_atomic),
        "validAfter": "0",
        "validBefore": str(ends_at),
        "nonce": unused_number(),
    }
    return {
        "types": {"EIP712Domain": _fields(_DOMAIN), "TransferWithAuthorization": _fields(MEMBERS)},
        "primaryType": "TransferWithAuthorization",
        "domain": {
            "name": asset.eip712_name,
            "version": asset.eip712_version,
            "chainId": asset.chain.chain_id,
            "verifyingContract": shown_address(str(asset.contract_address)),
        },
        "message": message,
    }


def _fields(members: tuple[str, ...]) -> list[dict[str, str]]:
    return [dict(zip(("name", "type"), member.split(":"), strict=True)) for member in members]


class UnknownRule(Failure):
    message = "There is no such rule for signatures"


def set_rule(store: Store, rule: str) -> None:
    """Set who bears the gas of what customers sign at the checkout, or switch it off. Raises
    UnknownRule."""
    if rule not in CheckoutSignatures.values:
        raise UnknownRule(field="checkout_signatures")
    change_store(store, checkout_signatures=rule)


def carry_out(payment: Payment, request: SignedPaymentRequest) -> SignedPayment:
    """The signed payment, which is carried out once however often it is sent. Not inside a
    transaction. Raises X402Refused."""
    if not are_taken(payment.store):
        raise X402Refused(x402_settle.FAILED, "The store takes no signatures at the checkout")
    return x402_settle.begin(Access.for_public(payment.store, payment.mode), request)


def newest(payment: Payment) -> SignedPayment | None:
    """The last one that somebody signed on the payment's page."""
    rows = SignedPayment.objects.filter(offer__payment=payment, is_of_checkout=True)
    return rows.order_by("-created_at", "-pk").first()


def is_under_way(signed: SignedPayment) -> bool:
    """Tell whether its end isn't known yet."""
    return signed.status in (_Status.VERIFIED, _Status.SUBMITTED, _Status.UNKNOWN)
