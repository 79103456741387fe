"""A customer pays at a link: one payment for each form that is sent, and never more than the stock
allows."""

import hashlib
from collections.abc import Callable

from django.db import transaction

from apps.access.access import Access
from apps.core import clock
from apps.core.errors import Failure
from apps.core.money import text_from_cents
from apps.links.documents import OPEN, link_url, state_of
from apps.links.models import LinkPayment, PaymentLink
from apps.links.requests import Purchase
from apps.links.services.stock import locked_link, taken
from apps.payments.models import Payment
from apps.payments.requests import EXPIRES_IN_DEFAULT, PaymentRequest
from apps.payments.services.create import AccountClosed, create_payment
from apps.payments.services.expire import expire_if_due

# How long a piece is held for somebody who hasn't paid yet.
RESERVED_SECONDS = 1800
LINK_ID = "payment_link_id"


class LinkClosed(Failure):
    code = "link_closed"
    message = "This payment link isn't available"


class SoldOut(Failure):
    code = "sold_out"
    message = "This is sold out"


def buy(link: PaymentLink, purchase: Purchase) -> Payment:
    """The payment of this form, which is there already when the form was sent before.

    Raises Invalid, LinkClosed, SoldOut, or what creating a payment raises.
    """
    with transaction.atomic():
        row = locked_link(link.pk)
        cents = purchase.check(row)
        key = _key(row, purchase, cents)
        earlier = _earlier_purchase(row, key)
        if earlier is not None:
            return earlier
        _check_open(row)
        return _make(row, purchase, cents, key)


def claim(link: PaymentLink, purchase: Purchase) -> Callable[[Payment], None]:
    """A piece for a payment that is made by other means, in the caller's transaction: what is
    called with it counts it at the link. Raises LinkClosed or SoldOut."""
    row = locked_link(link.pk)
    _check_open(row)

    def sold(payment: Payment) -> None:
        if payment.metadata.get(LINK_ID) != str(row.pk):
            raise LinkClosed  # the price of something else
        LinkPayment.objects.create(
            link=row,
            payment=payment,
            created_at=payment.created_at,
            customer_email=purchase.email,
            customer_name=purchase.name,
        )

    return sold


def lifetime_seconds(link: PaymentLink) -> int:
    """Time to pay: while a piece is held, where there are so many."""
    return EXPIRES_IN_DEFAULT if link.stock is None else RESERVED_SECONDS


def metadata_of(link: PaymentLink, purchase: Purchase) -> dict[str, str]:
    """The link and its customer, as its payments name them."""
    contact = {"customer_email": purchase.email, "customer_name": purchase.name}
    return {LINK_ID: str(link.pk), **{name: text for name, text in contact.items() if text}}


def _earlier_purchase(link: PaymentLink, key: str) -> Payment | None:
    rows = LinkPayment.objects.filter(
        link=link, payment__idempotency_key=key, payment__store_id=link.store_id
    )
    earlier = rows.select_related("payment__store").first()
    return None if earlier is None else expire_if_due(earlier.payment)


def _check_open(link: PaymentLink) -> None:
    at = clock.now(link.store, link.mode)
    if state_of(link, at) != OPEN:
        raise LinkClosed
    if link.stock is not None and taken(link, at) >= link.stock:
        raise SoldOut


def _make(link: PaymentLink, purchase: Purchase, cents: int, key: str) -> Payment:
    access = Access.for_public(link.store, link.mode)
    try:
        payment, is_new = create_payment(access, _request(link, purchase, cents), key)
    except AccountClosed:
        raise LinkClosed from None
    if is_new:
        contact = {"customer_email": purchase.email, "customer_name": purchase.name}
        LinkPayment.objects.create(
            link=link, payment=payment, created_at=payment.created_at, **contact
        )
    return payment


def _request(link: PaymentLink, purchase: Purchase, cents: int) -> PaymentRequest:
    return PaymentRequest(
        amount=text_from_cents(cents),
        currency=link.currency,
        title=link.title,
        description=link.description,
        success_url=link.success_url,
        failed_url=link_url(link),  # where the customer can begin again
        expires_in=lifetime_seconds(link),
        metadata=metadata_of(link, purchase),
    )


def _key(link: PaymentLink, purchase: Purchase, cents: int) -> str:
    """Of the form and of what was filled in: who goes back and changes the amount gets another
    payment."""
    text = "\n".join((purchase.form_key, str(cents), purchase.email, purchase.name))
    return f"link-{link.pk}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"
