"""Processes without a port show that their loop turns; a worker is ended only when Redis is there
and it doesn't answer.

That loops turn while Redis is away is tested in tests/console/test_exporters.py.
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from apps.core.process import liveness
from apps.core.process.liveness import Liveness
from config.alive import AGE_SECONDS_MAX
from tests.stack import ROOT

CHART = ROOT / "deploy/helm/tillgate/templates/processes.yaml"
AWAY = "redis://127.0.0.1:9/0"


def ask(file: Path) -> int:
    command = [sys.executable, "-m", "config.alive"]
    environ = {**os.environ, "ALIVE_FILE": str(file)}
    return subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode


def test_a_file_that_is_fresh_is_a_loop_that_turns(tmp_path: Path) -> None:
    file = tmp_path / "alive"
    assert ask(file) == 1
    Liveness(str(file)).touch()
    assert ask(file) == 0
    long_ago = time.time() - AGE_SECONDS_MAX - 5
    os.utime(file, (long_ago, long_ago))
    assert ask(file) == 1


def test_it_is_touched_again_after_some_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "alive"
    turns = Liveness(str(file))
    turns.touch()
    file.unlink()
    turns.touch()
    assert not file.exists()
    monkeypatch.setattr(liveness, "TOUCH_SECONDS", 0.0)
    turns.touch()
    assert file.exists()


@pytest.mark.parametrize("is_abstract", [False, True])
def test_the_watchdog_of_systemd_hears_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_abstract: bool
) -> None:
    address = f"@tillgate-{os.getpid()}" if is_abstract else str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{address[1:]}" if is_abstract else address)
        manager.settimeout(5)
        Liveness("").touch()
        assert manager.recv(100) == b"WATCHDOG=1"
        monkeypatch.setenv("WATCHDOG_PID", "1")
        Liveness("").touch()
        manager.setblocking(False)
        with pytest.raises(BlockingIOError):
            manager.recv(100)


def probe(name: str) -> str:
    """The command of a worker's probe."""
    text = CHART.read_text()
    part = text[text.index(f"{name}:", text.index("exec: &ping")) :]
    line = next(line for line in part.splitlines() if "command:" in line)
    shell: str = yaml.safe_load(line.partition("command:")[2])[2]
    return shell


@pytest.mark.parametrize(("url", "status"), [(AWAY, 0), ("", 1)], ids=["away", "there"])
def test_a_worker_that_is_silent_is_ended_only_while_redis_is_there(url: str, status: int) -> None:
    environ = {**os.environ, "HOSTNAME": "nobody"}
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    if url:
        environ["REDIS_URL"] = url
    run = subprocess.run(
        ["sh", "-c", probe("livenessProbe")],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == status, run.stdout + run.stderr
