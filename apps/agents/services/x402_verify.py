"""Decides whether a signed payment may be carried out: reads it literally, compares it with the
offer, recovers the signer, and asks the chain.

A refusal carries one of the protocol's own reasons. Nothing is written here.
"""

import re
from contextlib import closing
from dataclasses import dataclass, replace

from apps.access.access import Access
from apps.agents.models import SIGNATURE_BYTES_MAX, SignedPayment
from apps.agents.offers import Offer
from apps.agents.requests.x402 import (
    METHOD,
    PERMIT,
    SCHEME,
    VERSION,
    CheckoutPaymentPayload,
    PaymentPayload,
    PaymentRequirements,
    SignedPaymentRequest,
)
from apps.agents.services.checkout_surcharges import Surcharge
from apps.agents.services.x402_offers import has_received, offer_at
from apps.agents.services.x402_tokens import is_simulated, signable, signable_at_checkout
from apps.assets.models import Asset
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.sending import authorizations, carried_out, costs, permits
from apps.chain.sending.authorizations import Authorization
from apps.chain.sending.permits import Permit
from apps.core import clock
from apps.core.models import Mode
from apps.payments.states import CLOSED, PENDING

# An authorization that ends sooner than this could not be mined in time.
LEAST_SECONDS_LEFT = 6
INVALID_VERSION = "invalid_x402_version"
OLD_VERSION = (
    "x402Version must be 2. Clients of version 1, such as x402-fetch and x402-axios, can't pay"
    " here: use @x402/fetch or @x402/axios (npm), or x402 2 (PyPI)"
)
UNSUPPORTED_SCHEME = "unsupported_scheme"
INVALID_NETWORK = "invalid_network"
INVALID_PAYLOAD = "invalid_payload"
INVALID_REQUIREMENTS = "invalid_payment_requirements"
RECIPIENT_MISMATCH = "invalid_exact_evm_payload_recipient_mismatch"
WRONG_VALUE = "invalid_exact_evm_payload_authorization_value"
NOT_YET_VALID = "invalid_exact_evm_payload_authorization_valid_after"
EXPIRED = "invalid_exact_evm_payload_authorization_valid_before"
WRONG_SIGNATURE = "invalid_exact_evm_payload_signature"
NONCE_USED = "invalid_exact_evm_nonce_already_used"
INSUFFICIENT_FUNDS = "insufficient_funds"
INVALID_STATE = "invalid_transaction_state"
DUPLICATE = "duplicate_settlement"
NOT_ALLOWED = "permit2_allowance_required"
WRONG_SPENDER = "invalid_permit2_spender"
SIMULATION_FAILED = "invalid_exact_evm_payload_transaction_simulation_failed"
CHAIN_NOT_ASKED = "unexpected_verify_error"
# Anyone who uses it before its time, or pays an offer that is paid already, has no coins there.
_NOT_LOOKED_UP = (DUPLICATE, NOT_YET_VALID, CHAIN_NOT_ASKED)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_NONCE = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
# Of an account 65 bytes; contracts have signatures of their own forms.
_SIGNATURE = re.compile(rf"0x(?:[0-9a-fA-F]{{2}}){{1,{SIGNATURE_BYTES_MAX}}}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,78}", re.ASCII)
_NETWORK = re.compile(r"eip155:([0-9]{1,18})", re.ASCII)


class X402Refused(Exception):
    """`reason` is the protocol's word for it; `payer` is empty while it isn't known."""

    def __init__(self, reason: str, text: str, payer: str = "") -> None:
        self.reason = reason
        self.text = text
        self.payer = payer
        super().__init__(f"{reason}: {text}")


@dataclass(frozen=True)
class CheckedPayment:
    """A payment whose signature fits one of the store's offers, of which there may be no row
    yet."""

    access: Access
    offer: Offer
    asset: Asset
    authorization: Authorization


def verify(access: Access, request: SignedPaymentRequest) -> CheckedPayment:
    """The payment, when it could be carried out now, or when somebody else has done so and nobody
    has heard yet. Raises X402Refused."""
    checked = check(access, request)
    try:
        refuse_used(checked)
        check_now(checked)
    except X402Refused as refusal:
        if known(checked) is not None or not paid_elsewhere(checked, refusal):
            raise
    return checked


def check(
    access: Access, request: SignedPaymentRequest, surcharge: Surcharge | None = None
) -> CheckedPayment:
    """Checks everything that needs no clock or other payments; the chain is asked of a payer that
    is a contract. Not inside a transaction. Raises X402Refused."""
    payload, required = _objects(request)
    asset = _asset(access, required, payload)
    authorization = _permit(asset, payload) if permits.is_for(asset) else _authorization(payload)
    offer = _offer(access, asset, payload, required, authorization, surcharge)
    if authorization.amount_atomic != offer.signed_atomic:
        raise X402Refused(
            WRONG_VALUE, "The authorization is for another amount", authorization.payer
        )
    if not _is_signed(asset, authorization):
        raise X402Refused(WRONG_SIGNATURE, "The signature is not the payer's", authorization.payer)
    return CheckedPayment(access, offer, asset, authorization)


def _is_signed(asset: Asset, authorization: Authorization) -> bool:
    """Raises X402Refused when nobody can say."""
    if authorizations.is_signed_by_payer(asset, authorization):
        return True
    if is_simulated(asset):
        return False
    try:
        with closing(nodes_of(asset.chain)) as nodes:
            return authorizations.is_signed_by_contract(asset, authorization, nodes)
    except RpcError as error:
        raise X402Refused(
            CHAIN_NOT_ASKED, "The chain can't be asked at the moment", authorization.payer
        ) from error


def _objects(request: SignedPaymentRequest) -> tuple[PaymentPayload, PaymentRequirements]:
    """The signed payload and the requirements it must meet."""
    payload = request.payment_payload
    required = request.payment_requirements
    if payload is None:
        raise X402Refused(INVALID_PAYLOAD, "paymentPayload must be an object")
    if required is None:
        raise X402Refused(INVALID_REQUIREMENTS, "paymentRequirements must be an object")
    if payload.x402_version != VERSION or request.x402_version != VERSION:
        raise X402Refused(INVALID_VERSION, OLD_VERSION)
    accepted = payload.accepted
    if accepted is None:
        raise X402Refused(INVALID_PAYLOAD, "accepted must be an object")
    if required.scheme != SCHEME or accepted.scheme != SCHEME:
        raise X402Refused(UNSUPPORTED_SCHEME, f"scheme must be {SCHEME}")
    if accepted.network != required.network:
        raise X402Refused(INVALID_NETWORK, "The payer chose another network")
    return payload, required


def _asset(access: Access, required: PaymentRequirements, payload: PaymentPayload) -> Asset:
    """The token that the requirements name, on a chain of the caller's mode."""
    is_of_checkout = isinstance(payload, CheckoutPaymentPayload)
    token_of = signable_at_checkout if is_of_checkout else signable
    chain_id = _NETWORK.fullmatch(required.network or "")
    rows = Asset.objects.filter(is_active=True, chain__mode=access.mode).select_related("chain")
    rows = rows.filter(chain__chain_id=int(chain_id[1])) if chain_id else rows.none()
    tokens = {token.contract_address: token for token in map(token_of, rows) if token is not None}
    if not tokens:
        raise X402Refused(INVALID_NETWORK, "The network is not supported")
    asset = tokens.get((required.asset or "").lower())
    if asset is None:
        raise X402Refused(INVALID_REQUIREMENTS, "The asset is not supported")
    method = PERMIT if permits.is_for(asset) else METHOD
    if required.extra is not None and required.extra.asset_transfer_method != method:
        raise X402Refused(UNSUPPORTED_SCHEME, f"assetTransferMethod must be {method}")
    return asset


def _authorization(payload: PaymentPayload) -> Authorization:
    exact = payload.payload
    if exact is None or exact.authorization is None:
        raise X402Refused(INVALID_PAYLOAD, "payload must hold an authorization")
    signed = exact.authorization
    return Authorization(
        payer=_text(signed.payer, "from", _ADDRESS),
        to=_text(signed.to, "to", _ADDRESS),
        amount_atomic=_number(signed.value, "value"),
        valid_after=_number(signed.valid_after, "validAfter"),
        valid_before=_number(signed.valid_before, "validBefore"),
        nonce=_text(signed.nonce, "nonce", _NONCE),
        signature=_text(exact.signature, "signature", _SIGNATURE, WRONG_SIGNATURE),
    )


def _permit(asset: Asset, payload: PaymentPayload) -> Authorization:
    exact = payload.payload if isinstance(payload, CheckoutPaymentPayload) else None
    signed = None if exact is None else exact.permit
    if exact is None or signed is None:
        raise X402Refused(INVALID_PAYLOAD, "payload must hold a permit2Authorization")
    permitted, witness = signed.permitted, signed.witness
    if permitted is None or witness is None:
        raise X402Refused(INVALID_PAYLOAD, "permitted and witness must be objects")
    payer = _text(signed.payer, "from", _ADDRESS)
    spender = _text(signed.spender, "spender", _ADDRESS)
    if spender != permits.carrier(asset.chain_id):
        raise X402Refused(WRONG_SPENDER, "The permit is for another spender", payer)
    if _text(permitted.token, "token", _ADDRESS) != asset.contract_address:
        raise X402Refused(INVALID_PAYLOAD, "The permit is for another token", payer)
    if _number(witness.valid_after, "validAfter"):
        raise X402Refused(NOT_YET_VALID, "validAfter must be 0", payer)
    return Authorization(
        payer=payer,
        to=_text(witness.to, "to", _ADDRESS),
        amount_atomic=_number(permitted.amount, "amount"),
        valid_after=0,
        valid_before=_number(signed.deadline, "deadline"),
        nonce=f"0x{_number(signed.nonce, 'nonce'):064x}",
        signature=_text(exact.signature, "signature", _SIGNATURE, WRONG_SIGNATURE),
        permit=Permit(str(asset.contract_address), spender),
    )


def _text(
    value: str | None, name: str, pattern: re.Pattern[str], reason: str = INVALID_PAYLOAD
) -> str:
    if value is None or not pattern.fullmatch(value):
        raise X402Refused(reason, f"{name} can't be read")
    return value.lower()


def _number(value: str | None, name: str) -> int:
    number = int(_text(value, name, _NUMBER))
    if number >= 2**256:
        raise X402Refused(INVALID_PAYLOAD, f"{name} is too large")
    return number


def _offer(
    access: Access,
    asset: Asset,
    payload: PaymentPayload,
    required: PaymentRequirements,
    authorization: Authorization,
    surcharge: Surcharge | None,
) -> Offer:
    """The store's own offer at the address that the requirements and the payer name."""
    pay_to = required.pay_to or ""
    if not _ADDRESS.fullmatch(pay_to) or pay_to.lower() != authorization.to:
        raise X402Refused(
            RECIPIENT_MISMATCH, "The authorization is for another recipient", authorization.payer
        )
    extras = [side.extra for side in (payload.accepted, required) if side and side.extra]
    seals = [extra.offer for extra in extras]
    offer = offer_at(access, authorization.to, asset, seals)
    if offer is None:
        text = "No payment is asked for at this address"
        if not any(seals):
            text += ", and extra.offer of what was asked for isn't there"
        raise X402Refused(RECIPIENT_MISMATCH, text, authorization.payer)
    named = (offer.payment_id, asset.pk)
    if surcharge is not None and named == (surcharge.payment_id, surcharge.asset_id):
        offer = replace(offer, surcharge_atomic=surcharge.atomic)
    if required.amount != str(offer.signed_atomic):
        raise X402Refused(
            INVALID_REQUIREMENTS, "The amount is not what was asked for", authorization.payer
        )
    # The price of one thing isn't that of another.
    if not {extra.resource for extra in extras} <= {None, offer.resource}:
        raise X402Refused(
            INVALID_REQUIREMENTS, "What was asked for is another resource", authorization.payer
        )
    return offer


def known(checked: CheckedPayment) -> SignedPayment | None:
    """The existing payment of this authorization, of any caller."""
    return SignedPayment.objects.filter(
        chain=checked.asset.chain_id,
        contract_address=authorizations.contract_of(checked.asset, checked.authorization),
        payer=checked.authorization.payer,
        nonce=checked.authorization.nonce,
    ).first()


def refuse_used(checked: CheckedPayment) -> None:
    """Raises X402Refused for a replay, for a second payment of one offer, and for an intent that
    can't be paid any more."""
    payer = checked.authorization.payer
    offer = checked.offer
    if known(checked) is not None:
        raise X402Refused(NONCE_USED, "The authorization was used before", payer)
    if (
        offer.recorded is not None
        and SignedPayment.objects.filter(offer=offer.recorded)
        .exclude(status=SignedPayment.Status.FAILED)
        .exists()
    ):
        raise X402Refused(DUPLICATE, "Another authorization pays this already", payer)
    if _has_expired(checked):
        raise X402Refused(INVALID_STATE, "The payment is expired", payer)
    if offer.payment is not None and offer.payment.status != PENDING:
        raise X402Refused(INVALID_STATE, f"The payment is {offer.payment.status}", payer)
    if offer.recorded is None and offer.payment is not None and has_received(offer.payment):
        raise X402Refused(INVALID_STATE, "Something was paid already by other means", payer)


def _has_expired(checked: CheckedPayment) -> bool:
    at = checked.access.now()
    if checked.offer.payment is not None:
        return checked.offer.payment.status == PENDING and checked.offer.payment.deadline <= at
    terms = checked.offer.terms
    return terms is not None and terms.expires_at <= at.timestamp()


def check_now(checked: CheckedPayment) -> None:
    """Raises X402Refused when the token would not carry it out at this moment, or can't be asked.
    Not inside a transaction."""
    asset = checked.asset
    authorization = checked.authorization
    seconds = clock.real_now().timestamp()
    if authorization.valid_after > seconds:
        raise X402Refused(NOT_YET_VALID, "The authorization is not valid yet", authorization.payer)
    if authorization.valid_before < seconds + LEAST_SECONDS_LEFT:
        raise X402Refused(
            EXPIRED, "The authorization has ended, or ends too soon", authorization.payer
        )
    if is_simulated(asset):
        return
    if asset.mode == Mode.LIVE and authorization.amount_atomic < (costs.fee(asset) or 0):
        raise X402Refused(
            WRONG_VALUE,
            "The amount is less than the network asks for carrying it out",
            authorization.payer,
        )
    try:
        with closing(nodes_of(asset.chain)) as nodes:
            if authorizations.is_used(asset, authorization, nodes):
                raise X402Refused(
                    NONCE_USED, "The token has seen this authorization", authorization.payer
                )
            if not authorizations.is_covered(asset, authorization, nodes):
                raise X402Refused(
                    INSUFFICIENT_FUNDS, "The payer holds less than the amount", authorization.payer
                )
            if not authorizations.is_allowed(asset, authorization, nodes):
                raise X402Refused(
                    NOT_ALLOWED, "Permit2 may take less than the amount", authorization.payer
                )
            if not authorizations.would_pass(asset, authorization, nodes):
                raise X402Refused(
                    SIMULATION_FAILED, "The token would not carry it out", authorization.payer
                )
    except RpcError as error:
        raise X402Refused(
            CHAIN_NOT_ASKED, "The chain can't be asked at the moment", authorization.payer
        ) from error


def paid_elsewhere(checked: CheckedPayment, refusal: X402Refused) -> str:
    """The hash of a transaction of somebody else that has carried it out, which is why it can't be
    carried out now; empty when there is none. Anybody may submit an authorization, and its coins
    come to the offer's own address all the same. Not inside a transaction. Raises
    X402Refused when the chain can't be asked."""
    payment = checked.offer.payment
    if (
        refusal.reason in _NOT_LOOKED_UP
        or is_simulated(checked.asset)
        or (payment is not None and payment.status in CLOSED)
    ):
        return ""
    try:
        with closing(nodes_of(checked.asset.chain)) as nodes:
            back = carried_out.OVERLAP if payment is not None else carried_out.UNRECORDED
            return carried_out.transaction_of(checked.asset, checked.authorization, nodes, back)
    except RpcError as error:
        raise X402Refused(
            CHAIN_NOT_ASKED, "The chain can't be asked at the moment", refusal.payer
        ) from error
