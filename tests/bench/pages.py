"""Processor time of the dashboard's ten most used pages, in this build and in the one of
November 30, 2026, beside each other.

    .venv/bin/python -m tests.bench.pages

Each build fills a database of its own with the same payments and opens each page in turns with the
other one. What counts is the ratio of the sums: of the web process's thread, without PostgreSQL.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from tests.bench.harness import bench_database
from tests.stack import ROOT

BASE = "eb4e9049"
ROUNDS = 12
WARM = 4
PAYMENTS = 25
LIMIT = 100_000  # pages a minute: no answer is a refusal
PAGES = (
    "",
    "payments",
    "payments/{payment}",
    "balances",
    "payouts",
    "refunds",
    "customers",
    "invoices",
    "events",
    "settings",
)


def answer_rounds() -> None:
    """A build's own process: for each line that it reads, milliseconds of each page."""
    with bench_database():
        from django.conf import settings
        from django.test.utils import teardown_test_environment

        from tests import make
        from tests.cast import assemble
        from tests.dashboard.browse import Browser

        world = assemble()
        api = world.bakery.test
        for _ in range(PAYMENTS):
            make.paid(api)
        for _ in range(PAYMENTS):
            payment = make.payment(api)["id"]
        teardown_test_environment()  # which keeps a copy of each template's context
        settings.ALLOWED_HOSTS = ["*"]
        limits = {"live": (LIMIT, LIMIT), "test": (LIMIT, LIMIT)}
        settings.LIMITS = {**settings.LIMITS, "dashboard": limits}
        alice = Browser(world.alice)
        paths = [f"/dashboard/{page.format(payment=payment)}" for page in PAGES]
        for path in paths * WARM:
            if alice.get(path).status_code != 200:
                sys.exit(f"{path} isn't shown")
        print("ready", flush=True)
        for _ in sys.stdin:
            took = []
            for path in paths:
                began = time.thread_time()
                status = alice.get(path).status_code
                took.append((time.thread_time() - began) * 1000)
                if status != 200:
                    sys.exit(f"{path} isn't shown")
            print(json.dumps(took), flush=True)


def started(folder: Path, program: Path) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.Popen(
        [str(ROOT / ".venv/bin/python"), str(program), "--rounds"],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line_of(pipe: IO[str] | None) -> str:
    """The next line that is an answer: services that are started say things, too."""
    assert pipe is not None
    for line in pipe:
        if line.startswith(("ready", "[")):
            return line
    sys.exit("a build has ended")


def main() -> None:
    from tests.bench.harness import figure, print_table  # the older build has no figure

    with tempfile.TemporaryDirectory(prefix="tillgate-bench-") as temporary:
        old = Path(temporary) / "old"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(old)], check=True)
        subprocess.run(["git", "checkout", "-q", BASE], cwd=old, check=True)
        for name in (".venv", ".tools"):
            (old / name).symlink_to(ROOT / name)
        builds = [started(ROOT, Path(__file__)), started(old, Path(__file__))]
        for build in builds:
            line_of(build.stdout)
        took: list[list[list[float]]] = [[], []]
        for _ in range(ROUNDS):
            for number, build in enumerate(builds):
                assert build.stdin is not None
                build.stdin.write("\n")
                build.stdin.flush()
                took[number].append(json.loads(line_of(build.stdout)))
        for build in builds:
            assert build.stdin is not None
            build.stdin.close()
            build.wait()
    now, before = (
        [statistics.median(page) for page in zip(*rounds, strict=True)] for rounds in took
    )
    rows = [
        [f"/dashboard/{page}", f"{b:.1f}", f"{n:.1f}", f"{n / b:.2f}"]
        for page, n, b in zip(PAGES, now, before, strict=True)
    ]
    print_table(["page", f"ms of {BASE}", "ms now", "ratio"], rows)
    figure("ten dashboard pages, of the build of November 30", sum(now) / sum(before))


if __name__ == "__main__":
    answer_rounds() if "--rounds" in sys.argv else main()
