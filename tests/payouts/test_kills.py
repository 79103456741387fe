"""SIGKILL at every point of a payout's life: afterwards the coins were reserved once and left once,
and the books say so."""

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from apps.access.access import Access
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import signing_rounds
from apps.core.db import locks
from apps.ledger.selectors import balances
from apps.payouts.models import Payout
from apps.payouts.requests import PayoutBody
from apps.payouts.services.create import create_payout
from apps.payouts.services.progress import advance_payouts
from tests import make, postgres
from tests.cast import Cast
from tests.forks import Forks
from tests.sending.conftest import World
from tests.whole import usually

pytestmark = pytest.mark.chain
# Those of sending are each a test of their own in tests/sending/test_faults.py.
POINTS = usually(
    short=("payout.K1", "payout.K2", "payout.K7"),
    whole=("payout.K1", "payout.K2", "send.K2", "send.K4", "send.K6", "payout.K7"),
)


@pytest.fixture
def worker(committed: Cast) -> Iterator[Forks]:
    environment = {**os.environ, **postgres.environment(), "TILLGATE_ENV": "test"}
    forks = Forks(environment, "tests.payouts.worker")
    yield forks
    forks.end()


def killed(worker: Forks, wanted: dict[str, Any], place: str) -> bool:
    """Tell whether a worker that begins at the beginning dies at a place."""
    script = f"from tests.payouts.worker import work; work({wanted!r})"
    return worker.run(script, TILLGATE_FAILPOINT=place).returncode == -signal.SIGKILL


def wait_for_its_turns() -> None:
    """Payouts that the killed one had taken are free again when its leases have ended."""
    until = time.monotonic() + 3 * locks.LEASE_SECONDS
    with connection.cursor() as cursor:
        while time.monotonic() < until:
            cursor.execute("SELECT count(*) FROM core_lease WHERE until > clock_timestamp()")
            if not cursor.fetchone()[0]:
                return
            time.sleep(locks.LOOK_SECONDS)
    raise AssertionError("a killed worker still has its turn")


def test_a_worker_killed_anywhere_pays_once(
    committed: Cast, world: World, worker: Forks, sound_books: None
) -> None:
    store = committed.bakery.store
    make.store_coins(store, "SETH", 10**18)
    signing_rounds.introduce()
    access = Access(
        store=store, mode="test", kind="secret", scopes=frozenset({"payouts:write"}), caller="test"
    )
    for number, place in enumerate(POINTS, start=1):
        to = world.stranger()
        body = {"asset_id": "SETH", "amount_atomic": str(10**16), "destination_address": to}
        wanted = {"store": str(store.pk), "key": place, "body": body}
        assert killed(worker, wanted, place), place
        if number == 1:
            wait_for_its_turns()
        else:
            make.leases_end()
        create_payout(access, PayoutBody.read(body).request(), place, caller=access.caller)
        for _ in range(3):
            advance_payouts()
            world.work()
            world.mine(8)
        advance_payouts()
        payout = Payout.objects.get(idempotency_key=place)
        assert (payout.status, payout.is_simulated) == ("confirmed", False), place
        assert (world.balance(to), len(world.raw_transfers(to))) == (10**16, 1), place
        assert (
            OutgoingTransaction.objects.filter(
                purpose="payout", reference__startswith=str(payout.pk)
            ).count()
            == 1
        )
        held = balances(store.pk, "test")["SETH"]
        assert (held.available_atomic, held.reserved_atomic) == (10**18 - number * 10**16, 0)
