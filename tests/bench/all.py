"""All benchmarks, one after the other, each on a fresh clone; one table with goal, figure and
verdict, which is also written to docs/performance.md.

    .venv/bin/uv pip install --group bench
    .venv/bin/python -m tests.bench.all [bench ...]

Takes about an hour on an otherwise idle machine. A figure is a ratio against what its benchmark
measures beside it in the same run, or has its unit in its name.
"""

import argparse
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench.harness import print_table
from tests.stack import ROOT

PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- tests.bench.all -->", "<!-- end of tests.bench.all -->"
FIGURE = re.compile(r"^figure: (.+) = (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Goal:
    """Of a figure by its name: at least so much, or at most."""

    bench: str
    figure: str
    least: float | None = None
    most: float | None = None

    @property
    def text(self) -> str:
        return f"at least {self.least:g}" if self.most is None else f"at most {self.most:g}"

    def verdict(self, value: float) -> str:
        is_met = (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )
        return "met" if is_met else "missed"


GOALS = (
    Goal("webhooks", "webhooks, receivers that answer at once", least=0.40),
    Goal("webhooks", "webhooks, 50 ms receivers", least=0.92),
    Goal("webhooks", "webhooks, commit to receipt, p99, ms", most=7),
    Goal("fastapi_contender", "POST /payments, of FastAPI and asyncpg", least=1.0),
    Goal("payments", "POST /payments, of a serializer and the ORM", least=4.5),
    Goal("networks", "POST /payments, twelve ways of two", most=1.3),
    Goal("reads", "GET /payments/{id}, of one statement", least=0.80),
    Goal("reads", "GET /payments, of one statement", least=0.80),
    Goal("reads", "GET /balances, of one statement", least=0.80),
    Goal("payouts", "payouts over HTTP, request to broadcast", least=0.45),
    Goal("billing", "billing a due subscription", most=4),
    Goal("settlements", "agents' draws, 1 mandates", least=0.75),
    Goal("settlements", "agents' draws, 100 mandates", least=0.75),
    Goal("ledger", "ledger post(), one worker", least=0.50),
    Goal("ledger", "ledger post(), 4 workers", least=0.45),
    Goal("chain", "a block with 200 deposits, ms", most=30),
    Goal("watchers", "watching eight networks, cores", most=0.5),
    Goal("sweeps", "gas of a sweep in a batch, new addresses", most=0.35),
    Goal("sweeps", "gas of a sweep in a batch, later", most=0.35),
    Goal("latency", "block to page, p95, s", most=1.0),
    Goal("latency", "block to webhook, p95, s", most=1.2),
    Goal("reports", "first PDF of accounting_transactions, s", most=0.8),
    Goal("pages", "ten dashboard pages, of the build of November 30", most=0.5),
    Goal("memory", "web process after the mixed load, MB", most=110),
    Goal("memory", "memory of the whole demo, MB", most=1000),
    Goal("weight", "requests from sign-in to Home", most=9.5),
)


def figures_of(bench: str) -> dict[str, float]:
    """Figures that a benchmark has measured in a clone of its own; empty when it failed, which is
    shown."""
    with tempfile.TemporaryDirectory(prefix="tillgate-bench-") as folder:
        clone = Path(folder) / "tillgate"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        for name in (".venv", ".tools"):
            (clone / name).symlink_to(ROOT / name)
        run = subprocess.run(
            [str(ROOT / ".venv/bin/python"), "-m", f"tests.bench.{bench}"],
            cwd=clone,
            capture_output=True,
            text=True,
            check=False,
        )
    print(run.stdout, flush=True)
    if run.returncode != 0:
        print(run.stderr[-2000:], flush=True)
    return {name: float(value) for name, value in FIGURE.findall(run.stdout)}


def write(rows: list[list[str]]) -> None:
    """Put the table between its two marks in docs/performance.md."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    head = ["figure", "goal", commit, "verdict"]
    lines = [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text("\n".join([f"{before}{BEGIN}", "", *lines, "", f"{END}{after}"]))


def main(benches: list[str]) -> None:
    began = time.monotonic()
    wanted = benches or list(dict.fromkeys(goal.bench for goal in GOALS))
    found: dict[str, float] = {}
    for bench in wanted:
        print(f"== {bench}", flush=True)
        found |= figures_of(bench)
    rows = []
    for goal in GOALS:
        if goal.bench in wanted:
            value = found.get(goal.figure)
            shown = "not measured" if value is None else f"{value:.3g}"
            verdict = "missed" if value is None else goal.verdict(value)
            rows.append([goal.figure, goal.text, shown, verdict])
    print_table(["figure", "goal", "measured", "verdict"], rows)
    print(f"{time.monotonic() - began:.0f} s")
    if not benches:
        write(rows)


def chosen() -> list[str]:
    """Benchmarks that the command line names, checked before the first one runs; none: all."""
    names = list(dict.fromkeys(goal.bench for goal in GOALS))
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.all", description=f"Benchmarks: {', '.join(names)}."
    )
    parser.add_argument("bench", nargs="*", help="only these; the page is written for all alone")
    benches: list[str] = parser.parse_args().bench
    if unknown := set(benches) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return benches


if __name__ == "__main__":
    main(chosen())
