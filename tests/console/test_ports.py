"""Ports for the servers of tests and demos: no two processes get the same one, and no client."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dev import ports

ROOT = Path(__file__).resolve().parents[2]
# Both begin at the same port, and the second asks while the first still runs.
TWO = """
import os, signal
from dev.ports import free_port
hear, tell = os.pipe()
other = os.fork()
if other:
    os.read(hear, 1)
print(*[free_port() for _ in range(20)], flush=True)
if other:
    os.kill(other, signal.SIGKILL)
else:
    os.write(tell, b"x")
    signal.pause()
"""


def test_no_port_is_given_twice_and_none_that_the_kernel_gives_to_clients() -> None:
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    found = [ports.free_port() for _ in range(50)]
    assert len(set(found)) == 50
    assert not [port for port in found if low <= port <= high]


def test_processes_that_run_at_once_get_different_ports() -> None:
    told = subprocess.check_output([sys.executable, "-c", TWO], cwd=ROOT, text=True, timeout=20)
    assert len(set(told.split())) == 40


def test_where_somebody_listens_nobody_else_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(ports, "PORTS", range(port, port + 1))
        monkeypatch.setattr(ports, "_upcoming", iter([port]))
        with pytest.raises(RuntimeError, match=f"no port from {port} to {port} is free"):
            ports.free_port()
