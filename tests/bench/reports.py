"""Cost of a report: its time, the peak of its memory (and of the process that draws its PDF), and
that neither grows faster than the entries.

    .venv/bin/python -m tests.bench.reports [entries ...]

Each report is made in a process of its own, so that the peak is that report's. Goal: 10,000 entries
in 6 s and 200 MB. The ratio is to the bare reading of the same entries in the same process: what
the database takes anyway.
"""

import json
import os
import subprocess
import sys
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.bench.harness import bench_database, figure, print_table

SIZES = (1_000, 10_000, 100_000)
BEGIN = datetime(2026, 10, 1, tzinfo=UTC)
CASES = (
    ("accounting_transactions", "pdf"),
    ("accounting_transactions", "csv"),
    ("merchant_statement", "pdf"),
)

# What the process of its own runs: nothing but one report, as the worker makes it.
_CHILD = """
import json, sys, time, django
django.setup()
from django.db import connection
connection.settings_dict["NAME"] = sys.argv[1]
from apps.reports.models import Report
from apps.reports.services.generate import WRITERS
report = Report.objects.select_related("store").get(pk=sys.argv[2])
import os, resource, tempfile
from apps.reports.selectors import Extent, asset_sums, lines
began = time.perf_counter()
extent = Extent.of(report)
for _ in lines(extent, asset_sums(extent)):
    pass
bare = time.perf_counter() - began
began, cpu = time.perf_counter(), sum(os.times()[:4])
with tempfile.TemporaryFile() as file:
    WRITERS[report.format](report, file, lambda lines: None)
    size = file.tell()
took = {"seconds": time.perf_counter() - began, "cpu": sum(os.times()[:4]) - cpu, "bare": bare}
# Not ru_maxrss: it begins with what the parent had when it forked, and so does that of the drawing,
# at what this process has.
peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
now = int(open("/proc/self/status").read().split("VmRSS:")[1].split()[0]) / 1024
drawing = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
memory = {"peak": peak, "now": now, "drawing": drawing}
print(json.dumps({**took, **memory, "size": size, "lines": report.lines_total}))
"""


def store_with(entries: int) -> Any:
    """A store with so many entries in a month, two for each deposit that is settled without a fee
    but in three legs."""
    from apps.ledger.posting import BATCH_MAX, EntryLine, Posting, post_many
    from apps.stores.models import User
    from apps.stores.requests import StoreRequest
    from apps.stores.services import create_store

    owner = User.objects.create(email=f"{uuid.uuid4().hex}@example.com")
    store = create_store(owner, StoreRequest(name="A busy bakery", settlement_currency="EUR"))
    amount = 1_234_567
    postings: list[Posting] = []
    for number in range(entries // 2):
        at = BEGIN + timedelta(seconds=number * 25)
        lines = [
            EntryLine("reserved", "ETH_USDC", amount + number, "principal", store.pk),
            EntryLine("available", "ETH_USDC", amount, "principal", store.pk),
            EntryLine("custody_deposits", "ETH_USDC", -2 * amount - number, "principal"),
        ]
        postings.append(
            Posting(f"bench:{uuid.uuid4()}", "deposit_confirmed", "live", uuid.uuid4(), at, lines)
        )
        if len(postings) == BATCH_MAX:
            post_many(postings)
            postings.clear()
    if postings:
        post_many(postings)
    return store


def measured(store: Any, report_type: str, form: str) -> dict[str, float]:
    from django.db import connection

    from apps.reports.models import Report

    days = {"period_from": BEGIN.date(), "period_to": BEGIN.date() + timedelta(days=60)}
    born = {"created_at": BEGIN, "touched_at": BEGIN}
    report = Report.objects.create(
        store=store, mode="live", report_type=report_type, format=form, **days, **born
    )
    command = [sys.executable, "-c", _CHILD, connection.settings_dict["NAME"], str(report.pk)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    told: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return told


def main(sizes: tuple[int, ...]) -> None:
    began = time.monotonic()
    with bench_database():
        from django.db import connection

        stores = {size: store_with(size) for size in sizes}
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        rows = []
        for report_type, form in CASES:
            base: dict[str, float] = {}
            for size, store in stores.items():
                told = measured(store, report_type, form)
                base = base or told
                if size == SIZES[0] and form == "pdf":
                    figure(f"first PDF of {report_type}, s", told["seconds"])
                growth = f"{told['peak'] / base['peak']:.2f} x"
                each = f"{told['seconds'] / max(told['lines'], 1) * 1_000_000:,.0f} us"
                ratio = f"{told['seconds'] / told['bare']:.1f} x"
                cost = [
                    f"{told['seconds']:.2f} s",
                    f"{told['cpu']:.2f} s",
                    ratio,
                    each,
                    f"{told['peak']:.0f} MB",
                    growth,
                    f"{told['now']:.0f} MB",
                    f"{told['drawing']:.0f} MB",
                    f"{told['size'] / 2**20:.1f} MB",
                ]
                rows.append([f"{report_type} {form}", f"{size:,}", *cost])
        times = ("time", "of the CPU", "bare reading", "per entry")
        print_table(
            [
                "report",
                "entries",
                *times,
                "peak memory",
                "of the smallest",
                "afterward",
                "of the drawing",
                "file",
            ],
            rows,
        )
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(tuple(int(item) for item in sys.argv[1:]) or SIZES)
