"""Cost of a movement, a batch and a balance, beside the bare tables under pgbench and a ledger
written with the ORM.

    .venv/bin/python -m tests.bench.ledger [rounds]

Every ratio is of two figures measured in the same round, with durable commits; the table shows the
median over the rounds.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.bench.harness import bench_database, figure, print_table
from tests.bench.ledger_contenders import (
    BARE,
    RAW,
    SAME,
    World,
    batches,
    debits_of_one,
    durable,
    naive,
    one_post,
    one_post_to_one,
    pgbench,
    prepare,
    run_workers,
)

ROUNDS = 3
SIZES = (1_000, 100_000, 1_000_000)
TAIL = 1_000


def median_of(rounds: list[dict[str, float]], name: str) -> float:
    return statistics.median(item[name] for item in rounds)


def ratio_of(rounds: list[dict[str, float]], name: str, to: str) -> float:
    return statistics.median(item[name] / item[to] for item in rounds)


def postings(world: World, rounds: int) -> list[list[str]]:
    rows = []
    for clients in (1, 4):
        found = []
        for _ in range(rounds):
            found.append(
                {
                    "bare tables, pgbench": pgbench(BARE, clients),
                    "ledger_post(), pgbench": pgbench(SAME, clients, world),
                    "post()": run_workers(one_post, world, clients).per_second,
                    "ledger with the ORM": run_workers(naive, world, clients).per_second,
                    "post_many(), 50 a batch": run_workers(batches, world, clients).per_second,
                }
            )
        workers = "one worker" if clients == 1 else f"{clients} workers"
        figure(f"ledger post(), {workers}", ratio_of(found, "post()", "bare tables, pgbench"))
        for name in found[0]:
            of = [
                f"{ratio_of(found, name, to):.2f}"
                for to in ("bare tables, pgbench", "ledger_post(), pgbench", "ledger with the ORM")
            ]
            rows.append([name, str(clients), f"{median_of(found, name):,.0f}", *of])
    return rows


def trigger_cost(world: World, rounds: int) -> list[list[str]]:
    rows = []
    for clients in (1, 4):
        found = []
        for _ in range(rounds):
            with world.without_check():
                bare_rules = pgbench(RAW, clients, world)
            found.append(
                {
                    "no check": bare_rules,
                    "and the check": pgbench(RAW, clients, world),
                    "ledger_post()": pgbench(SAME, clients, world),
                }
            )
        for name in found[0]:
            row = [f"{ratio_of(found, name, to):.2f}" for to in ("no check", "and the check")]
            rows.append([name, str(clients), f"{median_of(found, name):,.0f}", *row])
    return rows


def contention(world: World, rounds: int) -> list[list[str]]:
    found = []
    slowest = []
    for _ in range(rounds):
        debits = run_workers(debits_of_one, world, 4)
        slowest.append(debits.slow_ms)
        found.append(
            {
                "credits of random stores": run_workers(one_post, world, 4).per_second,
                "credits of one store": run_workers(one_post_to_one, world, 4).per_second,
                "debits of one store": debits.per_second,
            }
        )
    rows = [
        [
            name,
            f"{median_of(found, name):,.0f}",
            f"{ratio_of(found, name, 'credits of random stores'):.2f}",
        ]
        for name in found[0]
    ]
    rows[-1].append(
        f"p99 {statistics.median(slowest):.1f} ms, balance left {world.spendable_left()}"
    )
    return [[*row, ""][:4] for row in rows]


def reads(world: World) -> list[list[str]]:
    from django.db import connection

    from apps.ledger.selectors import balance_of
    from apps.ledger.statements import LineFilter, page, statement

    rows = []
    for size in SIZES:
        account = world.account_with(size, TAIL)

        def plain_sum(account: int = account) -> Any:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT sum(amount_atomic) FROM ledger_entry WHERE account_id = %s", [account]
                )
                return cursor.fetchone()[0]

        assert balance_of(account) == plain_sum()
        timed = [median_ms(lambda account=account: balance_of(account)), median_ms(plain_sum)]  # type: ignore[misc]
        middle = halfway(account, size)
        pages = [
            median_ms(lambda account=account: statement(account)),  # type: ignore[misc]
            median_ms(lambda account=account, before=middle: page(account, before=before)),  # type: ignore[misc]
            median_ms(lambda account=account: page(account, filters=LineFilter(kind="none"))),  # type: ignore[misc]
        ]
        told = [
            f"{timed[0]:.2f} ms",
            f"{timed[1]:.2f} ms",
            f"{timed[1] / timed[0]:.0f}x",
            *(f"{milliseconds:.2f} ms" for milliseconds in pages),
        ]
        rows.append([f"{size:,}", *told])
    return rows


def halfway(account: int, size: int) -> str:
    """The cursor of a page in the middle of an account's entries."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM ledger_entry WHERE account_id = %s ORDER BY id OFFSET %s LIMIT 1",
            [account, size // 2],
        )
        return f"{cursor.fetchone()[0]}.0"


def median_ms(act: Callable[[], Any], times: int = 30) -> float:
    act()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        taken.append((time.perf_counter() - began) * 1000)
        if sum(taken) > 2_000:
            break
    return statistics.median(taken)


def lost_entries(world: World, seconds: float) -> list[list[str]]:
    made, checkpoints, lost = world.post_against_checkpoints(seconds)
    return [[f"{made:,}", f"{checkpoints:,}", str(lost)]]


def main(rounds: int) -> None:
    began = time.monotonic()
    with bench_database(), durable():
        world = prepare()
        sections: list[tuple[list[str], Callable[[], list[list[str]]]]] = [
            (
                [
                    "1 movement of 3 entries",
                    "workers",
                    "per second",
                    "of bare",
                    "of ledger_post()",
                    "of the ORM",
                ],
                lambda: postings(world, rounds),
            ),
            (
                ["inside PostgreSQL", "clients", "per second", "of none", "of and the check"],
                lambda: trigger_cost(world, rounds),
            ),
            (
                ["4 workers at once", "per second", "of random", ""],
                lambda: contention(world, rounds),
            ),
            (
                [
                    "entries",
                    "balance",
                    "plain sum",
                    "faster",
                    "newest page",
                    "page halfway",
                    "kind that is none",
                ],
                lambda: reads(world),
            ),
            (["posted", "checkpoints meanwhile", "lost"], lambda: lost_entries(world, 8)),
        ]
        for head, section in sections:
            print_table(head, section())
            print()
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
