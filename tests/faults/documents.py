"""`python -m tests.faults.documents [clients] [seconds]`: many ask for invoices as PDF while others
go about their business.

Prints how long /healthz and another store's payments took before and meanwhile. Exit 1 when
anything but a PDF, a refusal with its Retry-After, or an answer came.
"""

import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import requests

from tests.bench.harness import print_table
from tests.faults.running import Stack
from tests.stack import Remote, wait_for

FINE = {200, 429, 503}


class Asked:
    """Answers to one question, asked again and again."""

    def __init__(self, ask: Callable[[], int]) -> None:
        self.ask = ask
        self.statuses = Counter[int]()
        self.times = list[float]()

    def once(self) -> None:
        begin = time.monotonic()
        try:
            status = self.ask()
        except requests.RequestException:
            status = 0
        self.times.append(time.monotonic() - begin)
        self.statuses[status] += 1

    def row(self, name: str) -> list[str]:
        times = sorted(self.times)
        spread = [statistics.median(times), times[int(len(times) * 0.95)], times[-1]]
        return [
            name,
            str(len(times)),
            *(f"{item * 1000:.0f} ms" for item in spread),
            str(dict(self.statuses)),
        ]


def until(end: float, asked: Asked, pause: float) -> threading.Thread:
    def go_on() -> None:
        while time.monotonic() < end:
            asked.once()
            time.sleep(pause)

    made = threading.Thread(target=go_on)
    made.start()
    return made


def get(base: str, path: str, key: str = "") -> Callable[[], int]:
    session = requests.Session()
    session.trust_env = False
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return lambda: session.get(base + path, headers=headers, timeout=60).status_code


def store(stack: Stack, name: str) -> str:
    asked = (
        "create_store",
        "--name",
        name,
        "--email",
        f"{name}@example.com",
        "--password",
        "pw-0123456789",
        "--json",
    )
    secret: str = stack.manage(*asked)["keys"]["test"]["secret"]
    return secret


def measure(stack: Stack, clients: int, seconds: float) -> list[list[str]]:
    """A store has a budget of documents: there is one for every six clients."""
    busy = [store(stack, f"busy{number}") for number in range(-(-clients // 6))]
    quiet = store(stack, "quiet")
    base = stack.base_url
    for name in ("web", "worker", "beat"):
        stack.start(name)
    wait_for(lambda: can_sell(base, quiet), lambda can: can)
    sales = [(busy[number % len(busy)], str(number)) for number in range(clients)]
    payments: list[tuple[str, dict[str, Any]]] = [
        (key, Remote(base, key).payment(order_id=number)) for key, number in sales
    ]
    rows = []
    for is_storm in (False, True):
        end = time.monotonic() + seconds
        health = Asked(get(base, "/healthz"))
        other = Asked(get(base, "/api/v2/payments", quiet))
        documents = (
            [
                Asked(get(base, f"/api/v2/payments/{payment['id']}/invoice", key))
                for key, payment in payments
            ]
            if is_storm
            else []
        )
        running = [
            until(end, health, 0.05),
            until(end, other, 0.05),
            *(until(end, document, 0.0) for document in documents),
        ]
        for thread in running:
            thread.join()
        when = "meanwhile" if is_storm else "before"
        rows += [health.row(f"/healthz, {when}"), other.row(f"another store's payments, {when}")]
        for document in documents[1:]:
            documents[0].times += document.times
            documents[0].statuses += document.statuses
        if documents:
            rows.append(documents[0].row(f"invoices, {clients} clients"))
        heard = {*health.statuses, *other.statuses, *(documents[0].statuses if documents else ())}
        if not heard <= FINE or set(health.statuses) | set(other.statuses) != {200}:
            raise SystemExit(f"unexpected answers: {heard}")
    return rows


def can_sell(base: str, key: str) -> bool:
    """The web answers, and the rates are there."""
    try:
        Remote(base, key).payment()
    except (requests.RequestException, AssertionError):
        return False
    return True


def main() -> None:
    given = [float(item) for item in sys.argv[1:]]
    stack = Stack()
    try:
        rows = measure(stack, int(given[0]) if given else 30, given[1] if len(given) > 1 else 20.0)
    finally:
        stack.close()
    print_table(["what", "asked", "p50", "p95", "longest", "answers"], rows)


if __name__ == "__main__":
    main()
