"""How one search result is told: a line of words, a line of small print, what it is worth, and its
status."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from apps.access.models import ApiKey
from apps.billing.documents.invoices import formatted_number
from apps.billing.models import Customer, Invoice, Product, Subscription
from apps.core.searching import Term
from apps.core.templatetags.tillgate import crypto, fiat, shorten
from apps.links.documents import link_url
from apps.links.models import PaymentLink
from apps.payments.models import Payment, Refund
from apps.payouts.models import Payout
from apps.stores.models import Member
from apps.swaps.models import Swap
from apps.webhooks.models import Delivery, Endpoint


@dataclass(frozen=True)
class Hit:
    """`noun` and `status` make its badge. It `is_exact` when the text names this record and no
    other."""

    title: str
    url: str
    detail: str = ""
    amount: str = ""
    noun: str = ""
    status: str = ""
    at: datetime | None = None
    is_exact: bool = False
    icon: str = ""


def _url(name: str, id: object) -> str:
    return reverse(f"dashboard:{name}", args=[str(id)])


def of_payment(one: Payment, term: Term) -> Hit:
    parts = [one.reference if one.title else "", f"order {one.order_id}" if one.order_id else ""]
    return Hit(
        one.title or one.reference,
        _url("payment", one.pk),
        " · ".join(filter(None, parts)),
        fiat(one.settlement_amount_cents, one.settlement_currency),
        "payment",
        one.status,
        one.created_at,
        is_exact=term.is_exact or bool(term.address) or one.reference == term.text.upper(),
    )


def of_link(one: PaymentLink, term: Term) -> Hit:
    price = fiat(one.amount_cents, one.currency) if one.amount_cents is not None else ""
    return Hit(
        one.title,
        _url("link", one.pk),
        link_url(one),
        price,
        is_exact=term.is_exact or term.text.endswith(one.token),
    )


def of_refund(one: Refund, term: Term) -> Hit:
    """On the page of its payment."""
    asset = one.asset
    amount = crypto(one.amount_atomic, asset.atomic_decimals, asset.coin_symbol)
    title = f"Refund of {one.payment.title or one.payment.reference}"
    return Hit(
        title,
        _url("payment", one.payment_id),
        shorten(one.destination_address),
        amount,
        "refund",
        one.status,
        one.created_at,
        True,
    )


def of_payout(one: Payout, term: Term) -> Hit:
    saved = one.destination
    to = (
        (saved.label or saved.holder or shorten(saved.address))
        if saved
        else shorten(one.destination_address or "")
    )
    amount = crypto(one.amount_atomic, one.asset.atomic_decimals, one.asset.coin_symbol)
    return Hit(
        f"Payout to {to}",
        _url("payout", one.pk),
        "",
        amount,
        "payout",
        one.status,
        one.created_at,
        term.is_exact,
    )


def of_swap(one: Swap, term: Term) -> Hit:
    source = one.source_asset
    bought = one.buy_asset
    title = f"{source.coin_symbol} to {bought.coin_symbol}"
    amount = crypto(one.sell_amount_atomic, source.atomic_decimals, source.coin_symbol)
    return Hit(
        title, _url("swap", one.pk), "", amount, "swap", one.status, one.created_at, is_exact=True
    )


def of_customer(one: Customer, term: Term) -> Hit:
    return Hit(
        one.name or one.email,
        _url("customer", one.pk),
        one.email if one.name else "",
        is_exact=term.is_exact,
    )


def of_invoice(one: Invoice, term: Term) -> Hit:
    number = formatted_number(one)
    return Hit(
        number or "Draft invoice",
        _url("invoice", one.pk),
        one.customer.name or one.customer.email,
        fiat(one.total_cents, one.currency),
        "invoice",
        one.status,
        one.created_at,
        is_exact=term.is_exact or (number is not None and number == term.text),
    )


def of_subscription(one: Subscription, term: Term) -> Hit:
    title = one.price.product.name
    customer = one.customer.name or one.customer.email
    return Hit(
        title,
        _url("subscription", one.pk),
        customer,
        "",
        "subscription",
        one.status,
        one.created_at,
        term.is_exact,
    )


def of_product(one: Product, term: Term) -> Hit:
    return Hit(
        one.name, _url("product", one.pk), "" if one.active else "Archived", is_exact=term.is_exact
    )


def of_member(one: Member, term: Term) -> Hit:
    return Hit(
        one.user.name or one.user.email,
        reverse("dashboard:members"),
        f"{one.user.email} · {one.get_role_display()}",
    )


def of_endpoint(one: Endpoint, term: Term) -> Hit:
    return Hit(
        one.url,
        _url("webhook_endpoint", one.pk),
        one.description,
        "",
        "endpoint",
        one.status,
        is_exact=term.is_exact,
    )


def of_delivery(one: Delivery, term: Term) -> Hit:
    """On the page of its endpoint."""
    return Hit(
        one.event.type,
        _url("webhook_endpoint", one.endpoint_id),
        one.endpoint.url,
        "",
        "delivery",
        one.status,
        one.created_at,
    )


def of_key(one: ApiKey, term: Term) -> Hit:
    return Hit(one.name or "API key", reverse("dashboard:keys"), f"{one.prefix}…{one.last_four}")
