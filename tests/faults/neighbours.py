"""`python -m tests.faults.neighbours [seconds]`: every attack of a bad neighbor at once, beside an
honest merchant.

The honest merchant's payments, refunds, payouts, webhooks and reads are timed while all is quiet
and then while the attacks run; each must arrive, and within twice its quiet time. Exit 1 when one
doesn't, or the audit of books and chain has something to say.
"""

import json
import random
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

import requests

from apps.core import local_chain
from dev.demo.chain import DemoWallet
from tests.faults.attacks import ATTACKS, PASSWORD, Mallory
from tests.stack import Demo, Remote, wait_for
from tests.webhooks.receivers import Receiver

QUIET_SECONDS = 60.0
ATTACK_SECONDS = 300.0
FACTOR_MAX = 2.0
# On average: at any moment between two blocks, so that it isn't in step with them.
PAUSE_SECONDS = 1.0
# What is asked for once a second by whoever watches a page is told no faster than this.
FLOOR_SECONDS = 0.25
PATIENCE_SECONDS = 120.0
DRAINED_SECONDS = 300.0
UNDER_WAY = ("pending", "submitted", "retrying")
PAYOUT_WEI = 2 * 10**15
FUNDS_WEI = 6 * 10**17
SEEN_EVENT = "payment_intent.completed"


@dataclass
class Times:
    """How long each thing took from asking until it had arrived, by phase."""

    phase: str = "quiet"
    took: dict[str, dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    wrong: list[str] = field(default_factory=list)

    def measure(self, what: str, act: Callable[[], Any]) -> Any:
        phase = self.phase
        began = time.monotonic()
        try:
            result = act()
        except (AssertionError, requests.RequestException) as error:
            self.wrong.append(f"{what} ({phase}): {type(error).__name__} {str(error)[:200]}")
            return None
        self.took[what][phase].append(time.monotonic() - began)
        return result

    def verdicts(self) -> list[tuple[str, int, float, float, float, bool]]:
        """The operation, how often it ran under attack, quiet and attacked median, the slowest, and
        whether it is good enough."""
        found = []
        for what, phases in sorted(self.took.items()):
            quiet = phases["quiet"]
            attacked = phases["attacked"]
            if not quiet or not attacked:
                found.append((what, len(attacked), 0.0, 0.0, 0.0, False))
                continue
            most = FACTOR_MAX * max(median(quiet), FLOOR_SECONDS)
            good = median(attacked) <= most
            found.append(
                (what, len(attacked), median(quiet), median(attacked), max(attacked), good)
            )
        return found


class Honest:
    """A merchant with a shop in test mode and coins of its own in live mode, who does everything
    over and over."""

    def __init__(self, demo: Demo, times: Times) -> None:
        made = open_store(demo, "Honest")
        self.base_url = demo.info["base_url"]
        self.times = times
        self.test = Remote(self.base_url, made["keys"]["test"]["secret"])
        self.live = Remote(self.base_url, made["keys"]["live"]["secret"])
        self.chain = DemoWallet(*wallet_of(demo, "live"))
        self.receiver = Receiver()
        endpoint = {"url": self.receiver.url, "subscribed_events": [SEEN_EVENT]}
        self.test("POST", "/webhook_endpoints", {"webhook_endpoint": endpoint})
        self.number = 0
        fund(self.live, self.chain, FUNDS_WEI)
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=(act,), daemon=True)
            for act in (self.sale, self.payout, self.read)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(2 * PATIENCE_SECONDS)

    def _repeat(self, act: Callable[[], None]) -> None:
        while not self._ended.is_set():
            act()
            self._ended.wait(random.uniform(0.0, 2 * PAUSE_SECONDS))

    def sale(self) -> None:
        """A payment, its webhook, and its refund."""
        measure = self.times.measure
        payment = measure("payment asked for", lambda: self.test.payment())
        if payment is None:
            return
        paid = f"/payments/{payment['id']}"
        self.test("POST", f"{paid}/simulated_payments", {})
        measure(
            "payment completed",
            lambda: self.test.until(payment["id"], "completed", PATIENCE_SECONDS),
        )
        measure(
            "webhook arrived",
            lambda: wait_for(lambda: self._heard(payment["id"]), bool, PATIENCE_SECONDS),
        )
        measure("refund confirmed", lambda: self._refund(paid))

    def _heard(self, payment_id: str) -> bool:
        return any(
            payment_id.encode() in request["raw"] for request in list(self.receiver.requests)
        )

    def _refund(self, paid: str) -> None:
        key = {"Idempotency-Key": paid}
        answer = self.test.session.post(
            f"{self.base_url}/api/v2{paid}/refunds",
            json={"refund": {"amount": "0.001"}},
            headers=key,
            timeout=30,
        )
        assert answer.status_code == 201, answer.text
        wait_for(
            lambda: [item["status"] for item in self.test("GET", f"{paid}/refunds")],
            lambda found: found == ["confirmed"],
            PATIENCE_SECONDS,
        )

    def payout(self) -> None:
        """Live coins to a new address, until they are there."""
        self.number += 1
        to = f"0x{self.number + 7 * 10**30:040x}"
        self.times.measure("payout arrived", lambda: self._pay_out(to))

    def _pay_out(self, to: str) -> None:
        body = {"asset_id": "ETH", "amount_atomic": str(PAYOUT_WEI), "destination_address": to}
        answer = self.live.session.post(
            f"{self.base_url}/api/v2/payouts",
            json=body,
            headers={"Idempotency-Key": to},
            timeout=30,
        )
        assert answer.status_code == 201, answer.text
        wait_for(
            lambda: int(local_chain.call(self.chain.url, "eth_getBalance", to, "latest"), 16),
            lambda balance: balance == PAYOUT_WEI,
            PATIENCE_SECONDS,
        )

    def read(self) -> None:
        self.times.measure("GET /payments", lambda: self.test("GET", "/payments"))
        self.times.measure("GET /healthz", self._health)

    def _health(self) -> None:
        assert requests.get(f"{self.base_url}/healthz", timeout=30).status_code == 200


def open_store(demo: Demo, name: str) -> Any:
    email = f"{name.lower().replace(' ', '-')}@example.com"
    words = ("create_store", "--name", name, "--email", email, "--password", PASSWORD, "--json")
    run = demo.manage(*words)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def wallet_of(demo: Demo, mode: str) -> tuple[str, str]:
    chain = demo.info["chains"][mode]
    return chain["rpc_url"], chain["funded_private_key"]


def fund(api: Remote, wallet: DemoWallet, amount_wei: int) -> None:
    """Sell something for about so much ether, so that the store can pay it out."""
    made = api.payment(amount=f"{amount_wei * 2500 // 10**18}.00")
    entry = next(
        payment_address
        for payment_address in made["payment_addresses"]
        if payment_address["supported_asset"]["asset_id"] == "ETH"
    )
    wallet.receipt(wallet.send(entry["address"], int(entry["crypto_amount_atomic"])))
    api.until(made["id"], "completed", PATIENCE_SECONDS)


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else ATTACK_SECONDS
    demo = Demo()
    times = Times()
    try:
        honest = Honest(demo, times)
        mallory = Mallory(demo, open_store(demo, "Mallory"), DemoWallet(*wallet_of(demo, "live")))
        honest.start()
        time.sleep(min(QUIET_SECONDS, seconds))
        times.phase = "attacked"
        mallory.start()
        time.sleep(seconds)
        mallory.stop()
        honest.stop()
        report(times, mallory)
        for api in (honest.live, mallory.live):
            wait_for(partial(under_way, api), lambda count: count == 0, DRAINED_SECONDS)
        audit = demo.manage("verify_ledger", "--chain")
        wrong = [line for line in audit.stdout.splitlines() if " OK " not in line]
        print(
            "\n".join([*wrong, audit.stderr[-2000:]])
            if audit.returncode
            else "verify_ledger --chain: clean"
        )
        is_good = all(row[-1] for row in times.verdicts()) and not times.wrong
        return 0 if is_good and audit.returncode == 0 else 1
    finally:
        demo.stop()


def under_way(api: Remote) -> int:
    """Payouts that the chain may have and the books don't know of yet."""
    return sum(len(api("GET", f"/payouts?status={status}")["data"]) for status in UNDER_WAY)


def report(times: Times, mallory: "Mallory") -> None:
    print(f"{'what arrived':<20} {'n':>5} {'quiet s':>8} {'attacked':>9} {'slowest':>8}")
    for what, count, quiet, attacked, slowest, good in times.verdicts():
        print(
            f"{what:<20} {count:>5} {quiet:>8.2f} {attacked:>9.2f} {slowest:>8.2f}"
            f" {'' if good else 'TOO SLOW'}"
        )
    for name in ATTACKS:
        print(f"  {name:<32} {dict(mallory.told[name])}")
    for line in times.wrong[:20]:
        print("  wrong:", line)


if __name__ == "__main__":
    sys.exit(main())
