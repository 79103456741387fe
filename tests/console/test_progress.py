"""How far something is: a bar on a terminal, lines elsewhere, and what is left in seconds."""

import os
import pty
import time

import pytest

from dev import progress, running
from dev.template_database import AppliedMigrations


class Clock:
    """Time that passes on request."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_what_is_left_is_judged_by_what_it_took(clock: Clock) -> None:
    bar = progress.ProgressBar("counting")
    assert bar.line() == "counting: 0%"
    clock.now += 10
    bar.at(1, 4)
    assert bar.line() == "counting: 25%, about 30 s left"
    assert bar.bar(80) == "[######..................]  25%, about 30 s left  counting"
    assert len(bar.bar(40)) == 39
    bar.at(9, 4)
    assert bar.line() == "counting: 100%, almost done"


def test_steps_side_by_side_are_as_far_as_the_longest_lane(clock: Clock) -> None:
    bar = progress.OfLanes("setting up", [[("packages", 40), ("Redis", 10)], [("chain", 50)]])
    with bar.during("packages"):
        clock.now += 20
        bar.tick()
        assert bar.line() == "packages: 20%, about 50 s left"
        clock.now += 400  # a slow machine: it waits at the end of the step
        bar.tick()
        assert bar.line() == "packages: 38%, about 50 s left"
    with bar.during("chain"), bar.during("Redis"):
        clock.now += 10
        bar.tick()
        assert bar.line() == "chain, Redis: 60%, about 40 s left"
    bar.tick()
    assert bar.share == 1


def test_lines_are_told_where_nobody_sees_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "TOLD_SECONDS", 0.05)
    monkeypatch.setattr(progress, "DRAWN_SECONDS", 0.01)
    with progress.ProgressBar("counting") as bar:
        bar.at(1, 2)
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert 1 < len(lines) < 10
    assert set(lines) == {"counting: 50%"}


def test_a_bar_stands_below_what_is_said_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, terminal = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "DRAWN_SECONDS", 0.01)
    with os.fdopen(terminal, "w") as stderr:
        monkeypatch.setattr("sys.stderr", stderr)
        with progress.ProgressBar("counting"):
            time.sleep(0.1)
            running.say("a line")
        running.say("the end")
        drawn = ""
        while "the end\r\n" not in drawn:
            drawn += os.read(reader, 4096).decode()
    os.close(reader)
    assert "[........................]   0%  counting" in drawn
    assert "\r\x1b[Ka line\r\n[....." in drawn, "the bar is drawn again below the line"
    assert drawn.endswith("\r\x1b[Kthe end\r\n")


def test_migrations_are_counted_as_they_are_applied() -> None:
    bar = progress.ProgressBar("migrating")
    stream = AppliedMigrations(bar)
    stream.write("Operations to perform:\n")
    stream.write("  Apply all migrations: assets, sessions, unknown\n")
    assert bar.share == 0
    for name in ("assets.0001_first", "sessions.0001_initial"):
        stream.write(f"  Applying {name}...")
        stream.write(" OK\n")
    assert 0 < bar.share < 1
