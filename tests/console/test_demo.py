"""The demo as a person meets it: one command, one stop, nothing left behind."""

import contextlib
import errno
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from apps.core import local_chain
from dev import anvil, demo_environment, embedded, processes, short_paths
from dev.demo import database, readiness, runner
from dev.management.commands.demo import Command as DemoCommand
from dev.ports import free_port
from tests.stack import processes_of, wait_for

ROOT = Path(__file__).resolve().parents[2]
# What a shell may have for other programs: no demo here is steered or broken by it.
OF_ANOTHER_PROJECT = {
    "DATABASE_URL": "postgresql://dev:dev@127.0.0.1:1/shop",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "ALLOWED_HOSTS": "foo",
    "DJANGO_SETTINGS_MODULE": "mysite.settings",
    "SECRET_KEY": "short",
    "LOG_LEVEL": "debug",
    "EMAIL_PORT": "none",
}
pytestmark = [
    pytest.mark.chain,
    pytest.mark.skipif(anvil.anvil_program() is None, reason="no local chain on this machine"),
]


class Demo:
    """A running `manage.py demo` in a folder of its own."""

    def __init__(self, folder: Path, port: int, *arguments: str) -> None:
        self.errors = folder.parent / f"{folder.name}.errors"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                manage("demo", "--port", str(port), "--json", *arguments),
                env=environment(folder),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    @cached_property
    def document(self) -> dict[str, Any]:
        """Output of the demo once it is ready."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.errors.read_text()
        found: dict[str, Any] = json.loads(line)
        return found

    def wait_for(self, told: str) -> None:
        while told not in self.errors.read_text():
            assert self.process.poll() is None, self.errors.read_text()
            time.sleep(0.05)

    def stop(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self.process.communicate(timeout=60)


def manage(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "manage.py"), *arguments]


def environment(folder: Path) -> dict[str, str]:
    ours = {*embedded.SERVICES, "PUBLIC_URL", "WEBHOOK_ALLOW_HOSTS", "LOG_LEVEL"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith("TILLGATE_")
    }
    return kept | OF_ANOTHER_PROJECT | {"TILLGATE_VAR": str(folder)}


def said(run: "subprocess.CompletedProcess[str]") -> str:
    """Output that a person reads, after the line about their shell."""
    first, _, rest = run.stderr.partition("\n")
    assert first.startswith("ALLOWED_HOSTS, DATABASE_URL, "), run.stderr
    return rest


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("demo")
    yield path
    for number in processes_of(path):
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


@pytest.mark.alone
def test_a_demo_is_alone_stops_in_five_seconds_and_keeps_its_data(folder: Path, port: int) -> None:
    demo = Demo(folder, port, "--days", "1")  # the demo of the clients' tests has a month
    assert demo.document == json.loads((folder / "demo.json").read_text())
    assert set(demo.document) == {"base_url", "dashboard", "admin", "store", "chains", "mailbox"}
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=60) as answer:
        assert all(part["ready"] for part in json.load(answer).values())
    checked = subprocess.run(  # its own coins count for good already
        manage("verify_ledger", "--chain"),
        env=dict(environment(folder).items() - OF_ANOTHER_PROJECT.items()),
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    second = subprocess.run(
        manage("demo", "--port", str(port + 1)),
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (second.returncode, said(second).count("\n")) == (1, 1)
    assert "already running" in second.stderr

    demo.stop(signal.SIGINT)
    assert demo.process.returncode == 0
    told = demo.errors.read_text()
    assert "Traceback" not in told
    assert "could not be finished" not in told
    # A page is named as soon as it answers, with who signs in.
    assert told.index("page ready in") < told.index("processes ready in")
    assert told.index("merchant@demo.example") < told.index("processes ready in")
    # What a person looks for stands last.
    assert (
        told.index("documentation")
        < told.index("Ctrl-C")
        < told.rindex("merchant@demo.example")
        < told.rindex("curl -s")
    )
    assert processes_of(folder) == {}
    assert not (folder / "demo.json").exists()

    again = Demo(folder, port)
    again.wait_for("demo store ready")
    assert json.loads((folder / "demo-store.json").read_text()) == demo.document["store"]
    chain = processes.published(folder, local_chain.ETHEREUM)["url"]
    for contract in demo.document["chains"]["live"]["tokens"].values():
        assert local_chain.call(chain, "eth_getCode", contract, "latest") != "0x"
    interrupt(again, folder)


def interrupt(demo: Demo, folder: Path) -> None:
    """Ctrl-C while it starts leaves no process, no file elsewhere and no traceback."""
    demo.process.send_signal(signal.SIGINT)
    demo.process.communicate(timeout=30)
    assert demo.process.returncode == 130
    assert "Traceback" not in demo.errors.read_text()
    assert processes_of(folder) == {}
    assert not short_paths.folder_of(folder).exists()


def test_a_store_that_was_half_made_is_made_again(folder: Path, port: int) -> None:
    demo = Demo(folder, port)
    demo.wait_for("tokens on the local chain ready")
    time.sleep(1)
    interrupt(demo, folder)
    assert "demo store ready" not in demo.errors.read_text()
    assert (folder / demo_environment.HALF_MADE).exists()
    again = Demo(folder, port, "--days", "1")
    assert again.document
    assert "half made" in again.errors.read_text()
    assert not (folder / demo_environment.HALF_MADE).exists()
    again.process.kill()  # as by the kernel: whatever it has started goes with it
    wait_for(lambda: processes_of(folder), lambda left: not left, 20)
    assert not short_paths.folder_of(folder).exists()
    assert not (folder / "demo.json").exists()


@pytest.mark.parametrize(
    "told", ["Redis ready", pytest.param("exchange rates ready", marks=pytest.mark.whole)]
)
def test_ctrl_c_while_it_starts_leaves_no_process_and_no_traceback(
    folder: Path, port: int, told: str
) -> None:
    demo = Demo(folder, port)
    demo.wait_for(told)
    interrupt(demo, folder)


@pytest.mark.whole
def test_a_process_that_died_ends_the_demo_and_is_named(folder: Path, port: int) -> None:
    """As it ends others that start processes so (test_runner, test_warm)."""
    demo = Demo(folder, port)
    assert demo.document
    beat = next(
        number
        for number in processes_of(folder)
        if Path(f"/proc/{number}/comm").read_text() == "tillgate beat\n"
    )
    os.kill(beat, signal.SIGKILL)
    demo.process.communicate(timeout=60)
    assert demo.process.returncode == 1
    assert "the demo stops because a process ended: beat" in demo.errors.read_text()
    assert processes_of(folder) == {}


def test_ctrl_c_is_remembered_where_python_drops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a callback of an import: what is raised there goes nowhere."""
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(demo_environment, "_interrupted", threading.Event())
    monkeypatch.setattr(runner.Processes, "take_signals", lambda _: None)
    try:
        demo_environment.take_interrupts()
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        with pytest.raises(SystemExit) as ended:
            DemoCommand().handle(json=True, port=1, days=0)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.value.code == 130


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--port", "0"), "argument --port: 0 is no port: 1 to 65535"),
        (("--port", "99999"), "argument --port: 99999 is no port: 1 to 65535"),
        (("--port", "http"), "argument --port: http is no port: 1 to 65535"),
        (("--days", "-3"), "argument --days: -3 days can't be made: 0 to 29"),
        (("--days", "30"), "argument --days: 30 days can't be made: 0 to 29"),
        (("--dayz", "3"), "unrecognized arguments: --dayz 3"),
    ],
)
def test_what_it_can_not_do_is_refused_before_anything_starts(
    arguments: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        demo_environment.read([*arguments])
    told = capsys.readouterr().err
    assert told == f"usage: manage.py demo [options]\nmanage.py demo: error: {line}\n"


def test_a_port_of_root_is_refused_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    class Refused(socket.socket):
        bind = refuse

    monkeypatch.setattr(socket, "socket", Refused)
    with pytest.raises(SystemExit, match=r"port 1 can't be used \(Permission denied\)"):
        demo_environment.check_port(1)


FULL_DISK = OSError(errno.ENOSPC, "No space left on device")


def fail(*arguments: Any) -> None:
    raise FULL_DISK


def test_an_unexpected_failure_before_it_starts_is_one_line_and_the_rest_is_in_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = ("TILLGATE_ENV", "PUBLIC_URL", "WEBHOOK_ALLOW_HOSTS", "LOG_LEVEL")
    for name in (*embedded.SERVICES, *changed):
        monkeypatch.setenv(name, "demo")
    monkeypatch.setenv("TILLGATE_VAR", str(folder))
    monkeypatch.setattr(embedded, "ensure", lambda **_: fail())
    monkeypatch.setattr(demo_environment, "take_interrupts", lambda: None)
    monkeypatch.setattr(demo_environment, "check_port", lambda _: None)
    with pytest.raises(SystemExit) as ended:
        demo_environment.prepare([])
    assert ended.value.code == (
        "the demo can't start: OSError: [Errno 28] No space left on device"
        f" (more in {folder}/trouble.log)"
    )
    assert "Traceback" in (folder / "trouble.log").read_text()


@pytest.mark.parametrize("place", ["while it is made", "once a page answers"])
def test_a_disk_that_is_full_later_is_one_line_and_the_rest_is_in_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, settings: Any, place: str
) -> None:
    settings.VAR_DIR = folder
    monkeypatch.setattr(runner.Processes, "take_signals", lambda _: None)
    monkeypatch.setattr(database, "bring_up_to_date", fail)
    monkeypatch.setattr(readiness, "wait_for", fail)
    told = io.StringIO()
    command = DemoCommand(stderr=told)
    if place == "while it is made":
        with pytest.raises(SystemExit) as ended:
            command.handle(json=True, port=1, days=0)
        assert ended.value.code == 1
    else:
        command.processes = runner.Processes()
        command._finish(*[None] * 5)  # type: ignore[arg-type]  # it fails before it reads them
        assert command.is_broken
        assert command.processes.is_stopping
    assert told.getvalue() == (
        "the demo couldn't be set up and stops: OSError: [Errno 28] No space left on device"
        f" (more in {folder}/trouble.log)\n"
    )
    assert "Traceback" in (folder / "trouble.log").read_text()


def test_a_taken_port_is_one_line_and_nothing_is_started(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = subprocess.run(
            manage("demo", "--port", str(port)),
            env=environment(folder),
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.returncode == 1
    assert (
        said(run)
        == f"port {port} is taken: stop what listens there, or choose another with --port\n"
    )
    assert not (folder / "postgres").exists()
