"""`manage.py test`: every check of the repository, then the tests; with arguments, pytest alone with them.

Pytest runs last, so that its summary is the last thing printed: first what needs the machine to itself, then everything else
divided among the cores. The exit is 1 when anything failed.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from config import embedded

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.prefix) / "bin"
WORKERS_MAX = 4
MANAGE = [sys.executable, str(ROOT / "manage.py")]


def main(arguments: list[str]) -> int:
    """Run what was asked for; the exit status."""
    os.environ["TILLGATE_ENV"] = "test"
    # Services that were brought from outside are one set, for one worker.
    workers = 1 if any(os.environ.get(name) for name in embedded.SERVICES) else min(os.cpu_count() or 1, WORKERS_MAX)
    try:
        embedded.ensure(mode=embedded.TEST)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    try:
        failed = [] if arguments else [title for title, command in steps() if not _passes(title, command)]
        if failed:
            print(f"!!! FAILED before the tests: {', '.join(failed)}", flush=True)
        if arguments or workers == 1:
            return _pytest(arguments) or bool(failed)
        embedded.leave_all()  # each worker starts its own
        runs = [_pytest(["-m", "alone"]), _pytest(["-m", "not alone", "-n", str(workers), "--dist", "worksteal"])]
        return max(runs) or bool(failed)
    finally:
        embedded.leave_all()


def steps() -> list[tuple[str, list[str]]]:
    """The checks before the tests, in the order of their speed."""
    templates = [str(path) for path in sorted(ROOT.glob("templates/**/*.html"))]
    found = [
        ("ruff check", [str(BIN / "ruff"), "check", "--quiet", "."]),
        ("ruff format", [str(BIN / "ruff"), "format", "--check", "--quiet", "."]),
        ("import layers", [str(BIN / "lint-imports")]),
        ("migrations", [*MANAGE, "makemigrations", "--check", "--dry-run"]),
        ("types", [str(BIN / "mypy"), "apps", "config", "manage.py"]),
    ]
    if templates:
        found.insert(2, ("template format", [str(BIN / "djade"), "--target-version", "5.2", "--check", *templates]))
        found.insert(3, ("template rules", [str(BIN / "djlint"), "--lint", "--quiet", str(ROOT / "templates")]))
    return found


def _passes(title: str, command: list[str]) -> bool:
    began = time.monotonic()
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(f"{title:<16} {'ok' if run.returncode == 0 else 'FAILED':<7} {time.monotonic() - began:.1f} s", flush=True)
    if run.returncode:
        print(run.stdout.strip(), flush=True)
    return run.returncode == 0


def _pytest(arguments: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, check=False).returncode
