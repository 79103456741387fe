"""Signatures of a customer's wallet on the checkout: the service carries them out, and the wallet
needs no coin for gas.

The page's script alone comes here. The link is the only key, and what was signed moves coins to
this payment's own address, no matter who sends it.
"""

import json
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from msgspec import to_builtins

from apps.agents.documents.x402 import requirements_document
from apps.agents.models import SignedPayment
from apps.agents.offers import Offer
from apps.agents.requests.x402 import CheckoutPaymentRequest
from apps.agents.services import checkout_signatures, x402_verify
from apps.agents.services.x402_verify import X402Refused
from apps.assets.models import Asset
from apps.core.money import decimal_from_atomic
from apps.core.templatetags.tillgate import decimal_mark
from apps.hosted import plumbing
from apps.hosted.plumbing import Context, public_page, refused_if_too_often
from apps.payments.models import Payment
from apps.payments.selectors import Received, addresses_of

BODY_MAX = 16_384
# Of a page where nothing is signed.
NOTHING: Context = {"signature": None, "signature_path": "", "signature_promise": ""}
# What the page says of a refusal, by the protocol's reason; everything else has one sentence.
_WORDS = {
    x402_verify.INSUFFICIENT_FUNDS: "funds",
    x402_verify.INVALID_REQUIREMENTS: "changed",
    x402_verify.RECIPIENT_MISMATCH: "changed",
    x402_verify.WRONG_VALUE: "changed",
    x402_verify.INVALID_STATE: "ended",
    x402_verify.EXPIRED: "ended",
    x402_verify.DUPLICATE: "twice",
    x402_verify.NOT_ALLOWED: "unsigned",  # the page's script sends a transaction instead
}


@csrf_exempt
@require_http_methods(["GET", "POST"])
@public_page("checkout")
def sign(request: HttpRequest, reference: str) -> HttpResponse:
    """GET with `asset` and `payer`: the typed data, with what it costs beside the price where the
    customer bears that, or 409 when the payment can't be paid so now.
    POST of a signed x402 payment: its status, or 422 with the word for what was wrong."""
    payment = plumbing.payment_of(reference)
    refused = refused_if_too_often(request, reference, [("x402_signatures", False)])
    if refused is not None:
        return refused
    return _asked(request, payment) if request.method == "GET" else _sent(request, payment)


def _asked(request: HttpRequest, payment: Payment) -> HttpResponse:
    asked = checkout_signatures.to_sign(
        payment, request.GET.get("asset", ""), request.GET.get("payer", "")
    )
    if asked is None:
        return JsonResponse({"error": "unavailable"}, status=409)
    requirements = to_builtins(requirements_document(asked.offer))
    answer = {"typedData": asked.typed_data, "requirements": requirements}
    cost = {"cost": _cost(asked.offer)} if asked.offer.surcharge_atomic else {}
    return JsonResponse(answer | cost)


def _cost(offer: Offer) -> dict[str, str]:
    """The cost that is shown before somebody signs more than the price."""
    amounts = {
        "price": offer.amount_atomic,
        "fee": offer.surcharge_atomic,
        "total": offer.signed_atomic,
    }
    decimals, symbol = offer.asset.atomic_decimals, offer.asset.coin_symbol
    return {
        name: f"{decimal_mark(decimal_from_atomic(atomic, decimals))} {symbol}"
        for name, atomic in amounts.items()
    }


def _sent(request: HttpRequest, payment: Payment) -> HttpResponse:
    signed = _read(request)
    named = (signed and signed.payment_requirements and signed.payment_requirements.pay_to) or ""
    own = {entry.address_id for entry in addresses_of(payment)}
    if signed is None or named.lower() not in own:
        return _refused("failed")
    try:
        row = checkout_signatures.carry_out(payment, signed)
    except X402Refused as refusal:
        return _refused(_WORDS.get(refusal.reason, "failed"))
    if row.status == SignedPayment.Status.FAILED:
        return _refused("reverted")
    return JsonResponse({"status": row.status, "id": str(row.pk)})


def _refused(word: str) -> HttpResponse:
    return JsonResponse({"error": word}, status=422)


def _read(request: HttpRequest) -> CheckoutPaymentRequest | None:
    if len(request.body) > BODY_MAX:
        return None
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        return None
    return CheckoutPaymentRequest.read(body) if isinstance(body, dict) else None


@dataclass(frozen=True)
class Signature:
    """The last signature on the page: under way, or failed; its state as the page's script reads
    it."""

    is_under_way: bool
    has_failed: bool
    state: str


def signature_of(payment: Payment) -> Signature | None:
    """None when there is none, or it has become a payment."""
    row = checkout_signatures.newest(payment)
    if row is None or row.status == SignedPayment.Status.SETTLED:
        return None
    is_under_way = checkout_signatures.is_under_way(row)
    has_failed = row.status == SignedPayment.Status.FAILED
    return Signature(is_under_way, has_failed, f"{row.pk} {'failed' if has_failed else 'sent'}")


def part_of(payment: Payment, received: list[Received], asset_id: str | None) -> Context:
    """Of a page on which something is due: what became of a signature, and where one in this coin
    is asked for, if nothing has come yet."""
    can_be_signed = any(checkout_signatures.is_for_wallets(one.address.asset) for one in received)
    if not can_be_signed or not checkout_signatures.are_taken(payment.store):
        return NOTHING
    chosen = next((one.address for one in received if one.address.asset_id == asset_id), None)
    is_offered = (
        chosen is not None
        and chosen.own_wallet_id is None
        and not any(intake.deposits for intake in received)
        and checkout_signatures.is_for_wallets(chosen.asset)
    )
    return {
        "signature": signature_of(payment),
        "signature_path": f"/pay/{payment.reference}/signature?asset={asset_id}"
        if is_offered
        else "",
        "signature_promise": _promise(payment, chosen.asset) if is_offered and chosen else "",
    }


def _promise(payment: Payment, asset: Asset) -> str:
    """The page's statement about cost before it knows the wallet."""
    if checkout_signatures.is_by_permit(asset):
        return ""
    return "on_top" if checkout_signatures.pays_on_top(payment.store) else "free"
