"""payments, pay and open."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

import click

import tillgate

from .output import json_option, print_fields, print_json, print_table
from .session import Session

SCENARIOS = ("exact", "underpaid", "overpaid", "unconfirmed", "failed")
STATUSES = ("pending", "processing", "completed", "expired", "failed", "refunded")
PAGES = {
    "dashboard": "/dashboard/",
    "docs": "/docs",
    "keys": "/dashboard/api-keys",
    "webhooks": "/dashboard/webhooks",
    "logs": "/dashboard/request-log",
}
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


@click.group()
def payments() -> None:
    """Create, list and look up payments."""


@payments.command("create")
@click.argument("amount")
@click.argument("currency")
@click.option("--title")
@click.option("--order-id")
@click.option("--idempotency-key", help="Yours; without it each call makes another payment.")
@json_option
@click.pass_obj
def create(
    session: Session,
    amount: str,
    currency: str,
    title: str | None,
    order_id: str | None,
    idempotency_key: str | None,
    as_json: bool,
) -> None:
    """Create a payment, such as: tillgate payments create 10.00 EUR"""
    fields = {"amount": amount, "currency": currency.upper(), "title": title, "order_id": order_id}
    body = {"payment_intent": {name: one for name, one in fields.items() if one is not None}}
    key = idempotency_key or tillgate.calls.new_key()
    with session.client() as client:
        made = client.request("POST", "/payments", body=body, idempotency_key=key)
    _show(made, as_json)


@payments.command("get")
@click.argument("payment")
@json_option
@click.pass_obj
def get(session: Session, payment: str, as_json: bool) -> None:
    """Look up a payment by its id or reference."""
    with session.client() as client:
        _show(client.request("GET", f"/payments/{found(client, payment)}"), as_json)


@payments.command("list")
@click.option("--status", type=click.Choice(STATUSES))
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@json_option
@click.pass_obj
def list_(session: Session, status: str | None, limit: int, as_json: bool) -> None:
    """List payments, newest first."""
    with session.client() as client:
        rows = list(islice(_rows(client, status, limit), limit))
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo("No payments yet.", err=True)
        return
    print_table([_row(one) for one in rows], ["reference", "amount", "status", "title", "created"])


def _rows(client: tillgate.Client, status: str | None, limit: int) -> Any:
    number = 1
    pages = 1
    while number <= pages:
        query = {"status": status, "per_page": min(limit, 100), "page": number}
        told = client.request("GET", "/payments", query=query)
        yield from told["data"]
        number = number + 1
        pages = (told.get("meta") or told["pagination"])["total_pages"]


def _row(one: dict[str, Any]) -> list[object]:
    amount = f"{one['settlement_amount']} {one['settlement_currency']}"
    return [one["reference"], amount, one["status"], one["title"], one["created_at"][:19]]


@click.command()
@click.argument("payment")
@click.option("--scenario", type=click.Choice(SCENARIOS), default="exact", show_default=True)
@click.option("--late", is_flag=True, help="Pay although it is over.")
@json_option
@click.pass_obj
def pay(session: Session, payment: str, scenario: str, late: bool, as_json: bool) -> None:
    """Simulate what a customer pays, in test mode. PAYMENT is an id or a reference."""
    body = {"scenario": scenario, **({"late": True} if late else {})}
    with session.test_client() as client:
        id = found(client, payment)
        client.request("POST", f"/payments/{id}/simulated_payments", body=body)
        _show(client.request("GET", f"/payments/{id}"), as_json)


@click.command("open")
@click.argument("what", default="dashboard")
@click.option("--print", "only_print", is_flag=True, help="Print the address instead.")
@click.pass_obj
def open_page(session: Session, what: str, only_print: bool) -> None:
    """Open a page: dashboard, docs, keys, webhooks, logs, or the checkout of a payment."""
    if what in PAGES:
        address = session.current().url + PAGES[what]
    else:
        with session.client() as client:
            address = client.request("GET", f"/payments/{found(client, what)}")["hosted_url"]
    click.echo(address)
    if not only_print and address.startswith(("http://", "https://")):
        click.launch(address)


def found(client: tillgate.Client, payment: str) -> str:
    """The id of a payment that is named by its id or its reference."""
    if _UUID.fullmatch(payment):
        return payment.lower()
    told = client.request("GET", "/payments", query={"reference": payment, "per_page": 100})
    for one in told["data"]:
        if one["reference"] == payment:
            return str(one["id"])
    raise tillgate.NotFoundError(f"There is no payment {payment} in this mode")


def _show(payment: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(payment)
        return
    amount = f"{payment['settlement_amount']} {payment['settlement_currency']}"
    reason = f" ({payment['state_reason']})" if payment["state_reason"] else ""
    shown: dict[str, object] = {
        "id": payment["id"],
        "reference": payment["reference"],
        "amount": amount,
        "status": payment["status"] + reason,
        "title": payment["title"],
        "order_id": payment["order_id"],
        "expires_at": payment["expires_at"],
        "hosted_url": payment["hosted_url"],
    }
    print_fields(shown)
