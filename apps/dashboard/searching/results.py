"""Cells of a search result: a line of words, a line of small print, its value, and its status."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext

from apps.access.models import ApiKey
from apps.billing.models import Customer, Invoice, Product, Subscription
from apps.billing.numbers import formatted_number
from apps.core.searching import SearchTerm
from apps.core.templatetags.tillgate import crypto, fiat
from apps.dashboard.tables.cells import ends_of
from apps.links.documents import link_url
from apps.links.models import PaymentLink
from apps.payments.models import Payment, Refund
from apps.payouts.models import Payout
from apps.stores.models import Member
from apps.swaps.models import Swap
from apps.webhooks.models import Delivery, Endpoint


@dataclass(frozen=True)
class SearchHit:
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


def of_payment(payment: Payment, term: SearchTerm) -> SearchHit:
    parts = [
        payment.reference if payment.title else "",
        gettext("Order {order_id}").format(order_id=payment.order_id) if payment.order_id else "",
    ]
    return SearchHit(
        payment.title or payment.reference,
        _url("payment", payment.pk),
        " · ".join(filter(None, parts)),
        fiat(payment.settlement_amount_cents, payment.settlement_currency),
        "payment",
        payment.status,
        payment.created_at,
        is_exact=term.is_exact or bool(term.address) or payment.reference == term.text.upper(),
    )


def of_link(link: PaymentLink, term: SearchTerm) -> SearchHit:
    price = fiat(link.amount_cents, link.currency) if link.amount_cents is not None else ""
    return SearchHit(
        link.title,
        _url("link", link.pk),
        link_url(link),
        price,
        is_exact=term.is_exact or term.text.endswith(link.token),
    )


def of_refund(refund: Refund, term: SearchTerm) -> SearchHit:
    """On the page of its payment."""
    asset = refund.asset
    amount = crypto(refund.amount_atomic, asset.atomic_decimals, asset.coin_symbol)
    payment = refund.payment.title or refund.payment.reference
    return SearchHit(
        gettext("Refund of {payment}").format(payment=payment),
        _url("payment", refund.payment_id),
        ends_of(refund.destination_address),
        amount,
        "refund",
        refund.status,
        refund.created_at,
        True,
    )


def of_payout(payout: Payout, term: SearchTerm) -> SearchHit:
    saved = payout.destination
    to = (
        (saved.label or saved.holder or ends_of(saved.address))
        if saved
        else ends_of(payout.destination_address)
    )
    amount = crypto(payout.amount_atomic, payout.asset.atomic_decimals, payout.asset.coin_symbol)
    return SearchHit(
        gettext("Payout to {destination}").format(destination=to),
        _url("payout", payout.pk),
        "",
        amount,
        "payout",
        payout.shown_status,
        payout.created_at,
        term.is_exact,
    )


def of_swap(swap: Swap, term: SearchTerm) -> SearchHit:
    source = swap.source_asset
    bought = swap.buy_asset
    title = gettext("{sold} to {bought}").format(sold=source.coin_symbol, bought=bought.coin_symbol)
    amount = crypto(swap.sell_amount_atomic, source.atomic_decimals, source.coin_symbol)
    return SearchHit(
        title,
        _url("swap", swap.pk),
        "",
        amount,
        "swap",
        swap.status,
        swap.created_at,
        is_exact=True,
    )


def of_customer(customer: Customer, term: SearchTerm) -> SearchHit:
    return SearchHit(
        customer.name or customer.email,
        _url("customer", customer.pk),
        customer.email if customer.name else "",
        is_exact=term.is_exact,
    )


def of_invoice(invoice: Invoice, term: SearchTerm) -> SearchHit:
    number = formatted_number(invoice)
    return SearchHit(
        number or gettext("Draft invoice"),
        _url("invoice", invoice.pk),
        invoice.customer.name or invoice.customer.email,
        fiat(invoice.total_cents, invoice.currency),
        "invoice",
        invoice.status,
        invoice.created_at,
        is_exact=term.is_exact or (number is not None and number == term.text),
    )


def of_subscription(subscription: Subscription, term: SearchTerm) -> SearchHit:
    title = subscription.price.product.name
    customer = subscription.customer.name or subscription.customer.email
    return SearchHit(
        title,
        _url("subscription", subscription.pk),
        customer,
        "",
        "subscription",
        subscription.status,
        subscription.created_at,
        term.is_exact,
    )


def of_product(product: Product, term: SearchTerm) -> SearchHit:
    return SearchHit(
        product.name,
        _url("product", product.pk),
        "" if product.active else gettext("Archived"),
        is_exact=term.is_exact,
    )


def of_member(member: Member, term: SearchTerm) -> SearchHit:
    return SearchHit(
        member.user.name or member.user.email,
        reverse("dashboard:members"),
        f"{member.user.email} · {gettext(member.get_role_display())}",
    )


def of_endpoint(endpoint: Endpoint, term: SearchTerm) -> SearchHit:
    return SearchHit(
        endpoint.url,
        _url("webhook_endpoint", endpoint.pk),
        endpoint.description,
        "",
        "endpoint",
        endpoint.status,
        is_exact=term.is_exact,
    )


def of_delivery(delivery: Delivery, term: SearchTerm) -> SearchHit:
    """On the page of its endpoint."""
    return SearchHit(
        delivery.event.type,
        _url("webhook_endpoint", delivery.endpoint_id),
        delivery.endpoint.url,
        "",
        "delivery",
        delivery.status,
        delivery.created_at,
    )


def of_key(key: ApiKey, term: SearchTerm) -> SearchHit:
    return SearchHit(
        key.name or gettext("API key"), reverse("dashboard:keys"), f"{key.prefix}…{key.last_four}"
    )
