"""SIGKILL in the middle: worker, beat and watcher die while customers pay, the database and Redis
too, and nothing is lost or doubled."""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import cycle

import pytest

from apps.core.process.published_secrets import CHAIN_KEYS
from dev.demo.chain import DemoWallet
from tests.faults.running import Stack
from tests.stack import Remote, mine, wait_for
from tests.webhooks.receivers import Receiver
from tests.whole import usually

VICTIMS = ("worker", "beat", "watcher")
PAYMENTS = usually(short=len(VICTIMS), whole=12)
# Before which payment what is gone for a moment; `python -m tests.faults.outages` leaves them away
# for longer.
LOSSES = {PAYMENTS // 3: Stack.lose_database, 2 * PAYMENTS // 3: Stack.lose_redis}


@pytest.fixture
def stack() -> Iterator[Stack]:
    running = Stack()
    yield running
    running.close()


@pytest.mark.chain
def test_killed_processes_lose_and_double_nothing(stack: Stack) -> None:
    chance = random.Random(7)
    receiver = Receiver()
    made = stack.manage(
        "create_store",
        "--name",
        "Kills",
        "--email",
        "k@example.com",
        "--password",
        "pw-0123456789",
        "--json",
    )
    for name in ("web", *VICTIMS):  # nothing leaves that a signer would sign
        stack.start(name)
    api = Remote(stack.base_url, made["keys"]["live"]["secret"])
    wait_for(lambda: _answers(api), lambda is_up: is_up)
    stack.manage("shell", "--command", "from apps.assets.rates import refresh; refresh()")
    api(
        "POST",
        "/webhook_endpoints",
        {
            "webhook_endpoint": {
                "url": receiver.url,
                "subscribed_events": ["payment_intent.completed"],
            }
        },
    )
    url = stack.environ["CHAIN_ETHEREUM_URL"]
    wallet = DemoWallet(url, CHAIN_KEYS["live"])

    payments = []
    for number, victim in zip(range(PAYMENTS), cycle(VICTIMS)):
        if number in LOSSES:
            LOSSES[number](stack)
        payment = api.payment()
        entry = next(
            payment_address
            for payment_address in payment["payment_addresses"]
            if payment_address["supported_asset"]["asset_id"] == "ETH"
        )
        wallet.send(entry["address"], int(entry["crypto_amount_atomic"]))
        payments.append(payment)
        stack.kill(victim)
        mine(url, chance.randint(0, 2))
        stack.start(victim)

    def unfinished() -> list[str]:
        mine(url, 1)
        return [
            payment["id"]
            for payment in payments
            if api.detail(payment["id"])["status"] != "completed"
        ]

    wait_for(unfinished, lambda left: not left, seconds=120)
    expected = {payment["reference"] for payment in payments}
    wait_for(lambda: _completed(receiver), lambda seen: set(seen) >= expected, seconds=120)
    assert all(len(ids) == 1 for ids in _completed(receiver).values()), (
        "one event for each payment, however often it was delivered"
    )
    for item in payments:
        events = Counter(event["event_type"] for event in api.detail(item["id"])["payment_events"])
        assert (events["payment_intent.completed"], events["transaction.confirmed"]) == (1, 1)
    stack.manage("verify_ledger", "--chain")
    receiver.close()


def _answers(api: Remote) -> bool:
    try:
        api("GET", "/payments")
    except OSError:
        return False
    return True


def _completed(receiver: Receiver) -> dict[str, set[str]]:
    """Reference -> the ids of its completed events."""
    seen: dict[str, set[str]] = {}
    for event in receiver.events():
        seen.setdefault(event["data"]["object"]["id"], set()).add(event["id"])
    return seen
