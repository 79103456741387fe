"""A shop of these tests, and the service that it sells through."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from playwright.sync_api import Browser, BrowserContext, Page

from tests.stack import ROOT, WAIT_SECONDS, Remote, wait_for

KEPT = ROOT / "var" / "shops"
SECONDS = 1200
LATE_SECONDS = 300.0
PAGE_MILLISECONDS = 180_000
# Nothing refuses simulated coins: this does what is done once a real transfer has failed.
FAIL_REFUND = """
import time
from django.db import transaction
from apps.payments.models import Refund
from apps.payments.services.refund_progress import FOLLOWER
end = time.monotonic() + {seconds}
while not (found := Refund.objects.filter(payment_id="{payment}").first()):
    assert time.monotonic() < end, "no refund was asked for"
    time.sleep(0.1)
with transaction.atomic():
    row = FOLLOWER.locked(found.pk)
    assert FOLLOWER.is_open(row), row.status
    FOLLOWER.fail_unasked(
        row, row.asset, row.amount_atomic, "The recipient refuses it", FOLLOWER.now(row)
    )
"""


@dataclass(frozen=True)
class Order:
    """An order of the shop, and the payment of Tillgate that the customer was sent to."""

    name: str
    page: Page
    payment: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.payment["id"])


class Shop(Protocol):
    title: str
    url: str
    webhook: str
    unpaid: str  # what becomes of an order whose payment ended
    waiting: str  # and of one that a part has come for
    left_out: dict[str, str]  # a story that it can't tell -> why

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def kill(self) -> None: ...

    def set_up(self, browser: Browser) -> None:
        """Everything that its owner does once, in its own pages."""

    def order(self, browser: Browser) -> Order:
        """A customer puts something in the cart, and comes to the payment page."""

    def state(self, order: Order) -> str:
        """The order's state by the shop's own API: unpaid, waiting, paid, refunded, canceled or
        failed."""

    def cancel(self, order: Order) -> None: ...

    def refund(self, order: Order, amount: str) -> None: ...

    def refunded(self, order: Order) -> str:
        """The amount refunded, by the shop."""

    def catch_up(self) -> None: ...

    def claim(self, order: Order, payment: str) -> None:
        """The customer's program names a payment of Tillgate as the order's."""

    def offers_outside_test_mode(self, browser: Browser) -> bool:
        """Tell whether a test key sells in a shop that is live."""


@dataclass
class Service:
    """The running demo, as the shop's owner and as a customer see it."""

    info: dict[str, Any]
    environ: dict[str, str] | None = None  # For commands of its operator; None if it is another's.
    api: Remote = field(init=False)

    def __post_init__(self) -> None:
        self.api = Remote(self.url, self.key)

    @property
    def url(self) -> str:
        return str(self.info["base_url"])

    @property
    def key(self) -> str:
        return str(self.info["store"]["keys"]["test"]["secret"])

    def pay(self, payment: str, scenario: str = "exact", **fields: Any) -> None:
        told = {"scenario": scenario, **fields}
        self.api("POST", f"/payments/{payment}/simulated_payments", {"simulated_payment": told})

    def payment(self, payment: str) -> dict[str, Any]:
        return self.api.detail(payment)

    def expire(self, payment: str) -> None:
        """Move the clock of test mode past the payment's end, which may take it some time."""
        wait_for(lambda: self.api("GET", "/test_clock")["status"], lambda told: told == "ready")
        self.api("POST", "/test_clock/advance", {"seconds": 90_000})
        self.api.until(payment, "expired", LATE_SECONDS)

    def failing_refund(self, payment: str) -> "Program":
        """A program that waits for a refund of the payment, and fails it as a network would."""
        assert self.environ is not None
        code = FAIL_REFUND.format(payment=payment, seconds=WAIT_SECONDS)
        command = (sys.executable, "manage.py", "shell", "-c", code)
        return Program(command, ROOT, self.environ, KEPT / "failed-refunds.log")

    def endpoint(self, url: str) -> str:
        rows = self.api("GET", "/webhook_endpoints")
        found = [one["id"] for one in rows if one["url"] == url]
        assert found, f"no endpoint is registered for {url}"
        return str(found[-1])


class Program:
    """A process group: servers of shops fork, and their children outlive them."""

    def __init__(
        self, command: Sequence[str | Path], folder: Path, environment: dict[str, str], log: Path
    ) -> None:
        with log.open("a") as told:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **environment},
                stdout=told,
                stderr=told,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)
            self.process.wait(60)


def visitor(browser: Browser, width: int = 1280, height: int = 900) -> BrowserContext:
    """Somebody else's browser, which waits longer than usual: shops are slow on a busy machine."""
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(PAGE_MILLISECONDS)
    return context


def run(
    command: Sequence[str | Path], folder: Path, environment: dict[str, str] | None = None
) -> str:
    """It must succeed; what it printed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    told = f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    assert done.returncode == 0, told
    return done.stdout


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
