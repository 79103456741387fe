"""The till: a payment for somebody who stands at the counter, with a tip if they give one, and what
the store's till offers."""

from django.db import transaction

from apps.access.access import Access
from apps.core.money import BASIS_POINTS, Bps, text_from_cents
from apps.links.models import Till
from apps.links.requests import SaleRequest, TillRequest, smallest_cents
from apps.links.selectors import POINT_OF_SALE, SALE_KEY
from apps.payments.models import Payment
from apps.payments.requests import LineItem, PaymentRequest
from apps.payments.services.create import create_payment
from apps.stores import audit

SALE = "Sale"
TIP = "Tip"
# Somebody is waiting at the counter, and the rate is the store's risk.
EXPIRES_IN = 900


def tip_cents(amount_cents: int, share_bps: Bps, currency: str) -> int:
    """A share of an amount, rounded half up to the currency's smallest unit."""
    step = smallest_cents(currency)
    return (2 * amount_cents * share_bps + BASIS_POINTS * step) // (2 * BASIS_POINTS * step) * step


def start_sale(access: Access, request: SaleRequest) -> Payment:
    """The payment of this form, made once. Raises Invalid, or what creating a payment raises."""
    request.check()
    lines = [
        LineItem(
            description=request.note or SALE, quantity=1, unit_amount_cents=request.amount_cents
        )
    ]
    metadata = {"source": POINT_OF_SALE}
    if request.tip_cents:
        lines.append(LineItem(description=TIP, quantity=1, unit_amount_cents=request.tip_cents))
        metadata["tip"] = text_from_cents(request.tip_cents)
    order = PaymentRequest(
        amount=text_from_cents(request.amount_cents + request.tip_cents),
        currency=request.currency,
        title=request.note or None,
        expires_in=EXPIRES_IN,
        metadata=metadata,
        line_items=lines,
    )
    payment, _ = create_payment(access, order, f"{SALE_KEY}{request.form_key}")
    return payment


@transaction.atomic
def change_till(access: Access, request: TillRequest) -> Till:
    """Raises Invalid."""
    request.check()
    fields = {
        "currency": request.currency,
        "tip_bps": sorted(set(request.tip_bps)),
        "updated_at": access.now(),
    }
    till, _ = Till.objects.update_or_create(store=access.store, defaults=fields)
    audit.record(
        "till.changed",
        store=access.store_id,
        mode=access.mode,
        target=till,
        details={"tip_bps": fields["tip_bps"]},
    )
    return till
