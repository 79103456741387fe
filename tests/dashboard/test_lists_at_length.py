"""The list of payments over a month's 20,000: whatever filter is chosen, every table is read by an
index."""

import re

from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.audit.grants import WEB
from apps.billing.models import Customer
from apps.billing.selectors import owed
from apps.core import clock, searching
from apps.core.db import tenancy
from apps.payments.models import Payment
from tests.billing import records
from tests.cast import Cast
from tests.dashboard.browse import Browser
from tests.dashboard.test_search import explained, month_of_payments
from tests.growth.buffers import reading
from tests.roles import acting_as

TABLES = (
    "payments_payment",
    "payments_paymentaddress",
    "chain_deposit",
    "ledger_movement",
    "ledger_entry",
    "billing_invoicepayment",
)


def plans(cast: Cast, path: str) -> list[tuple[str, float]]:
    """How PostgreSQL answers each statement of the page that reads payments, and the milliseconds
    it takes."""
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
            plan = "\n".join(line for (line,) in cursor.fetchall())
            found.append((plan, float(re.findall(r"Execution Time: ([\d.]+) ms", plan)[0])))
    return found


def test_a_month_of_payments_is_listed_and_filtered_by_indexes(cast: Cast) -> None:
    customer = Customer.objects.get(pk=records.customer(cast.bakery.test)["id"])
    month_of_payments(cast)
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
        shown = plans(cast, f"payments?{query}")
        assert shown, query
        for plan, took in shown:
            for table in TABLES:
                rows = re.search(rf"Seq Scan on {table}\b.*?rows=(\d+)", plan)
                assert rows is None, f"{query}\n{plan}"
            assert took < 500, f"{query}\n{plan}"


def test_the_newest_are_told_in_the_order_of_their_list(cast: Cast) -> None:
    """The search looks through some of them: what the rest comes to isn't read to find those."""
    month_of_payments(cast)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE payments_payment")
    viewer = cast.bakery.access()
    with acting_as(WEB), tenancy.within(tenancy.of([cast.bakery.store], ["test"])):
        rows = Payment.objects.visible_to(viewer)
        with reading() as read:
            newest = searching.newest(rows, 1_000)
        assert newest.count() == 1_000
        assert searching.newest(rows, 30_000).count() == rows.count() > 20_000
        assert searching.newest(rows.none(), 1_000).count() == 0
    assert 0 < sum(read.buffers.values()) < 5_000, read.buffers


def test_what_invoices_leave_is_added_up_by_an_index_alone(cast: Cast) -> None:
    viewer = cast.bakery.access()
    with acting_as(WEB), tenancy.within(tenancy.of([cast.bakery.store], ["test"])):
        with CaptureQueriesContext(connection) as seen:
            owed(viewer, clock.real_now())
        (statement,) = (item["sql"] for item in seen if "billing_invoice" in item["sql"])
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        assert "Index Only Scan using invoice_left" in explained(statement)
