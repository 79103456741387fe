"""Costs of a row of a town, kept in a file by size, and the table of several sizes."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.bench.harness import print_table

RUNS = 3
ALLOWED = 1.2  # of what it is at the smallest size
# Less than that is the machine's noise, and an index that is a level deeper.
SPARE_MS = 2.0
SPARE_BUFFERS = 24
# Whatever reads more is printed statement by statement.
BUFFERS_MAX = 2_000
STATEMENT_MAX = 400  # characters


@dataclass(frozen=True)
class Cost:
    """`period` are the seconds after which it runs again by itself."""

    group: str
    name: str
    milliseconds: float  # by the clock
    processor_ms: float | None = None  # of this process and of the server's
    statements: Mapping[str, int] | None = None  # the buffers of each
    period: float | None = None
    status: int | None = None

    @property
    def buffers(self) -> int | None:
        return None if self.statements is None else sum(self.statements.values())

    @property
    def idle_ms(self) -> float:
        """Of the processor, a minute."""
        return self.shown_ms * 60 / self.period if self.period else 0

    def __str__(self) -> str:
        read = "" if self.buffers is None else f" / {self.buffers:,}"
        refused = f" ({self.status})" if self.status and self.status >= 400 else ""
        return f"{self.shown_ms:,.1f}{read}{refused}"

    @property
    def shown_ms(self) -> float:
        return self.milliseconds if self.processor_ms is None else self.processor_ms


def cost_of(group: str, name: str, run: Callable[[], Any], period: float | None = None) -> Cost:
    from django.db import OperationalError

    from apps.core.redis import buckets
    from tests.growth.buffers import reading

    times, of_processor = [], []
    answer: Any = None
    for _ in range(RUNS):
        buckets.client().flushdb()
        began, used = time.perf_counter(), _processor_seconds()
        answer = run()
        times.append(time.perf_counter() - began)
        of_processor.append(_processor_seconds() - used)
    buckets.client().flushdb()
    status = getattr(answer, "status_code", None)
    statements = None
    if status is None or status < 500:
        # What a role's time isn't enough for is taken twice here.
        with suppress(psycopg.errors.QueryCanceled, OperationalError), reading() as read:
            run()
            statements = dict(read.buffers)
    fewest = min(of_processor) * 1000
    return Cost(group, name, min(times) * 1000, fewest, statements, period, status)


def _processor_seconds() -> float:
    """Processor time of this process and of the one that serves its connection: equal on a busy
    machine and an idle one, as long as nothing is read from a disk."""
    from django.db import connection

    connection.ensure_connection()
    server = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    return time.process_time() + int(server.read_text().split()[0]) / 10**9


def save(path: Path, payments: int, found: list[Cost]) -> None:
    """Rows that were measured before and aren't now stay."""
    kept = {(cost.group, cost.name): cost for cost in (load(path)[1] if path.exists() else [])}
    kept |= {(cost.group, cost.name): cost for cost in found}
    rows = [asdict(cost) for cost in kept.values()]
    path.write_text(json.dumps({"payments": payments, "rows": rows}, indent=1))


def load(path: Path) -> tuple[int, list[Cost]]:
    known = json.loads(path.read_text())
    return known["payments"], [Cost(**row) for row in known["rows"]]


def print_all(sizes: Mapping[int, tuple[int, list[Cost]]]) -> None:
    """A table a group, what is above ALLOWED, and the statements that read most."""
    if not sizes:
        return
    columns = [{(c.group, c.name): c for c in found} for _, found in sizes.values()]
    head = ["ms / pages read", *(f"{payments:,} payments" for payments, _ in sizes.values())]
    keys = dict.fromkeys(key for column in columns for key in column)
    for group in dict.fromkeys(group for group, _ in keys):
        print()
        lines = [
            [
                name,
                *(str(column.get((of, name), "")) for column in columns),
                _growth(columns, of, name),
            ]
            for of, name in keys
            if of == group
        ]
        print_table([head[0].replace("ms", f"{group}: ms"), *head[1:], "growth"], lines)
    print(f"\nidle, ms of the processor a minute: {_idle(columns)}")
    print(f"\nabove {ALLOWED} of the smallest size:")
    for group, name in keys:
        if "!" in (grown := _growth(columns, group, name)):
            print(f"  {group}, {name}: {grown}")
    for line in _large(columns[-1]):
        print(line)


def _idle(columns: list[dict[tuple[str, str], Cost]]) -> str:
    return ", ".join(f"{sum(c.idle_ms for c in column.values()):,.0f}" for column in columns)


def _growth(columns: list[dict[tuple[str, str], Cost]], group: str, name: str) -> str:
    """Of time and of buffers, with a mark when it is more than allowed."""
    few, many = columns[0].get((group, name)), columns[-1].get((group, name))
    if few is None or many is None or few is many:
        return ""
    texts = [_ratio(few.shown_ms, many.shown_ms, SPARE_MS)]
    if few.buffers is not None and many.buffers is not None:
        texts.append(_ratio(few.buffers, many.buffers, SPARE_BUFFERS))
    return " / ".join(texts)


def _ratio(few: float, many: float, spare: float) -> str:
    mark = "!" if many > ALLOWED * few + spare else ""
    return f"{many / few:,.1f}{mark}" if few else f"{many:,.0f} of 0{mark}"


def _large(column: Mapping[tuple[str, str], Cost]) -> Iterator[str]:
    for (_, name), cost in column.items():
        if (cost.buffers or 0) > BUFFERS_MAX:
            yield f"\n{name}: {cost.buffers:,}"
            for statement, buffers in (cost.statements or {}).items():
                if buffers > BUFFERS_MAX / 10:
                    yield f"  {buffers:,}: {' '.join(statement.split())[:STATEMENT_MAX]}"
