"""Processes under one roof: what one says is passed on, one that dies ends all, and none is
left."""

import os
import signal
import sys
import threading
import time

import pytest

from dev.demo.runner import Processes

STUBBORN = (
    "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    " print('here', flush=True); time.sleep(60)"
)
PARENT = (
    f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {STUBBORN!r}]);"
    " print(child.pid, flush=True); child.wait()"
)


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def until(happened: object) -> None:
    deadline = time.monotonic() + 30
    while not happened():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_one_that_dies_is_named_and_the_others_are_stopped(
    capfd: pytest.CaptureFixture[str],
) -> None:
    processes = Processes()
    processes.start("long", python("import time; print('begun', flush=True); time.sleep(60)"))
    processes.start("short", python("import sys; print('last words', flush=True); sys.exit(3)"))
    assert processes.watch() == 1
    told = capfd.readouterr().err
    assert "the demo stops because a process ended: short stopped (rc=3)\n" in told
    assert "short   | last words" in told


def test_a_stop_ends_what_ignores_it_and_what_that_has_started(
    capfd: pytest.CaptureFixture[str],
) -> None:
    processes = Processes()
    told = ""
    processes.start("parent", python(PARENT))
    for _ in range(1500):
        told += capfd.readouterr().err
        if "here" in told:
            break
        time.sleep(0.02)
    child = next(int(word) for word in told.split() if word.isdigit())
    assert is_alive(child)
    threading.Timer(0.1, processes.stop).start()
    assert processes.watch() == 0
    until(lambda: not is_alive(child))


def test_once_it_stops_nothing_is_started() -> None:
    processes = Processes()
    processes.stop()
    processes.start("late", python("import time; time.sleep(60)"))
    assert processes.watch() == 0


def test_ctrl_c_is_a_stop_and_no_failure() -> None:
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    processes = Processes()
    try:
        processes.take_signals()
        processes.start("long", python("import time; time.sleep(60)"))
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        assert processes.watch() == 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
