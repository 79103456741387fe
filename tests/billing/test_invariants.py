"""The audit of billing: silent on what was billed properly, and not on what was tampered with."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from apps.billing.invariants import BILLING
from tests import make
from tests.auditing import found_of
from tests.billing import records as r
from tests.cast import Shop, assemble
from tests.console.test_verify_ledger import tamper
from tests.stage import standing


def billing() -> Shop:
    """Drafts, open, paid, void and cycle invoices, one of them paid in part by an intent, and a
    canceled subscription."""
    bakery = assemble().bakery
    api = bakery.test
    r.draft(api)
    r.opened(api)
    r.ok(r.act(api, r.opened(api)["id"], "void"))
    r.pay(api, r.opened(api, tax_rate_bps=1900))
    for _ in range(2):
        r.credit_note(api)
    late = r.subscribe(api)
    ended = r.subscribe(api)
    r.ok(r.change(api, ended["id"], "cancel"))
    r.subscribe(api, trial_period_days=3)
    r.subscribe(api, trial_period_days=30)
    make.advance(api, 8 * r.DAY)
    assert r.subscription(api, late["id"])["status"] == "past_due"
    return bakery


@pytest.fixture(scope="module")
def books(django_db_setup: None, django_db_blocker: Any) -> Iterator[Shop]:
    yield from standing(django_db_blocker, billing)


@pytest.fixture
def billed(books: Shop, db: None) -> Shop:
    return books.again()


def findings() -> set[str]:
    return {item.invariant for item in found_of(*(item.name for item in BILLING))}


def test_what_was_billed_properly_has_no_findings(billed: Shop) -> None:
    assert findings() == set()


OPEN = (
    "(SELECT id FROM billing_invoice WHERE status = 'open' AND subscription_id IS NULL ORDER BY"
    " created_at DESC LIMIT 1)"
)
PAID = "(SELECT id FROM billing_invoice WHERE status = 'paid' ORDER BY created_at DESC LIMIT 1)"
CYCLE = (
    "(SELECT id FROM billing_invoice WHERE subscription_id IS NOT NULL ORDER BY created_at DESC"
    " LIMIT 1)"
)
CORRUPTIONS = {
    "a total is raised": (
        (
            "ALTER TABLE billing_invoice DROP CONSTRAINT invoice_totals_add_up; UPDATE"
            f" billing_invoice SET total_cents = 5 WHERE id = {OPEN}"
        ),
        "invoices_add_up",
    ),
    "a line is lost": (
        f"DELETE FROM billing_invoiceline WHERE invoice_id = {OPEN}",
        "invoices_add_up",
    ),
    "a line is changed": (
        (
            "ALTER TABLE billing_invoiceline DROP CONSTRAINT invoice_line_adds_up; "
            f"UPDATE billing_invoiceline SET amount_cents = 1 WHERE invoice_id = {OPEN}"
        ),
        "invoices_add_up",
    ),
    "a tax rate is changed": (
        f"UPDATE billing_invoice SET tax_rate_bps = 700 WHERE id = {PAID}",
        "invoices_taxed_as_said",
    ),
    "a discount is invented": (
        (
            "UPDATE billing_invoice SET discount_cents = 1, total_cents = total_cents - 1 WHERE id"
            f" = {OPEN}"
        ),
        "invoices_taxed_as_said",
    ),
    "a period is a month longer": (
        (
            "UPDATE billing_subscription SET current_period_end = current_period_end + interval '1"
            " month', next_billing_at = next_billing_at + interval '1 month'"
        ),
        "periods_follow",
    ),
    "a canceled subscription's period is moved": (
        (
            "UPDATE billing_subscription SET current_period_start = current_period_start + interval"
            " '1 month', current_period_end = current_period_end + interval '1 month' WHERE status"
            " = 'canceled'"
        ),
        "periods_follow",
    ),
    "a trial is longer": (
        (
            "UPDATE billing_subscription SET current_period_end = current_period_end + interval '1"
            " month', next_billing_at = next_billing_at + interval '1 month' WHERE status ="
            " 'trialing'"
        ),
        "periods_follow",
    ),
    "it is billed later": (
        "UPDATE billing_subscription SET next_billing_at = next_billing_at + interval '1 month'",
        "periods_follow",
    ),
    "an invoice vanishes with its number": (
        (
            f"DELETE FROM billing_invoicechange WHERE invoice_id = {OPEN}; DELETE FROM"
            f" billing_invoiceline WHERE invoice_id = {OPEN}; DELETE FROM billing_invoice WHERE"
            " number = 1"
        ),
        "invoices_numbered",
    ),
    "a number is changed": (
        f"UPDATE billing_invoice SET number = 99 WHERE id = {OPEN}",
        "invoices_numbered",
    ),
    "the counter is set back": (
        "UPDATE billing_invoicecounter SET last_number = 1",
        "invoices_numbered",
    ),
    "a customer's credit falls below zero": (
        (
            "INSERT INTO billing_customercreditline (id, store_id, mode, created_at, customer_id,"
            " invoice_id, currency, kind, amount_cents) SELECT gen_random_uuid(), store_id, mode,"
            " created_at, customer_id, id, currency, 'refunded', -5 FROM billing_invoice WHERE id ="
            f" {OPEN}"
        ),
        "customer_credit_adds_up",
    ),
    "a credit note vanishes": (
        (
            "DELETE FROM billing_creditnoteline WHERE credit_note_id = (SELECT id FROM"
            " billing_creditnote WHERE number = 1); DELETE FROM billing_creditnote WHERE number = 1"
        ),
        "credit_notes_numbered",
    ),
    "a credit note takes back more than was billed": (
        ("UPDATE billing_creditnote SET net_cents = net_cents + 1, total_cents = total_cents + 1"),
        "credit_notes_numbered",
    ),
    "a line of a credit note is changed": (
        "UPDATE billing_creditnoteline SET net_cents = net_cents - 1",
        "credit_notes_numbered",
    ),
    "a draft gets a number": (
        (
            "ALTER TABLE billing_invoice DROP CONSTRAINT invoice_numbered_when_finalized; UPDATE"
            " billing_invoice SET number = (SELECT max(number) + 1 FROM billing_invoice) WHERE"
            " status = 'draft'"
        ),
        "invoices_numbered",
    ),
    "a cycle's invoice is given to nobody": (
        f"UPDATE billing_invoice SET period_key = NULL WHERE id = {CYCLE}",
        "cycles_billed_once",
    ),
    "a cycle's invoice is another one's": (
        f"UPDATE billing_invoice SET period_key = 'x:y' WHERE id = {CYCLE}",
        "cycles_billed_once",
    ),
    "a period passes without an invoice": (
        (
            "UPDATE billing_subscription SET current_period_start = current_period_start + interval"
            " '1 day' WHERE status = 'active'"
        ),
        "cycles_billed_once",
    ),
    "a subscription changes silently": (
        "UPDATE billing_subscription SET status = 'active' WHERE status = 'past_due'",
        "cycles_billed_once",
    ),
    "more is counted than came": (
        f"UPDATE billing_invoice SET amount_paid_cents = 5000 WHERE id = {PAID}",
        "invoices_paid_as_counted",
    ),
    "an invoice is paid by nothing": (
        f"UPDATE billing_invoice SET status = 'paid' WHERE id = {OPEN}",
        "invoices_paid_as_counted",
    ),
    "a payment counts though it never completed": (
        (
            "UPDATE payments_payment SET completed_at = NULL WHERE id = (SELECT payment_id FROM"
            " billing_invoicepayment LIMIT 1)"
        ),
        "invoices_paid_as_counted",
    ),
    "late money is counted though nobody accepted any": (
        (
            "UPDATE billing_invoicepayment SET late_cents = 5, counted_cents = counted_cents - 5"
            f" WHERE invoice_id = {PAID}"
        ),
        "invoices_paid_as_counted",
    ),
    "an invoice is paid later": (
        f"UPDATE billing_invoice SET paid_at = paid_at + interval '1 day' WHERE id = {PAID}",
        "invoices_due_as_told",
    ),
    "a subscription forgives more": (
        "UPDATE billing_subscription SET grace_cycles = grace_cycles + 1",
        "subscriptions_as_told",
    ),
    "a failed cycle is forgotten": (
        ("UPDATE billing_subscription SET failed_cycle_count = 0 WHERE failed_cycle_count > 0"),
        "subscriptions_as_told",
    ),
    "an invoice is voided silently": (
        f"UPDATE billing_invoice SET status = 'void' WHERE id = {OPEN}",
        "invoices_paid_as_counted",
    ),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_the_audit_finds(name: str, billed: Shop) -> None:
    statements, invariant = CORRUPTIONS[name]
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    tamper(statements)
    assert invariant in findings()


def test_every_invariant_of_billing_has_a_corruption() -> None:
    assert {invariant for _, invariant in CORRUPTIONS.values()} == {item.name for item in BILLING}
