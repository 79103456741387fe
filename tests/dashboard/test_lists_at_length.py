"""The list of payments, the search and what needs a person over a month's 12,000: whatever is asked
for, every table is read by an index."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.audit.grants import WEB
from apps.billing.models import Customer
from apps.billing.selectors import owed
from apps.core import clock, searching
from apps.core.db import tenancy
from apps.core.searching import SearchTerm
from apps.dashboard.notices.inbox import Inbox
from apps.payments.models import Payment, PaymentAddress
from apps.payments.search import find_payments
from tests.billing import records
from tests.cast import Cast, assemble, signed_in
from tests.dashboard.browse import Browser
from tests.dashboard.test_search import HASH, PAYER, explained, month_of_payments
from tests.growth.buffers import reading
from tests.roles import acting_as
from tests.stage import standing

TABLES = (
    "payments_payment",
    "payments_paymentaddress",
    "chain_deposit",
    "ledger_movement",
    "ledger_entry",
    "billing_invoicepayment",
)


@dataclass
class Month:
    """A store with a month of payments, of which the first was made through the API, and a
    customer."""

    cast: Cast
    first: Payment
    customer: Customer


def a_month() -> Month:
    cast = assemble()
    customer = Customer.objects.get(pk=records.customer(cast.bakery.test)["id"])
    first = month_of_payments(cast)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE payments_refund, payments_latedeposit, chain_unmatchedtransfer")
    return Month(cast, first, customer)


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[Month]:
    yield from standing(django_db_blocker, a_month)


@pytest.fixture
def month(made: Month, db: None) -> Month:
    return Month(made.cast.again(), made.first, made.customer)


def plans(cast: Cast, path: str) -> list[str]:
    """How PostgreSQL answers each statement of the page that reads payments."""
    browser = Browser(cast.alice)
    with CaptureQueriesContext(connection) as seen:
        assert browser.get(path).status_code == 200
    told = [item["sql"] or "" for item in seen]
    asked = [
        item for item in told if item.lstrip().startswith("SELECT") and "payments_payment" in item
    ]
    found = []
    page = [
        str(id) for id in Payment.objects.order_by("-created_at").values_list("pk", flat=True)[:25]
    ]
    with (
        acting_as(WEB),
        tenancy.within(tenancy.of([cast.bakery.store], ["test"])),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "SET LOCAL enable_seqscan = off"
        )  # who owns the whole table is counted by reading it, else by an index
        for statement in asked:
            written = statement.replace(
                "$1", f"'{{{','.join(page)}}}'"
            )  # a prepared statement is told without its values
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS OFF) {written}")
            found.append("\n".join(line for (line,) in cursor.fetchall()))
    return found


def test_a_month_of_payments_is_listed_and_filtered_by_indexes(month: Month) -> None:
    customer = month.customer
    today = clock.real_now().date()
    for query in (
        "",
        "page=200",
        "status=completed",
        "status=failed",
        "coin=ETH",
        "coin=USDC",
        "network=sepolia&status=completed",
        "min=100&max=150",
        f"from={today}&to={today}",
        f"customer={customer.pk}",
        f"q={customer.email}",
    ):
        shown = plans(month.cast, f"payments?{query}")
        assert shown, query
        for plan in shown:
            for table in TABLES:
                rows = re.search(rf"Seq Scan on {table}\b.*?rows=(\d+)", plan)
                assert rows is None, f"{query}\n{plan}"


def test_the_newest_are_told_in_the_order_of_their_list(month: Month) -> None:
    """The search looks through some of them: what the rest comes to isn't read to find those."""
    viewer = month.cast.bakery.access()
    with acting_as(WEB), tenancy.within(tenancy.of([month.cast.bakery.store], ["test"])):
        rows = Payment.objects.visible_to(viewer)
        with reading() as read:
            newest = searching.newest(rows, 1_000)
        assert newest.count() == 1_000
        assert searching.newest(rows, 30_000).count() == rows.count() > 12_000
        assert searching.newest(rows.none(), 1_000).count() == 0
    assert 0 < sum(read.buffers.values()) < 5_000, read.buffers


def test_a_month_of_payments_is_searched_by_indexes(month: Month) -> None:
    first = month.first
    viewer = month.cast.bakery.access()
    texts = (
        str(first.pk),
        first.reference,
        "A-11777",
        "A-1",
        "coffee 199",
        "Coffee",
        "117.77",
        HASH,
        "11777",
        "nothing",
        PaymentAddress.objects.filter(payment=first)[0].address_id,
        PAYER,
        "buyer11777@example.com",
    )
    for typed in texts:
        with acting_as(WEB), tenancy.within(tenancy.of([month.cast.bakery.store], ["test"])):
            with CaptureQueriesContext(connection) as seen:
                find_payments(viewer, SearchTerm.of(typed), 6)
            statements = [item["sql"] for item in seen if "payments_payment" in item["sql"]]
            plan = "\n".join(explained(statement) for statement in statements)
        for table in ("payments_payment", "chain_deposit", "payments_paymentaddress"):
            assert not re.search(rf"Seq Scan on {table}\b", plan), f"{typed}\n{plan}"
        assert 1 <= len(statements) <= 3, f"{typed}\n{plan}"


def test_a_month_of_payments_needs_nobody_in_one_statement_by_indexes(month: Month) -> None:
    cast = month.cast
    access = signed_in(cast.alice, cast.bakery.store)
    with acting_as(WEB), tenancy.within(tenancy.of([cast.bakery.store], ["test"])):
        with CaptureQueriesContext(connection) as seen:
            assert (Inbox(access).count, Inbox(access).count) == (0, 0)
        first, prepared = [query["sql"] for query in seen if "UNION ALL" in query["sql"]]
        plan = explained(first)
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (GENERIC_PLAN) {prepared}")
            plan_of_any = "\n".join(line for (line,) in cursor.fetchall())
    # By the whole name: the first part of the history, payments_paymentevent_first, is one page.
    for table in ("payments_payment", "chain_deposit", "payments_paymentaddress"):
        assert not re.search(rf"Seq Scan on {table}\b", plan), plan
        assert not re.search(rf"Seq Scan on {table}\b", plan_of_any), plan_of_any


def test_what_invoices_leave_is_added_up_by_an_index_alone(month: Month) -> None:
    viewer = month.cast.bakery.access()
    with acting_as(WEB), tenancy.within(tenancy.of([month.cast.bakery.store], ["test"])):
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        with CaptureQueriesContext(connection) as seen:
            owed(viewer, clock.real_now())
        (statement,) = (item["sql"] for item in seen if "billing_invoice" in item["sql"])
        assert "Index Only Scan using invoice_left" in explained(statement)
