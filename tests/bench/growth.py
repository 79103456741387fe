"""What grows with the number of payments: requests, pages, jobs and the audit at several sizes.

    .venv/bin/python -m tests.bench.growth [--payments 60000 1000000]

A database of its own is filled to each size in turn (tests/growth). Requests come in as the web's
role, for whom the policies hold. Buffers are exact, of prepared statements with the worse of two
plans: for their own values, and for any. Milliseconds are the shorter of two runs in this process,
without the statements being counted.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.bench.harness import bench_database, print_table

SIZES = (60_000,)
# A page of a store that has two of five payments, by what its readers ask for.
REQUESTS = {
    "GET /payments": "/payments",
    "GET /payments, page 100": "/payments?page=100",
    "GET /payments, completed": "/payments?status=completed",
    "GET /payments, processing": "/payments?status=processing",
    "GET /payments, one day": "/payments?created_at_gte=2026-11-01&created_at_lte=2026-11-02",
    "GET /payments, by a part of the reference": "/payments?reference=ZZQQ",
    "GET /payments, by order": "/payments?order_id=A-1001",
    "GET /payments/summary": "/payments/summary",
    "GET /balances": "/balances",
    "GET /payouts": "/payouts",
    "GET /billing/invoices": "/billing/invoices",
    "GET /billing/customers": "/billing/customers",
    "GET /webhook_endpoints": "/webhook_endpoints",
    "GET /events": "/events",
    "GET /request_log": "/request_log",
}
SLOWEST_INVARIANTS = 8
# Whatever reads more is printed statement by statement.
BUFFERS_MAX = 2_000
REST_SECONDS_MAX = 120
NOTES_MAX = 5  # rows that a run writes about itself
NEVER_AT_REST = {"assets.refresh_rates"}  # writes all rates whenever it runs


@dataclass(frozen=True)
class Cost:
    milliseconds: float
    statements: Mapping[str, int] | None  # the buffers of each

    @property
    def buffers(self) -> int | None:
        return None if self.statements is None else sum(self.statements.values())

    def __str__(self) -> str:
        read = "" if self.buffers is None else f" / {self.buffers:,}"
        return f"{self.milliseconds:,.1f}{read}"


def main(sizes: Iterable[int]) -> None:
    with bench_database():
        from tests import roles
        from tests.growth.seed import town

        roles.install()
        columns: dict[int, dict[str, Cost]] = {}
        with town(max(sizes)) as place:
            for size in sorted(sizes):
                began = time.monotonic()
                place.grow(size)
                print(
                    f"{place.payments:,} payments in {time.monotonic() - began:.0f} s", flush=True
                )
                columns[place.payments] = _requests(place.shop.test) | _work() | _audit()
        names = dict.fromkeys(name for costs in columns.values() for name in costs)
        head = ["ms / buffers", *(f"{size:,} payments" for size in columns)]
        rows = [[name, *(str(costs.get(name, "")) for costs in columns.values())] for name in names]
        print_table(head, rows)
        _print_large(columns[max(columns)])


def _print_large(costs: Mapping[str, Cost]) -> None:
    for name, cost in costs.items():
        if (cost.buffers or 0) > BUFFERS_MAX:
            print(f"\n{name}: {cost.buffers:,}")
            for statement, buffers in (cost.statements or {}).items():
                if buffers > BUFFERS_MAX / 10:
                    print(f"{buffers:,}: {' '.join(statement.split())}")


def _requests(api: Any) -> dict[str, Cost]:
    def get(path: str) -> Callable[[], object]:
        def run() -> None:
            answer = api.client.get(f"/api/v2{path}", headers=api.headers)
            if answer.status_code != 200:
                raise SystemExit(f"{path}: {answer.status_code} {answer.content[:200]!r}")

        return run

    return {name: _cost(get(path)) for name, path in REQUESTS.items()}


def _work() -> dict[str, Cost]:
    """What runs by itself, each once whatever was due is done."""
    from django.test import override_settings

    from apps.core.db import tenancy
    from tests.growth.work import work

    with (
        tenancy.everyone("what runs by itself sees all rows"),
        override_settings(CHAIN_URLS={}),
    ):
        costs = {}
        for name, run in work().items():
            if name not in NEVER_AT_REST and not _comes_to_rest(run):
                print(f"job {name} hasn't come to rest in {REST_SECONDS_MAX} s", flush=True)
            costs[f"job {name}"] = _cost(run)
        return costs


def _comes_to_rest(run: Callable[[], object]) -> bool:
    """Whether a run, before the time is up, reads on no further and writes no more than its notes:
    what it had to do it does in batches."""
    until = time.monotonic() + REST_SECONDS_MAX
    while time.monotonic() < until:
        before, marks = _rows_written(), _marks()
        run()
        if _rows_written() - before <= NOTES_MAX and _marks() == marks:
            return True
    return False


def _rows_written() -> int:
    """In all tables, since the database was made."""
    from tests.growth.copies import ask

    ask("SELECT pg_stat_force_next_flush()")
    return int(ask("SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables")[0][0])


def _marks() -> list[tuple[Any, ...]]:
    """How far jobs have read tables that only grow."""
    from tests.growth.copies import ask

    return ask("SELECT job, row_id FROM core_rowturn WHERE right(job, 5) = ':read' ORDER BY job")


def _audit() -> dict[str, Cost]:
    from apps.audit import verify

    verdicts = verify.verdicts()
    milliseconds = {verdict.name: verdict.took.total_seconds() * 1000 for verdict in verdicts}
    slowest = sorted(milliseconds, key=lambda name: -milliseconds[name])[:SLOWEST_INVARIANTS]
    costs = {"verify_ledger": Cost(sum(milliseconds.values()), None)}
    return costs | {f"verify_ledger, {name}": Cost(milliseconds[name], None) for name in slowest}


def _cost(run: Callable[[], object]) -> Cost:
    from tests.growth.buffers import reading

    times = []
    for _ in range(2):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    with reading() as read:
        run()
    return Cost(min(times) * 1000, dict(read.buffers))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--payments", type=int, nargs="+", default=list(SIZES))
    main(parser.parse_args().payments)
