"""A temporary table with the name of one of ours stands in for it nowhere that the database guards
something. No role makes one; the tests' own are the owner's, in the session that attacks."""

import re
from collections.abc import Callable

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.grants import WEB
from apps.billing.models import InvoiceLine
from apps.core import clock
from apps.core.db import tenancy
from apps.core.ids import new_id
from apps.payments.models import Payment
from apps.payouts.models import Payout
from apps.stores.models import Store
from tests import make
from tests.billing import records
from tests.cast import Cast, Shop
from tests.payouts.two_people import LITTLE, two_people
from tests.roles import acting_as

FIXED = ["search_path=public, pg_temp"]


def stand_in(table: str, change: str) -> None:
    """A copy of a table, changed, which this session's statements read instead of it."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TEMPORARY TABLE {table} ON COMMIT DROP AS SELECT * FROM public.{table};"
            f" UPDATE {table} SET {change}; GRANT ALL ON {table} TO PUBLIC"
        )


def refused(attack: Callable[[], object], message: str) -> None:
    """Nobody's scope is in the attack's way."""
    with (
        acting_as(WEB),
        tenancy.everyone("an attack"),
        pytest.raises(DatabaseError, match=message),
        transaction.atomic(),
    ):
        attack()


def test_every_guard_reads_the_tables_of_the_schema(db: None) -> None:
    """Triggers, which check what a role writes, and what runs with the owner's rights."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT p.oid::regprocedure::text, p.proconfig FROM pg_proc p WHERE p.pronamespace ="
            " 'public'::regnamespace AND (p.prosecdef OR p.prorettype = 'trigger'::regtype) AND NOT"
            " EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')"
        )
        found = dict(cursor.fetchall())
    assert len(found) > 30
    loose = [
        name
        for name, settings in found.items()
        if [line for line in settings or [] if line.startswith("search_path=")] != FIXED
    ]
    assert loose == []


def test_a_payout_above_the_rule_takes_a_second_person(cast: Cast) -> None:
    two = two_people(cast)
    payout = Payout.objects.get(pk=make.payout(two.key, LITTLE)["id"])
    stand_in("payouts_approvalrule", "above_cents = NULL, next_above_cents = NULL")
    payout.pk, payout.idempotency_key, payout.worth_cents = new_id(), "another", 500_00
    refused(lambda: payout.save(force_insert=True), "needs a second person")


def test_an_approval_is_the_one_that_was_given(cast: Cast) -> None:
    two = two_people(cast)
    payout = Payout.objects.get(pk=make.payout(two.key, 2 * LITTLE + 10**16)["id"])
    assert payout.approval_id is not None
    stand_in("payouts_payoutapproval", "status = 'approved'")
    attack = Payout.objects.filter(pk=payout.pk)
    refused(lambda: attack.update(status="pending"), "approv")


def test_the_lines_of_an_invoice_that_was_sent_are_locked(bakery: Shop) -> None:
    invoice = records.opened(bakery.test)
    stand_in("billing_invoice", "status = 'draft'")
    lines = InvoiceLine.objects.filter(invoice_id=invoice["id"])
    refused(lambda: lines.update(description="Gold"), "are locked")


def test_the_numbers_of_invoices_have_no_gap(bakery: Shop) -> None:
    records.opened(bakery.test)
    draft = records.draft(bakery.test)
    stand_in("billing_invoice", "number = 41")
    attack = (
        "UPDATE public.billing_invoice SET number = 42, status = 'open', finalized_at = now(),"
        " public_token = 'x' WHERE id = %s"
    )
    refused(lambda: connection.cursor().execute(attack, [draft["id"]]), "would leave a gap")


def test_a_store_that_is_closed_gets_no_payment(bakery: Shop, cast: Cast) -> None:
    payment = Payment.objects.get(pk=make.payment(bakery.test)["id"])
    payment.platform_id = cast.strangers.store.pk
    Store.objects.filter(pk=bakery.store.pk).update(deleted_at=clock.real_now())
    stand_in("stores_store", "deleted_at = NULL")
    payment.pk, payment.reference, payment.idempotency_key = new_id(), "another", "another"
    said = re.escape(f"the account {bakery.store.pk} is closed")
    refused(lambda: payment.save(force_insert=True), said)
