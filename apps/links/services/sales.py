"""A sale at the till: recorded once under the key of its device, paid by one payment, which is made
when the customer has been asked for a tip.

Anyone who sends the same sale again gets the same payment. A sale that was canceled before it came
makes none any more.
"""

import secrets
import string
from collections.abc import Sequence
from dataclasses import asdict

from django.db import transaction
from django.db.models import QuerySet

from apps.access.access import Access
from apps.core import clock
from apps.core.errors import Failure, RefusalKind
from apps.core.idempotency import once_per_form
from apps.core.ids import led_by_shard
from apps.core.money import text_from_cents
from apps.links.models import TOKEN_LENGTH, Sale
from apps.links.sale_documents import is_open
from apps.links.till_requests import SaleLine, SaleRequest, check_key, check_tip
from apps.links.till_selectors import POINT_OF_SALE, SALE_KEY
from apps.payments.models import Payment
from apps.payments.requests import LineItem, PaymentRequest
from apps.payments.selectors import renewed_as
from apps.payments.services.cancel import cancel_for_merchant
from apps.payments.services.create import create_payment
from apps.payments.services.expire import expire_if_due
from apps.payments.services.renew import renew_payment

SALE = "Sale"
TIP = "Tip"
# Somebody is waiting at the counter, and the rate is the store's risk.
EXPIRES_IN = 900
_LETTERS = string.digits + string.ascii_lowercase


class SaleDiffers(Failure):
    kind = RefusalKind.CONFLICT
    code = "sale_differs"
    message = (
        "This sale was charged already, with other contents. See Last sales before you charge"
        " it again"
    )


class PricesChanged(Failure):
    kind = RefusalKind.CONFLICT
    code = "prices_changed"
    message = "Prices have changed; check the sale and charge it again"


class SaleEnded(Failure):
    code = "sale_ended"
    message = "This sale was canceled or has expired"


def start_sale(access: Access, request: SaleRequest) -> Sale:
    """The sale of this key, made once, with its payment when there is nothing to ask the customer.

    Raises Invalid, SaleDiffers, PricesChanged, or what creating a payment raises: then nothing was
    recorded.
    """
    check_key(request.form_key)
    earlier = _earlier(access, request.form_key)
    if earlier is not None:
        return _as_asked(earlier, request)
    request.check()
    is_as_shown = request.expected_cents in (None, request.amount_cents)
    if not is_as_shown or request.expected_currency not in ("", request.currency):
        raise PricesChanged
    with transaction.atomic():
        sale = _recorded(access, request)
        locked = _locked(sale)
        if locked.canceled_at is None and locked.tip_cents is not None:
            _make_payment(access, locked)
    return _as_asked(locked, request)


def answer_tip(access: Access, sale: Sale, tip_cents: int) -> Sale:
    """The sale with its payment. The first answer counts, no matter who gives it. Raises Invalid,
    SaleEnded, or what creating a payment raises."""
    with transaction.atomic():
        locked = _locked(sale)
        if locked.payment_id is not None:
            return locked
        if not is_open(locked, clock.now(locked.store, locked.mode)):
            raise SaleEnded
        locked.tip_cents = check_tip(tip_cents, locked.amount_cents, locked.currency)
        _make_payment(access, locked)
    return locked


def cancel_sale(access: Access, sale: Sale) -> Sale:
    """Nobody can pay it any more. Raises NotCancelable once something has arrived. Not inside a
    transaction: the chains are asked."""
    payment = payment_of(sale)
    if payment is None:
        with transaction.atomic():
            locked = _locked(sale)
            if locked.payment_id is None:
                return _canceled(access, locked)
        payment = payment_of(locked)
    if sale.canceled_at is None and payment is not None:
        cancel_for_merchant(payment)
        with transaction.atomic():
            return _canceled(access, _locked(sale))
    return sale


def discard_sale(access: Access, form_key: str) -> Sale:
    """The sale of this key is canceled, also when it never arrived: should it arrive later, it
    isn't charged. Raises what cancel_sale raises, or Invalid."""
    earlier = _earlier(access, form_key)
    check_key(form_key)

    def make() -> Sale:
        return _new(
            access,
            form_key,
            amount_cents=0,
            currency=access.store.settlement_currency,
            canceled_at=access.now(),
        )

    sale = earlier or once_per_form(_rows(access), form_key, make)
    return sale if sale.canceled_at is not None else cancel_sale(access, sale)


def quote_again(sale: Sale) -> Sale:
    """An expired sale with a payment at the rates of now, made once. Raises NotRenewable, or what
    creating a payment raises. Not inside a transaction: the chains are asked."""
    payment = payment_of(sale)
    if payment is None or sale.canceled_at is not None:
        raise SaleEnded
    _follow(sale, renew_payment(payment))
    return sale


def payment_of(sale: Sale) -> Payment | None:
    """The payment of a sale as it is now; a quote that took its place is kept with the sale."""
    if sale.payment is None:
        return None
    later = renewed_as(sale.payment)
    while later is not None:
        _follow(sale, later)
        later = renewed_as(later)
    return expire_if_due(sale.payment)


def _follow(sale: Sale, payment: Payment) -> None:
    if sale.payment is not None and sale.payment_id != payment.pk:
        Sale.objects.filter(pk=sale.pk, payment=sale.payment).update(payment=payment)
        sale.payment = payment


def _rows(access: Access) -> "QuerySet[Sale]":
    return Sale.objects.visible_to(access)


def _earlier(access: Access, form_key: str) -> Sale | None:
    rows = _rows(access).filter(form_key=form_key)
    sale: Sale | None = rows.select_related("store", "payment__store").first()
    return sale


def _as_asked(sale: Sale, request: SaleRequest) -> Sale:
    """A key is of one sale: what was changed after it was sent isn't charged under it."""
    if sale.canceled_at is None and sale.lines != _stored(request.lines):
        raise SaleDiffers
    return sale


def _recorded(access: Access, request: SaleRequest) -> Sale:
    asks = bool(request.offered_bps) and request.tip_cents is None

    def make() -> Sale:
        return _new(
            access,
            request.form_key,
            amount_cents=request.amount_cents,
            currency=request.currency,
            lines=_stored(request.lines),
            note=request.note,
            till_name=request.till_name,
            offered_bps=list(request.offered_bps),
            tip_cents=None if asks else request.tip_cents or 0,
        )

    return once_per_form(_rows(access), request.form_key, make)


def _new(access: Access, form_key: str, **fields: object) -> Sale:
    token = led_by_shard("".join(secrets.choice(_LETTERS) for _ in range(TOKEN_LENGTH))).lower()
    sale: Sale = Sale.objects.create(
        store=access.store,
        mode=access.mode,
        form_key=form_key,
        token=token,
        created_at=access.now(),
        **fields,
    )
    return sale


def _stored(lines: "Sequence[SaleLine]") -> list[dict[str, object]]:
    return [asdict(line) for line in lines]


def _locked(sale: Sale) -> Sale:
    rows = Sale.objects.select_for_update(of=("self",))
    locked: Sale = rows.select_related("store", "payment__store").get(pk=sale.pk)
    return locked


def _canceled(access: Access, sale: Sale) -> Sale:
    if sale.canceled_at is None:
        sale.canceled_at = access.now()
        sale.save(update_fields=["canceled_at"])
    return sale


def _make_payment(access: Access, sale: Sale) -> None:
    """Of a locked sale, whose tip is known. It has none yet, or keeps the one it has."""
    if sale.payment_id is not None:
        return
    sale.payment, _ = create_payment(access, _order(sale), f"{SALE_KEY}{sale.form_key}")
    sale.save(update_fields=["payment", "tip_cents"])


def _order(sale: Sale) -> PaymentRequest:
    tip = sale.tip_cents or 0
    lines = [
        LineItem(
            description=line["description"],
            quantity=line["quantity"],
            unit_amount_cents=line["unit_amount_cents"],
        )
        for line in sale.lines
    ]
    metadata = {"source": POINT_OF_SALE}
    if sale.till_name:
        metadata["till"] = sale.till_name
    if tip:
        lines.append(LineItem(description=TIP, quantity=1, unit_amount_cents=tip))
        metadata["tip"] = text_from_cents(tip)
    return PaymentRequest(
        amount=text_from_cents(sale.amount_cents + tip),
        currency=sale.currency,
        title=sale.note or None,
        expires_in=EXPIRES_IN,
        metadata=metadata,
        line_items=lines,
    )
