"""trigger: make an event happen in test mode, for real: with the records that it tells of."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import click

import tillgate

from .output import json_option, print_fields, print_json
from .session import Session

Recipe = Callable[[tillgate.Client], str]


def _payment(client: tillgate.Client, amount: str = "10.00") -> str:
    return client.payments.create(amount=amount, currency="EUR", title="Triggered").id


def _paid(client: tillgate.Client, amount: str = "10.00") -> str:
    id = _payment(client, amount)
    client.payments.simulate(id, scenario="exact")
    return id


def _processing(client: tillgate.Client) -> str:
    id = _payment(client)
    client.payments.simulate(id, scenario="unconfirmed")
    return id


def _reverted(client: tillgate.Client) -> str:
    id = _payment(client)
    client.payments.simulate(id, scenario="failed")
    return id


def _refunded(client: tillgate.Client) -> str:
    _paid(client, "100.00")  # fees aren't given back: the difference comes from the balance
    id = _paid(client)
    client.refunds.create(id)
    return id


def _customer(client: tillgate.Client) -> str:
    email = f"triggered-{secrets.token_hex(8)}@example.com"
    return client.customers.create(email=email, name="Triggered").id


def _invoice(client: tillgate.Client) -> tillgate.models.Invoice:
    made = client.invoices.create(
        customer_id=_customer(client),
        currency="EUR",
        line_items=[{"description": "Triggered", "quantity": 1, "unit_amount_cents": 1000}],
    )
    return client.invoices.finalize(made.id)


def _invoice_paid(client: tillgate.Client) -> str:
    invoice = _invoice(client)
    payment = client.invoices.pay_hosted(str(invoice.public_token)).payment
    if payment is None:
        raise click.ClickException("The invoice has no payment")
    client.payments.simulate(payment.payment_intent_id, scenario="exact")
    return invoice.id


def _invoice_voided(client: tillgate.Client) -> str:
    return client.invoices.void(_invoice(client).id).id


def _subscription(client: tillgate.Client) -> str:
    product = client.products.create(name="Triggered")
    price = client.prices.create(
        product.id, unit_amount_cents=1000, currency="EUR", interval="monthly"
    )
    customer = _customer(client)
    return client.subscriptions.create(customer_id=customer, price_id=price.id).id


def _subscription_updated(client: tillgate.Client) -> str:
    return client.subscriptions.pause(_subscription(client)).id


def _subscription_canceled(client: tillgate.Client) -> str:
    return client.subscriptions.cancel(_subscription(client), at_period_end=False).id


RECIPES: dict[str, Recipe] = {
    "payment_intent.created": _payment,
    "payment_intent.processing": _processing,
    "payment_intent.completed": _paid,
    "payment_intent.refunded": _refunded,
    "transaction.confirming": _processing,
    "transaction.confirmed": _paid,
    "transaction.failed": _reverted,
    "invoice.finalized": lambda client: _invoice(client).id,
    "invoice.paid": _invoice_paid,
    "invoice.voided": _invoice_voided,
    "subscription.created": _subscription,
    "subscription.updated": _subscription_updated,
    "subscription.canceled": _subscription_canceled,
}


@click.command()
@click.argument("event")
@click.option("--endpoint", metavar="ID", help="Send a made-up event to this endpoint instead.")
@json_option
@click.pass_obj
def trigger(session: Session, event: str, endpoint: str | None, as_json: bool) -> None:
    """Make an event happen in test mode, with the payment, invoice or subscription it tells of.

    Any event can be sent to a registered endpoint with --endpoint, made up and without records.
    """
    if endpoint is None and event not in RECIPES:
        names = "\n  ".join(RECIPES)
        raise click.UsageError(
            f"{event} can't be triggered. Use --endpoint for a made-up one, or one of:\n  {names}"
        )
    with session.test_client() as client:
        if endpoint is None:
            subject = RECIPES[event](client)
        else:
            path = f"/webhook_endpoints/{tillgate.calls.quoted(endpoint)}/send_test"
            subject = client.request("POST", path, body={"event_type": event})["delivery_id"]
    told: dict[str, object] = {"event": event, "id": subject}
    if as_json:
        print_json(told)
    else:
        print_fields(told)
