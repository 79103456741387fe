"""Waiting for programs that start: slow is no failure while anything moves, and a program that does
nothing is given up with its name, its log and the reason."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from apps.core import local_chain
from dev import embedded, processes, waiting
from dev.demo.chain import DemoWallet

# A process at work on a busy machine may get no processor for a while.
STILL_SECONDS = 3.0
STARTS_AFTER = 4.5  # longer than nothing may move
# Programs that are slow: at work on a processor, on a disk, in a child, or telling what they do.
AT_WORK = {
    "a processor": "while time.time() < end: sum(range(200_000)); time.sleep(0.05)",
    "its log": "while time.time() < end: print('recovering', flush=True); time.sleep(0.2)",
    "a disk": (
        "while time.time() < end:\n"
        "    with open(sys.argv[1] + '.data', 'ab') as file:\n"
        "        file.write(b'x' * 8192); file.flush(); os.fsync(file.fileno())\n"
        "    time.sleep(0.2)"
    ),
    "a child": (
        "child = subprocess.Popen([sys.executable, '-c',"
        " 'import time\\nwhile True: sum(range(200_000)); time.sleep(0.05)'])\n"
        "time.sleep(end - time.time()); child.kill()"
    ),
}
SLOW = "import os, subprocess, sys, time\nend = time.time() + {seconds}\n{work}\n{then}"
READY = "open(sys.argv[1], 'w').close(); time.sleep(60)"


class SlowProcess:
    """A process that is ready once its file is there."""

    def __init__(self, folder: Path, work: str, then: str = READY) -> None:
        self.file = folder / "ready"
        self.log = folder / "slow.log"
        program = SLOW.format(seconds=STARTS_AFTER, work=work, then=then)
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", program, str(self.file)], stdout=log, stderr=log
            )

    def wait(self) -> None:
        try:
            processes.wait_until(
                self.file.exists, self.process, "the stand-in", self.log, STILL_SECONDS
            )
        finally:
            self.process.kill()
            self.process.wait()


@pytest.mark.parametrize("work", AT_WORK)
def test_what_is_slow_is_waited_for_while_it_is_at_work(
    tmp_path: Path, work: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(waiting, "TOLD_SECONDS", 0.5)
    SlowProcess(tmp_path, AT_WORK[work]).wait()
    assert "waiting for the stand-in" in capsys.readouterr().err


def test_what_stands_still_is_given_up_with_the_reason(tmp_path: Path) -> None:
    slow = SlowProcess(tmp_path, "time.sleep(60)")
    with pytest.raises(processes.StartFailed) as told:
        slow.wait()
    assert str(told.value) == (
        "gave up waiting for the stand-in: no work of its process, nothing new in"
        f" {slow.log} for 3 s"
    )


def test_what_ended_is_told_at_once_with_its_status(tmp_path: Path) -> None:
    slow = SlowProcess(tmp_path, "sys.exit(3)")
    with pytest.raises(processes.StartFailed) as told:
        slow.wait()
    assert str(told.value) == f"the stand-in ended with status 3; its log is {slow.log}"


def test_a_database_that_recovers_for_long_is_waited_for(tmp_path: Path) -> None:
    """A start after a crash: connections are refused immediately, and it goes on."""
    slow = SlowProcess(tmp_path, AT_WORK["a processor"])
    (tmp_path / "postmaster.pid").write_text(f"{slow.process.pid}\n{tmp_path}\n")

    def start() -> None:
        assert slow.file.exists()

    try:
        embedded._wait_for_postgres(start, tmp_path, STILL_SECONDS)
    finally:
        slow.process.kill()
        slow.process.wait()
    slow.file.unlink()
    with pytest.raises(processes.StartFailed, match="gave up waiting for PostgreSQL"):
        embedded._wait_for_postgres(start, tmp_path, STILL_SECONDS)


class ScriptedChain:
    """A chain's answers, by how often it was asked for its newest block."""

    def __init__(self, *, mined_at: int, last: int) -> None:
        self.asked = 0
        self.mined_at = mined_at
        self.last = last

    def __call__(self, url: str, method: str, *params: object) -> object:
        if method == "eth_blockNumber":
            self.asked += 1
        number = min(self.asked // 8, self.last)
        receipt = {"status": "0x1", "contractAddress": None} if number >= self.mined_at else None
        answers = {"eth_chainId": "0x7a69", "eth_blockNumber": hex(number)}
        return answers.get(method, receipt)


def receipt_from(chain: ScriptedChain, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setattr(local_chain, "call", chain)
    wallet = DemoWallet("http://127.0.0.1:9", "0x" + "1" * 64)
    wallet.still_seconds = STILL_SECONDS
    return wallet.receipt("0xfeed")


def test_a_receipt_is_waited_for_while_blocks_come(monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.monotonic()
    assert receipt_from(ScriptedChain(mined_at=6, last=100), monkeypatch)
    assert time.monotonic() - began > STILL_SECONDS


def test_a_receipt_is_given_up_when_no_block_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(waiting.NothingMoves) as told:
        receipt_from(ScriptedChain(mined_at=6, last=2), monkeypatch)
    assert str(told.value) == "gave up waiting for the block of 0xfeed: no new block for 3 s"


def test_a_receipt_is_given_up_when_many_blocks_come_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dev.demo.chain.BLOCKS_MAX", 3)
    with pytest.raises(local_chain.ChainRefused, match="0xfeed is in none of 3 blocks"):
        receipt_from(ScriptedChain(mined_at=90, last=100), monkeypatch)
