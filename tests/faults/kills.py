"""A worker killed at every point of what leaves: payouts, refunds, swaps, sweeps, draws and what
payers signed, on a chain of its own.

Each job runs in a forked child, so that a SIGKILL takes no other with it; the parent never touches
the database. What the parent asks for is always asked again under the same key, as a caller who got
no answer would.
"""

import gc
import importlib
import os
import pickle
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dev import embedded, scratch
from tests.faults import agents, children
from tests.faults.children import CHAIN

KINDS = ("refund", "swap", "sweep", "settlement", "x402", "payout")
PLACES = tuple(f"send.K{number}" for number in range(1, 9))
# Points of their own that some have beside those of the sender; there they are killed first.
OWN_PLACES = {
    "payout": ("payout.K1", "payout.K2", "payout.K7"),
    "swap": ("swap.K1", "swap.K8"),
    **{kind: (f"{kind}.K1", f"{kind}.K2") for kind in agents.KINDS},
}
# Loaded once, and the keys opened, so that the children don't.
LOADED = (
    *(
        "apps.payouts.services.create",
        "apps.payouts.services.progress",
        "apps.payments.services.refund_progress",
        "apps.chain.sending.sweeper",
    ),
    *(
        "apps.swaps.services.create",
        "apps.swaps.services.progress",
        "apps.swaps.providers.uniswap",
        "apps.payments.services.sweep_books",
        "apps.chain.watching.watcher",
    ),
    "apps.agents.services.dispatch",
    "apps.agents.services.settle",
    "apps.agents.services.x402_settle",
    "tests.faults.agents",
    "tests.agents.paying",
    *(
        "apps.audit.verify",
        "dev.demo.exchange",
        "apps.chain.providers.jsonrpc",
        "tests.make",
        "tests.sending.worker",
    ),
)


@dataclass
class Outcome:
    """Result of the kills. `resumed_seconds` is how long after each kill everything had come to its
    end."""

    killed: Counter[tuple[str, str]] = field(default_factory=Counter)
    passed_by: Counter[tuple[str, str]] = field(default_factory=Counter)
    resumed_seconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class World:
    """Embedded services of its own, a store with money, and the means to run one round of the
    worker and to kill it in there."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="tgk", dir=scratch.place())
        os.environ |= {
            "TILLGATE_VAR": str(Path(self.folder.name) / "test"),
            "TILLGATE_ENV": "test",
            "LOG_LEVEL": "CRITICAL",
        }
        for name in (*embedded.SERVICES, embedded.WITHOUT):
            os.environ.pop(name, None)
        embedded.ensure(mode=embedded.TEST)
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        self.url = os.environ["CHAIN_SEPOLIA_URL"]
        import django

        django.setup()
        for name in LOADED:
            importlib.import_module(name)
        gc.freeze()
        self.facts: dict[str, Any] = self.run(lambda: children.open_store(self.url))
        self._name_exchange()
        self.number = 0

    def _name_exchange(self) -> None:
        from django.conf import settings

        settings.SWAP_ROUTERS = [f"{CHAIN}={self.facts['router']}"]
        settings.PROVIDERS["swaps"]["test"] = [
            {"BACKEND": "apps.swaps.providers.uniswap.Uniswap", "OPTIONS": {}}
        ]

    def close(self) -> None:
        embedded.leave_all()
        self.folder.cleanup()

    # --- children ---------------------------------------------------------------------------------

    def run(self, job: Callable[[], Any]) -> Any:
        """The job's result, done in a child. Raises RuntimeError when the child broke."""
        is_killed, result = self._fork(job, "")
        if is_killed or result is None or result[0] != "done":
            raise RuntimeError(f"a child broke: {result}")
        return result[1]

    def kill_at(self, place: str, job: Callable[[], Any]) -> bool:
        """Tell whether the job came by the place, and so was killed there."""
        is_killed, result = self._fork(job, place)
        if not is_killed and (result is None or result[0] != "done"):
            raise RuntimeError(f"a child broke: {result}")
        return is_killed

    def _fork(self, job: Callable[[], Any], place: str) -> tuple[bool, Any]:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            os.environ["TILLGATE_FAILPOINT"] = place
            try:
                answer: Any = ("done", job())
            except BaseException as error:
                answer = ("broke", repr(error))
            with os.fdopen(writer, "wb") as out:
                pickle.dump(answer, out)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as told:
            data = told.read()
        _, status = os.waitpid(pid, 0)
        is_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        return is_killed, pickle.loads(data) if data else None

    # --- one kill ---------------------------------------------------------------------------------

    def suffer(self, kind: str, place: str, outcome: Outcome) -> None:
        """Ask for something, kill the worker there, and see that it comes to its one right end in
        time."""
        self.number += 1
        wish = self.run(lambda: children.prepare(self.url, self.facts, kind, self.number))
        was_killed = self.kill_at(place, lambda: children.ask_and_work(self.url, self.facts, wish))
        (outcome.killed if was_killed else outcome.passed_by)[(kind, place)] += 1
        began = time.monotonic()
        fault = self.run(lambda: children.recover(self.url, self.facts, wish))
        outcome.resumed_seconds.append(time.monotonic() - began)
        if fault:
            outcome.faults.append(f"{kind} killed at {place}: {fault}")

    def findings(self) -> list[str]:
        """Findings of the audit of ledger and chain at the end."""
        found: list[str] = self.run(lambda: children.audit(self.url))
        return found


def _place(kind: str, turn: int) -> str:
    """The next place of a kind."""
    if kind in OWN_PLACES:
        places = OWN_PLACES[kind] + PLACES
        return places[turn // len(KINDS) % len(places)]
    return PLACES[(turn // len(KINDS) + turn) % len(PLACES)]


def suffer_many(kills: int, say: Callable[[str], None]) -> tuple[Outcome, list[str]]:
    """As many kills, spread evenly over kinds and places; what they did, and what the audit found
    afterwards."""
    world = World()
    outcome = Outcome()
    try:
        turn = 0
        while sum(outcome.killed.values()) < kills and turn < 2 * kills:
            kind = KINDS[turn % len(KINDS)]
            world.suffer(kind, _place(kind, turn), outcome)
            turn += 1
            if turn % 10 == 0:
                say(
                    f"{sum(outcome.killed.values())} of {kills} kills, {len(outcome.faults)} faults"
                )
        return outcome, world.findings()
    finally:
        world.close()
