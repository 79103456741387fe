"""`manage.py test`: every check of the repository and the tests; with arguments, pytest alone with
them.

First what says how fast something stops, then everything else divided among the cores. The checks
run beside both, at a lower priority. The last line says whether anything failed, and
then the exit is 1.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import source_hash
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from dev import descendants, embedded, keeper, pytest_turns, running

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.prefix) / "bin"
WORKERS_MAX = 4
# One core is idle while a test runs alone; on a machine that has none idle the test goes first.
YIELDING = ["nice", "-n", "10"]
MANAGE = [sys.executable, str(ROOT / "manage.py")]
PYTEST = [sys.executable, "-m", "pytest"]


def main(arguments: list[str]) -> int:
    """Run what was asked for; the exit status. Ctrl-C, a plain kill and a closed terminal leave
    nothing that runs, and neither does one that nobody can answer: what runs is in a process of its
    own, and of the two that is left ends it."""
    os.environ["TILLGATE_ENV"] = "test"
    descendants.adopt()
    parent = os.getpid()
    if runner := os.fork():
        return _status_of(runner)
    running.end_with_parent(signal.SIGTERM)
    if os.getppid() != parent:
        return 143
    _take_signals(_end)
    try:
        return _main(arguments)
    except (KeyboardInterrupt, SystemExit) as asked:
        descendants.end_all(keeper.is_one, is_told=isinstance(asked, KeyboardInterrupt))
        embedded.leave_all()
        return asked.code if isinstance(asked, SystemExit) and isinstance(asked.code, int) else 130


def _status_of(runner: int) -> int:
    """Of the process that runs everything. What a terminal says has reached it as well."""
    _take_signals(lambda number, frame: os.kill(runner, number))
    status = os.waitstatus_to_exitcode(os.waitpid(runner, 0)[1])
    if status < 0:
        descendants.end_all(keeper.is_one, is_told=False)
    return status if status >= 0 else 128 - status


def _take_signals(handler: Callable[[int, FrameType | None], object]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` and `&` of a script want it
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    """Before anything else ends; a second one changes nothing."""
    descendants.adopt()
    _take_signals(lambda number, frame: None)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _main(arguments: list[str]) -> int:
    if embedded.has_workers(arguments):
        return _pytest(arguments)
    workers = _workers()
    is_divided = workers > 1 and not arguments
    collecting = _collecting() if is_divided else None
    try:
        embedded.ensure(mode=embedded.TEST)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    try:
        if arguments:
            return _pytest(arguments)
        checked = [_check("migrations", [*MANAGE, "lint_migrations"])]
        if not is_divided:
            failed = [] if _pytest([]) == 0 else ["tests"]
            checked += [_check(*step) for step in steps()]
        else:
            if collecting is not None:
                collecting.wait()
            embedded.leave_all()  # each worker starts its own
            failed = _divided(workers, checked)
        for step in checked:
            step.tell()
        failed += [step.title for step in checked if not step.is_ok]
        print(f"!!! FAILED: {', '.join(failed)}" if failed else "everything passed", flush=True)
        return int(bool(failed))
    finally:
        embedded.leave_all()


def _workers() -> int:
    """Two more than cores: a quarter of the time of the tests is waiting, for chains, browsers and
    processes that start.

    Services that were brought from outside are one set, for one worker.
    """
    cores = os.cpu_count() or 1
    is_one = cores == 1 or any(os.environ.get(name) for name in embedded.SERVICES)
    return 1 if is_one else min(cores + 2, WORKERS_MAX)


@dataclass(frozen=True)
class Check:
    """Result of a check."""

    title: str
    is_ok: bool
    seconds: float
    output: str

    def tell(self) -> None:
        print(
            f"{self.title:<16} {'ok' if self.is_ok else 'FAILED':<7} {self.seconds:.1f} s",
            flush=True,
        )
        if not self.is_ok:
            print(self.output.strip(), flush=True)


def _collecting() -> "subprocess.Popen[bytes] | None":
    """Starts pytest's collection, so that its cache of the tests' files exists when all workers
    read them at once. None when it is there already, or may not be written."""
    changed = [str(path) for path in not_rewritten(ROOT / "tests")]
    if not changed or sys.dont_write_bytecode:
        return None
    return subprocess.Popen(
        [*YIELDING, *PYTEST, "-n0", "--collect-only", "-qq", *changed],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def not_rewritten(folder: Path) -> list[Path]:
    """The test files below that have changed since pytest wrote down what it makes of them."""
    suffix = f".{sys.implementation.cache_tag}-pytest-{version('pytest')}.pyc"
    return [
        path
        for path in sorted(folder.rglob("*.py"))
        if (path.name == "conftest.py" or path.name.startswith("test_"))
        and not _is_of(path.parent / "__pycache__" / (path.stem + suffix), path)
    ]


def _is_of(compiled: Path, source: Path) -> bool:
    """It begins with Python's version, a flag and the hash of its source."""
    try:
        head = compiled.read_bytes()[:16]
    except OSError:
        return False
    return head[8:] == source_hash(source.read_bytes())


def _divided(workers: int, checked: list[Check]) -> list[str]:
    """The two runs of the tests, with the checks beside them; what failed of the tests."""
    turn = embedded.var_folder(embedded.TEST) / ".alone"
    with ThreadPoolExecutor(1) as beside:
        checking = beside.submit(
            lambda: [_check(title, [*YIELDING, *command]) for title, command in steps()]
        )
        try:
            with _own_folder() as place:
                with turn.open("w") as alone:
                    fcntl.flock(alone, fcntl.LOCK_EX)
                    # Anyone who is free takes the next file in its order, so that no worker goes
                    # back to what comes before.
                    rest = subprocess.Popen(
                        [
                            *(*YIELDING, *PYTEST, "-m", "not alone"),
                            *("-n", str(workers), "--dist", "load", f"--basetemp={place}"),
                        ],
                        cwd=ROOT,
                        env={**os.environ, pytest_turns.AFTER: str(turn)},
                    )
                    is_ok = _pytest(["-m", "alone", *_alone()]) == 0
                    failed = [] if is_ok else ["tests that run alone"]
                if rest.wait():
                    failed.append("tests")
            checked += checking.result()
        except BaseException:
            running.interrupt()
            raise
    return failed


def _alone() -> list[str]:
    """The files of the tests that run alone: collecting all others takes as long as running
    these."""
    return [
        str(path)
        for path in sorted(ROOT.glob("tests/**/test_*.py"))
        if "mark.alone" in path.read_text()
    ]


def steps() -> list[tuple[str, list[str]]]:
    """The checks that need no service, in the order of their speed."""
    templates = [str(path) for path in sorted(ROOT.glob("templates/**/*.html"))]
    entries = [
        ("ruff check", [str(BIN / "ruff"), "check", "--quiet", "."]),
        ("ruff format", [str(BIN / "ruff"), "format", "--check", "--quiet", "."]),
        ("types", [str(BIN / "mypy"), "apps", "config", "manage.py", "tests"]),
    ]
    if templates:
        entries.insert(
            2,
            (
                "template format",
                [str(BIN / "djade"), "--target-version", "5.2", "--check", *templates],
            ),
        )
        entries.insert(
            3,
            ("template rules", [str(BIN / "djlint"), "--lint", "--quiet", str(ROOT / "templates")]),
        )
    return entries


def _check(title: str, command: list[str]) -> Check:
    began = time.monotonic()
    run = running.run(*command, cwd=ROOT)
    return Check(
        title, run.returncode == 0, time.monotonic() - began, f"{run.stdout}\n{run.stderr}"
    )


@contextmanager
def _own_folder() -> Iterator[str]:
    """Folders of the tests of one run. Each start of any pytest takes from the usual ones, which
    all runs share, what a server of another user needs to come through."""
    with TemporaryDirectory(prefix="tillgate-tests-", ignore_cleanup_errors=True) as place:
        yield f"{place}/run"  # pytest makes it


def _pytest(arguments: list[str]) -> int:
    with _own_folder() as place:
        # Who waits for it by `run` kills it a quarter of a second after Ctrl-C.
        return subprocess.Popen([*PYTEST, f"--basetemp={place}", *arguments], cwd=ROOT).wait()
