"""Growth with the number of payments: requests, pages, jobs, idling and the audit.

    nice .venv/bin/python -m tests.bench.growth [--payments 60000 1000000 10000000]

Each size has a server of its own in var/growth, which is filled (tests/growth), measured and
dropped: with --keep it stays, and --reuse measures one that is there again. Requests come in as
the web's role, for whom the policies hold. Buffers are exact, of prepared statements with the worse
of two plans: for their own values, and for any. Milliseconds are of the processor, of this process
and of the one that serves its connection (of the audit by the clock): the fewest of three runs,
without the statements being counted. What was measured is kept in var/growth/*.json, so
that the table may be printed of sizes that were measured one by one.
"""

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench import growth_costs as costs
from tests.bench import growth_server as server

SIZES = (60_000,)
DATABASE = "tillgate_growth"
AT_ONCE_MIN = 30_000  # from here on it pays to build indexes afterwards
LANES = 3
# Shorter than without settings, of every size, so that ten million fit a disk.
KEPT_DAYS = dict.fromkeys(("webhooks_event", "webhooks_delivery", "webhooks_attempt"), 7)
SLOWEST_INVARIANTS = 8
TABLES_SHOWN = 12
NEVER_AT_REST = {"assets.refresh_rates"}  # writes all rates whenever it runs


def main(options: argparse.Namespace) -> None:
    sizes = sorted(options.payments)
    if len(sizes) == 1 and not options.table:
        _of_size(sizes[0], options)
    elif not options.table:
        # Each in a process of its own: a process has one database.
        for size in sizes:
            again = [*sys.argv[1:], "--payments", str(size)]  # the last one counts
            command = [sys.executable, "-m", "tests.bench.growth", *again]
            subprocess.run(command, check=True)
    costs.print_all(
        {size: costs.load(path) for size in sizes if (path := _measured(size)).exists()}
    )


def _measured(payments: int) -> Path:
    return server.folder(payments).with_suffix(".json")


def _of_size(payments: int, options: argparse.Namespace) -> None:
    is_there = (server.folder(payments) / "town.json").exists()
    if not options.reuse:
        shutil.rmtree(server.folder(payments), ignore_errors=True)
        server.refuse_what_does_not_fit(payments)
    elif not is_there:
        raise SystemExit(f"there are no {payments:,} payments in {server.folder(payments)}")
    try:
        with server.serving(payments) as home:
            from tests.growth import seed

            if not options.reuse:
                seed.create(DATABASE)
            with seed.within(DATABASE):
                place = _recalled(home) if options.reuse else _filled(home, payments, options.lanes)
                if not options.fill:
                    found = _costs(place, options)
                    costs.save(_measured(payments), place.payments, found)
    finally:
        if not options.keep and not options.reuse:
            shutil.rmtree(server.folder(payments), ignore_errors=True)


def _filled(home: Path, payments: int, lanes: int) -> Any:
    from tests.growth import seed

    began = time.monotonic()
    place = seed.founded(payments, lanes)
    place.keep(KEPT_DAYS)
    place.grow(payments, at_once=payments >= AT_ONCE_MIN)
    server.remember(home, place)
    print(f"{place.payments:,} payments in {time.monotonic() - began:,.0f} s", flush=True)
    _print_sizes(place.payments)
    return place


def _recalled(home: Path) -> Any:
    from tests.growth import kept_up, seed

    kept_up.postpone()
    place = seed.Town(server.recall(home))
    print(f"{place.payments:,} payments are there", flush=True)
    _print_sizes(place.payments)
    return place


def _print_sizes(payments: int) -> None:
    """The database's, and of a payment by table."""
    from tests.growth.catalog import ask

    ((size,),) = ask("SELECT pg_database_size(current_database())")
    print(f"{size / 10**9:,.1f} GB, {size // payments:,} bytes a payment:", flush=True)
    for name, table, indexes in ask(
        "SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class"
        " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        f" ORDER BY pg_total_relation_size(oid) DESC LIMIT {TABLES_SHOWN}"
    ):
        print(f"  {name}: {table // payments:,} + {indexes // payments:,} of indexes")


def _costs(place: Any, options: argparse.Namespace) -> list[costs.Cost]:
    from tests.bench.growth_rows import rows

    found = []
    for row in rows(place):
        if not options.only or any(part in f"{row.group} {row.name}" for part in options.only):
            began = time.monotonic()
            found.append(
                _at_rest(row) if row.is_job else costs.cost_of(row.group, row.name, row.run)
            )
            if options.watch:
                print(f"{time.monotonic() - began:6.1f} s {found[-1]}", flush=True)
    return found if options.no_audit else [*found, *_audit()]


def _at_rest(row: Any) -> costs.Cost:
    """Of what runs by itself, once whatever was due is done."""
    from django.test import override_settings

    from apps.core.db import tenancy
    from config.celery import PERIODIC
    from tests.growth.rest import REST_SECONDS_MAX, comes_to_rest

    with (
        tenancy.everyone("what runs by itself sees all rows"),
        override_settings(CHAIN_URLS={}),
    ):
        if row.name not in NEVER_AT_REST and not comes_to_rest(row.run):
            print(f"{row.name} hasn't come to rest in {REST_SECONDS_MAX} s", flush=True)
        period = PERIODIC.get(row.name.partition(":")[0])
        return costs.cost_of(row.group, row.name, row.run, period)


def _audit() -> list[costs.Cost]:
    from apps.audit import verify

    verdicts = verify.verdicts()
    times: Mapping[str, float] = {v.name: v.took.total_seconds() * 1000 for v in verdicts}
    slowest = sorted(times, key=lambda name: -times[name])[:SLOWEST_INVARIANTS]
    whole = costs.Cost("Audit", "verify_ledger", sum(times.values()))
    return [whole, *(costs.Cost("Audit", name, times[name]) for name in slowest)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--payments", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--lanes", type=int, default=LANES, help="connections that fill")
    parser.add_argument("--only", nargs="+", help="rows whose group and name have one of these")
    for name, text in {
        "keep": "leave what was filled in var/growth",
        "reuse": "measure what is there",
        "fill": "fill and measure nothing",
        "no-audit": "without verify_ledger",
        "watch": "print each row when it is measured",
        "table": "print what was measured before",
    }.items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    main(parser.parse_args())
