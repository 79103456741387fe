"""Payments that customers sign on the checkout: their wallet needs no coin for gas, and the service
carries out what they signed (EIP-3009), as over x402. Of tokens that know no such signatures they
sign for Permit2, where it may take their coins already.

The store's rule says whether this is offered, and who bears the gas. The coins arrive at the
payment's own address and are booked as any deposit.
"""

from contextlib import closing
from dataclasses import dataclass, replace

from apps.access.access import Access
from apps.agents.models import AgentSettings, CheckoutSignatures, SignedPayment
from apps.agents.offers import Offer
from apps.agents.requests.x402 import CheckoutPaymentRequest
from apps.agents.services import x402_settle
from apps.agents.services.checkout_surcharges import Surcharge, surcharge_of
from apps.agents.services.x402_offers import payment_offers
from apps.agents.services.x402_tokens import is_simulated, signable_at_checkout
from apps.agents.services.x402_verify import INVALID_REQUIREMENTS, X402Refused
from apps.assets.models import Asset
from apps.chain.networks.families import addresses_of, shown_address
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.sending import permits
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


def pays_on_top(store: Store) -> bool:
    """Tell whether the store's customers bear the gas, by what they sign."""
    return AgentSettings.of(store).checkout_signatures == CheckoutSignatures.CUSTOMER


def are_taken(store: Store) -> bool:
    """Tell whether the store's rule lets customers pay so."""
    return AgentSettings.of(store).checkout_signatures != CheckoutSignatures.OFF


def is_for_wallets(asset: Asset) -> bool:
    """Tell whether a wallet can sign transfers of this coin on a chain; what the moment says is
    found when somebody wants to."""
    token = signable_at_checkout(asset)
    return token is not None and not is_simulated(token)


def is_by_permit(asset: Asset) -> bool:
    """Tell whether it is signed for Permit2, which the payer must have allowed to take the coin."""
    return permits.is_for(asset)


def to_sign(payment: Payment, asset_id: str, payer: str) -> ToSign | None:
    """The data that this payer may sign now; None when the payment can't be paid so. Not inside a
    transaction: the chain may be asked."""
    if not are_taken(payment.store):
        return None
    offers = payment_offers(payment, signable_at_checkout)
    offer = next((one for one in offers if one.asset.pk == asset_id), None)
    if offer is None or not is_for_wallets(offer.asset):
        return None
    address = addresses_of(offer.asset.chain).read(payer)
    if address is None:
        return None
    if pays_on_top(payment.store):
        surcharge = surcharge_of(payment, offer)
        if surcharge is None:
            return None
        offer = replace(offer, surcharge_atomic=surcharge.atomic, seal=surcharge.seal())
    if not is_by_permit(offer.asset):
        return ToSign(offer, _typed_data(offer, address))
    spender = permits.carrier(offer.asset.chain_id)
    if not spender or not _may_take(offer, address):
        return None
    return ToSign(offer, _permit(offer, spender))


def _may_take(offer: Offer, payer: str) -> bool:
    """Tell whether Permit2 is there, and may take the amount; False when nobody can say."""
    chain = offer.asset.chain
    try:
        with closing(nodes_of(chain)) as nodes:
            if not permits.is_there(chain.chain_id, nodes):
                return False
            return permits.may_take(offer.asset, payer, nodes) >= offer.signed_atomic
    except RpcError:
        return False


def _ends_at() -> str:
    return str(int(clock.real_now().timestamp()) + SIGNED_WITHIN_SECONDS)


def _typed_data(offer: Offer, payer: str) -> dict[str, object]:
    asset = offer.asset
    message = {
        "from": shown_address(payer),
        "to": shown_address(offer.pay_to),
        "value": str(offer.signed_atomic),
        "validAfter": "0",
        "validBefore": _ends_at(),
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


def _permit(offer: Offer, spender: str) -> dict[str, object]:
    asset = offer.asset
    message = {
        "permitted": {
            "token": shown_address(str(asset.contract_address)),
            "amount": str(offer.signed_atomic),
        },
        "spender": shown_address(spender),
        "nonce": str(int(unused_number(), 16)),
        "deadline": _ends_at(),
        "witness": {"to": shown_address(offer.pay_to), "validAfter": "0"},
    }
    structs = {name: _fields(members) for name, members in permits.STRUCTS.items()}
    return {
        "types": {"EIP712Domain": _fields((_DOMAIN[0], *_DOMAIN[2:])), **structs},
        "primaryType": "PermitWitnessTransferFrom",
        "domain": {
            "name": permits.NAME,
            "chainId": asset.chain.chain_id,
            "verifyingContract": shown_address(permits.PERMIT2),
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


def carry_out(payment: Payment, request: CheckoutPaymentRequest) -> SignedPayment:
    """The signed payment, which is carried out once however often it is sent. Not inside a
    transaction. Raises X402Refused."""
    if not are_taken(payment.store):
        raise X402Refused(x402_settle.FAILED, "The store takes no signatures at the checkout")
    surcharge = Surcharge.unseal(request.seals)
    if surcharge is None and pays_on_top(payment.store):
        raise X402Refused(INVALID_REQUIREMENTS, "What comes on top of the price isn't there")
    access = Access.for_public(payment.store, payment.mode)
    return x402_settle.begin(access, request, surcharge)


def newest(payment: Payment) -> SignedPayment | None:
    """The last one that somebody signed on the payment's page."""
    rows = SignedPayment.objects.filter(offer__payment=payment, is_of_checkout=True)
    return rows.order_by("-created_at", "-pk").first()


def is_under_way(signed: SignedPayment) -> bool:
    """Tell whether its end isn't known yet."""
    return signed.status in (_Status.VERIFIED, _Status.SUBMITTED, _Status.UNKNOWN)
