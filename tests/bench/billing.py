"""A cycle run over many due subscriptions against a bare insert of the same invoices: time, queries
and memory per subscription.

    .venv/bin/python -m tests.bench.billing [subscriptions]

Both take turns in rounds on the same machine; what counts is their ratio, and that neither time nor
memory grows with the rounds.
"""

import statistics
import sys
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from tests.bench.harness import bench_database, figure, print_table

ROUNDS = 5
PAGE_BYTES = 4096


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES / 2**20


def seed(count: int) -> None:
    """Monthly subscriptions in live mode, whose period ended a minute ago."""
    from apps.billing.models import Customer, Price, Product, Subscription
    from apps.core import clock
    from tests.cast import assemble

    store = assemble().bakery.store
    end = clock.real_now() - timedelta(minutes=1)
    start = end - timedelta(days=30)
    born = {"store": store, "mode": "live", "created_at": start, "updated_at": start}
    product = Product.objects.create(name="Bread club", **born)
    price = Price.objects.create(
        product=product, unit_amount_cents=1000, currency="EUR", interval="monthly", **born
    )
    people = [
        Customer(email=f"{uuid.uuid4().hex}@example.com", name="Ann", **born) for _ in range(count)
    ]
    Customer.objects.bulk_create(people, batch_size=2000)
    rows = [
        Subscription(
            customer=item,
            price=price,
            status="active",
            started_at=start,
            anchor_day=start.day,
            current_period_start=start,
            current_period_end=end,
            next_billing_at=end,
            next_step_at=end,
            **born,
        )
        for item in people
    ]
    Subscription.objects.bulk_create(rows, batch_size=2000)


def timed(work: Callable[[], object], count: int) -> float:
    """Milliseconds per subscription."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000 / count


def bare(count: int) -> None:
    """The least that billing could do: lock, count, insert and move on, a transaction each."""
    from django.db import connection, transaction

    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS bare_invoice (id uuid PRIMARY KEY, number int UNIQUE, key"
            " text UNIQUE, cents bigint)"
        )
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS bare_line (id uuid PRIMARY KEY, invoice_id uuid REFERENCES"
            " bare_invoice, cents bigint)"
        )
        cursor.execute("CREATE TABLE IF NOT EXISTS bare_counter (last int)")
        cursor.execute(
            "INSERT INTO bare_counter SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM bare_counter)"
        )
        for _ in range(count):
            id = uuid.uuid4()
            with transaction.atomic():
                cursor.execute("UPDATE bare_counter SET last = last + 1 RETURNING last")
                cursor.execute(
                    "INSERT INTO bare_invoice VALUES (%s, %s, %s, 1000)",
                    [id, cursor.fetchone()[0], str(id)],
                )
                cursor.execute("INSERT INTO bare_line VALUES (%s, %s, 1000)", [uuid.uuid4(), id])


def statements_of(work: Callable[[], object]) -> int:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        work()
    return len(captured)


def main(count: int) -> None:
    from django.db.models import F

    from apps.billing.models import Invoice, Subscription
    from apps.billing.subscriptions.cycle import READ_AT_ONCE, advance_subscription, run_cycles

    seed(count + 2 * READ_AT_ONCE + 2)
    run_cycles(limit=1)  # warm
    of_set = statements_of(lambda: run_cycles(limit=1))
    due = Subscription.objects.filter(next_step_at=F("next_billing_at"))
    first, second = due.values_list("pk", flat=True)[:2]
    advance_subscription(first)  # warm
    of_one = statements_of(lambda: advance_subscription(second))
    rows = []
    ratios = []
    per_round = count // ROUNDS
    for n in range(1, ROUNDS + 1):
        ours = timed(lambda: run_cycles(limit=per_round), per_round)
        floor = timed(lambda: bare(per_round), per_round)
        ratios.append(ours / floor)
        rows.append(
            [
                str(n),
                str(per_round),
                f"{ours:.2f}",
                f"{floor:.2f}",
                f"{ours / floor:.1f}",
                f"{resident_mb():.0f}",
            ]
        )
    print_table(["round", "subscriptions", "ms each", "bare ms each", "ratio", "resident MB"], rows)
    print(
        f"invoices {Invoice.objects.count()}, statements of {READ_AT_ONCE} subscriptions: {of_set},"
        f" of one alone: {of_one}, savepoints included"
    )
    print(f"median ratio {statistics.median(ratios):.1f}")
    figure("billing a due subscription", statistics.median(ratios))


if __name__ == "__main__":
    with bench_database():
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
